"""What libraries call that few programs do: the same program with PyTorch and with Tenon in its place prints the same."""

import os
import subprocess
import sys
import textwrap

import pytest


def printed(tmp_path, code):
    """{"PyTorch", "Tenon": what the program prints}"""
    pytest.importorskip("torch")
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(code))
    texts = {}
    for name, start in (("PyTorch", ()), ("Tenon", ("-m", "tenon.as_torch"))):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", *start, str(program)],
            capture_output=True,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            check=False,
            cwd=tmp_path,
        )
        assert done.returncode == 0, f"{name}: {done.stderr}"
        texts[name] = done.stdout
    return texts


def assert_same(tmp_path, code):
    texts = printed(tmp_path, code)
    assert texts["PyTorch"] and texts["Tenon"] == texts["PyTorch"]


def test_names_that_dir_and_stars_give(tmp_path):
    assert_same(tmp_path, """
        import torch
        for module in (torch, torch.nn, torch.optim, torch.linalg, torch.distributions, torch.utils.data):
            missing = [name for name in dir(module) if not name.startswith("_") and not hasattr(module, name)]
            print(missing)
        print([name in dir(torch) for name in ("special", "nn", "fft", "add", "float32")], "LazyLinear" in dir(torch.nn))
        names = {}
        exec("from torch import *", names)
        print([name in names for name in ("add", "Tensor", "float32", "split", "nn", "_C")])
        print("add" in dir(torch._C._VariableFunctions), torch._C._VariableFunctions.add is torch.add)
    """)  # fmt: skip


def test_functions_that_are_named_as_their_files(tmp_path):
    assert_same(tmp_path, """
        import torch
        import torch.multiprocessing as mp
        import torch.multiprocessing.spawn
        import torch.nn.utils.weight_norm, torch.nn.utils.spectral_norm
        import torch.distributed.rendezvous, torch.autograd.gradcheck, torch.nn.parallel.data_parallel
        from torch.multiprocessing.spawn import ProcessRaisedException
        print(callable(mp.spawn), callable(torch.nn.utils.weight_norm), callable(torch.nn.utils.spectral_norm))
        print(callable(torch.distributed.rendezvous), callable(torch.autograd.gradcheck), callable(torch.nn.parallel.data_parallel))
        print(torch.sparse.FloatTensor, torch.ones(2, 2).to_sparse().type(), torch.FloatStorage, torch.cuda.FloatTensor)
        x = torch.ones(2, requires_grad=True)
        print(isinstance((x + x).grad_fn.next_functions[0][0], torch._C._functions.AccumulateGrad))
        print(isinstance((x + x).grad_fn, torch._C._functions.AccumulateGrad))
        torch._assert_tensor_metadata(x, (2,), (1,), torch.float32, device="cpu")
        for wanted in ({"size": (3,)}, {"stride": (2,)}, {"dtype": torch.int64}, {"device": "meta"}, {"layout": torch.sparse_coo}):
            try:
                torch._assert_tensor_metadata(x, **wanted)
            except RuntimeError as error:
                print(str(error).partition("!")[0])
        print(torch._C._infer_size(torch.Size([2, 1]), torch.Size([3])))
        with torch.autograd.profiler.profile(enabled=False) as nothing:
            x + x
        print(nothing)
        with torch.autograd.profiler.profile(use_kineto=False) as profile:
            x.sin()
        print("aten::sin" in {event.name for event in profile.function_events})
    """)  # fmt: skip


def test_bases_of_exceptions_and_warnings(tmp_path):
    assert_same(tmp_path, """
        import warnings
        import torch
        import torch._dynamo.exc
        from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
        warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
        for cls in (torch.jit.TracerWarning, torch.cuda.CudaError, torch.torch_version.InvalidVersion,
                    torch._dynamo.exc.Unsupported, GuardOnDataDependentSymNode, torch.utils.checkpoint.CheckpointError):
            print(cls.__name__, [base.__name__ for base in (Warning, RuntimeError, ValueError) if issubclass(cls, base)])
        try:
            1 / 0
        except (torch.torch_version.InvalidVersion, torch._dynamo.exc.Unsupported, ZeroDivisionError):
            print("caught")
        print(torch.ops.profiler._record_function_enter is not None)
    """)  # fmt: skip


def test_names_of_parameters(tmp_path):
    assert_same(tmp_path, """
        import collections
        import numpy as np
        import torch
        x = torch.arange(6.0).reshape(2, 3)
        print(torch.split(tensor=x, split_size_or_sections=2, dim=1), torch.split(x, split_size_or_sections=[1, 1]))
        print(torch.from_dlpack(ext_tensor=np.ones(2), device="cpu", copy=True), torch.overrides.is_tensor_like(inp=x))
        twice = torch.nn.Linear(1, 1)
        model = torch.nn.Sequential(twice, twice)
        print(len(list(model.modules())), len(list(model.modules(remove_duplicate=False))))
        norm = torch.nn.InstanceNorm1d(3, affine=True, bias=False)
        print(norm.bias, norm, norm(torch.ones(2, 3, 4)).sum().item())
        hooks, others = collections.OrderedDict(), collections.OrderedDict()
        handle = torch.utils.hooks.RemovableHandle(hooks, extra_dict=others)
        hooks[handle.id] = others[handle.id] = 1
        handle.remove()
        print(len(hooks), len(others))
        with torch.random.fork_rng(devices=[], device_type="cpu"):
            torch.rand(1)
        query = torch.ones(1, 1, 2, 4)
        params = torch.backends.cuda.SDPAParams(query, query, query, None, 0.0, False, False)
        print(torch.backends.cuda.can_use_flash_attention(params), torch.backends.cuda.can_use_efficient_attention(params, True))
    """)  # fmt: skip


def test_stubs_with_parameters(tmp_path):
    assert_same(tmp_path, """
        import inspect
        import torch
        stubs = torch.overrides.get_testing_overrides()
        for function in (torch.matmul, torch.nn.functional.conv2d, torch.nn.functional.relu, torch.sin, torch.erf):
            print(inspect.signature(stubs[function]), stubs[function](1, 2, 3) if function is torch.nn.functional.conv2d else "")
    """)  # fmt: skip


def test_places_in_the_graph(tmp_path):
    assert_same(tmp_path, """
        import torch
        from torch.autograd.graph import GradientEdge, get_gradient_edge
        a = torch.ones(2, requires_grad=True)
        b = a * 3
        c = b.exp().sum()
        edge = get_gradient_edge(b)
        own = GradientEdge(b.grad_fn, 0)
        print(edge._fields, edge == own, edge.node is b.grad_fn, hash(edge) == hash(own), edge.output_nr)
        print(torch.autograd.grad(c, own, retain_graph=True), torch.autograd.grad(c, [GradientEdge(node=a.grad_fn or edge.node, output_nr=0)]))
    """)  # fmt: skip


def test_results_that_a_function_saves_have_their_history(tmp_path):
    assert_same(tmp_path, """
        import torch

        class Root(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x.sqrt()
                ctx.save_for_backward(y)
                return y

            @staticmethod
            def backward(ctx, grad):
                (y,) = ctx.saved_tensors
                print(y.requires_grad, type(y.grad_fn).__name__, torch.is_grad_enabled())
                with torch.enable_grad():
                    (slope,) = torch.autograd.grad((y * y).sum(), y)
                return grad / slope

        x = torch.tensor([4.0, 9.0], requires_grad=True)
        Root.apply(x).sum().backward()
        print(x.grad)
    """)  # fmt: skip


def test_a_named_tuple_of_tensors_takes_calls(tmp_path):
    assert_same(tmp_path, """
        from typing import NamedTuple
        import torch

        class Base(NamedTuple):
            value: torch.Tensor
            scale: torch.Tensor

        class Scaled(Base):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                plain = [a.value * a.scale if isinstance(a, Scaled) else a for a in args]
                return func.__name__, [t.__name__ for t in types], func(*plain, **(kwargs or {}))

        one = Scaled(torch.ones(1, 1, 2, 2), torch.tensor(2.0))
        print(torch.nn.functional.conv2d(one, one), torch.relu(one), torch.add(torch.ones(1), one))
        print(torch.cat([one.value, one.value]).shape)
    """)  # fmt: skip


def test_dicts_whose_keys_may_go(tmp_path):
    assert_same(tmp_path, """
        import gc
        import torch
        from torch.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakTensorKeyDictionary
        a, b = torch.ones(2), torch.ones(2)
        for kind in (WeakIdKeyDictionary, WeakTensorKeyDictionary):
            found = kind()
            found[a], found[b] = 1, 2
            found[a] = 3
            other = found.copy()
            print(len(found), found[a], found.get(torch.ones(2)), b in found, found == other, list(found.values()))
            c = torch.zeros(1)
            found[c] = 4
            reference = TensorWeakRef(c)
            print(len(found), reference() is c)
            del c
            gc.collect()
            print(len(found), reference())
            del found[b]
            print(len(found), len(other), [key is a for key in found], len(found | other))
    """)  # fmt: skip
