"""Tenon in the place of PyTorch: each program runs in a process of its own, for as_torch changes the one that it is in."""

import os
import subprocess
import sys
import textwrap

import pytest
import tenon

VERSION = "2.15.0+tenon0.2"


def run(tmp_path, code, *options, file="program.py", check=True, **environment):
    """What a program under `python -m tenon.as_torch` prints; with check=False the finished process."""
    program = tmp_path / file
    program.write_text(textwrap.dedent(code))
    done = subprocess.run(
        [sys.executable, "-m", "tenon.as_torch", *options, str(program)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
        cwd=tmp_path,
    )
    if not check:
        return done
    assert done.returncode == 0, done.stderr
    return done.stdout


# ---- the modules ----


def test_modules_and_objects_are_tenons(tmp_path):
    assert run(tmp_path, """
        import torch
        import torch.nn.functional as F
        import tenon
        from torch.nn import Linear
        from torch.nn.modules.linear import Linear as L
        from torch.optim.lr_scheduler import _LRScheduler, LRScheduler
        from torch.utils.data import DataLoader
        assert torch.nn is tenon.nn and F is tenon.nn.functional and torch.optim is tenon.optim
        assert Linear is L is tenon.nn.Linear and DataLoader is tenon.utils.data.DataLoader
        assert torch.float32 is tenon.float32 and torch.Tensor is tenon.Tensor and torch.add is tenon.add
        assert issubclass(_LRScheduler, LRScheduler)
        torch.something = 3
        assert tenon.something == 3 and torch.torch is torch
        print(torch.__version__, tenon.__version__)
    """).split() == [VERSION, tenon.__version__]  # fmt: skip


def test_a_first_line_is_enough(tmp_path):
    (tmp_path / "program.py").write_text(
        "import tenon.as_torch\nimport torch\nprint(torch.__version__, torch.ones(2))\n"
    )
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=True)
    assert done.stdout == f"{VERSION} tensor([1., 1.])\n"


def test_modules_are_loaded_when_they_are_asked_for(tmp_path):
    assert run(tmp_path, """
        import sys
        import torch
        print([name for name in ("tenon.nn", "tenon.optim", "tenon.distributed") if name in sys.modules])
        print(torch.nn.Linear(1, 1), "tenon.nn" in sys.modules)
    """) == "[]\nLinear(in_features=1, out_features=1, bias=True) True\n"  # fmt: skip


def test_as_torch_comes_before_pytorch(tmp_path):
    (tmp_path / "torch.py").write_text("")
    (tmp_path / "program.py").write_text("import torch\nimport tenon.as_torch\n")
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "PyTorch is imported already" in done.stderr


# As in Python's packaging guide, in rising order.
ORDERED = "1!0.1 2.0.dev1 2.0a1 2.0b1.dev2 2.0b1 2.0rc1 2.0 2.0+cpu 2.0+cpu.1 2.0+1 2.0.post1 2.0.1 2.1 2.10 3".split()


def test_versions_are_ordered_without_the_package_that_orders_them(tmp_path):
    order = [*ORDERED[1:], ORDERED[0]]
    assert run(tmp_path, f"""
        import sys
        sys.modules["packaging"] = None
        from torch.torch_version import TorchVersion as V
        order = {order}
        print(all((V(a) < b, V(a) == b, V(a) > b) == (i < j, i == j, i > j) for i, a in enumerate(order) for j, b in enumerate(order)))
        print(V("2.1") == "2.1.0", V("2.1+cpu") == (2, 1), V("2.1") >= (2, 1, 0), V("2.1") != "x", V("2.1") < "x", V("2.0c1") == "2.0rc1")
    """).split() == ["True", "True", "False", "True", "True", "True", "True"]  # fmt: skip


def test_the_version_is_pytorchs(tmp_path):
    assert run(tmp_path, """
        import importlib.metadata, importlib.util
        import torch
        print(importlib.metadata.version("torch"), importlib.util.find_spec("torch") is not None)
        print(torch.__version__ >= (2, 0), torch.__version__ < (3,), torch.__version__ == "2.15.0+tenon0.2")
        print(torch.__version__.split(".")[0], isinstance(torch.__version__, str))
    """).splitlines() == [f"{VERSION} True", "True True True", "2 True"]  # fmt: skip


def test_texts_name_pytorch(tmp_path):
    assert run(tmp_path, """
        import torch
        print(torch.float32, torch.zeros(2, dtype=torch.int8), torch.ones(2).shape, torch.ones(1).type(), torch.strided)
        print(torch.Tensor, torch.nn.Linear, torch.nn.BatchNorm2d, torch.optim.SGD.__name__, torch.nn.Linear.__module__)
        print(torch.nn.Parameter(torch.zeros(1, dtype=torch.float64)))
    """).splitlines() == [
        "torch.float32 tensor([0, 0], dtype=torch.int8) torch.Size([2]) torch.FloatTensor torch.strided",
        "<class 'torch.Tensor'> <class 'torch.nn.modules.linear.Linear'> <class 'torch.nn.modules.batchnorm.BatchNorm2d'> SGD "
        "torch.nn.modules.linear",
        "Parameter containing:",
        "tensor([0.], dtype=torch.float64, requires_grad=True)",
    ]  # fmt: skip


def test_the_bases_of_layers_are_there(tmp_path):
    assert run(tmp_path, """
        from torch import nn
        from torch.nn.modules.batchnorm import _BatchNorm
        from torch.nn.modules.conv import _ConvNd
        from torch.nn.modules.loss import _Loss
        print(*(isinstance(layer, _BatchNorm) for layer in (nn.BatchNorm1d(2), nn.BatchNorm3d(2), nn.LayerNorm(2), nn.Linear(2, 2))))
        print(isinstance(nn.Conv2d(1, 1, 1), _ConvNd), isinstance(nn.Linear(1, 1), _ConvNd), issubclass(nn.MSELoss, _Loss))
    """) == "True True False False\nTrue False True\n"  # fmt: skip


# ---- what is missing ----

MENTIONS = """
    import dataclasses
    from typing import Optional
    import torch
    import torch.fx, torch._inductor.config
    from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
    from torch.fx import GraphModule, Proxy

    class Mine(GraphModule):
        pass

    @dataclasses.dataclass
    class Options:
        strategy: ShardingStrategy = ShardingStrategy.FULL_SHARD
        model: Optional[FSDP] = None

    def f(x: "FSDP | None", y: Proxy | None = None) -> list[Proxy]:
        return isinstance(x, (FSDP, Proxy, torch.nn.Linear))

    assert not f(3) and f(torch.nn.Linear(1, 1)) and issubclass(Mine, torch.nn.Module)
    assert torch.sparse_coo is torch.sparse_coo and torch.ones(1).layout != torch.sparse_coo
    table = {torch.sspaddmm: 1, torch.fx.wrap: 2}
    try:
        raise ValueError
    except (torch.cuda.CudaError, ValueError):
        pass
    Options()
"""


def test_missing_names_can_be_mentioned(tmp_path):
    run(tmp_path, MENTIONS)


@pytest.mark.parametrize(
    ("use", "name"),
    [
        ("torch.export.export(None)", "torch.export.export"),
        ("torch.sspaddmm(None, None)", "torch.sspaddmm"),
        ("class A(torch.jit.ScriptModule): pass\nA()", "torch.jit.ScriptModule"),
        ("list(torch.export.ExportedProgram)", "torch.export.ExportedProgram"),
        ("torch.distributed.fsdp.MixedPrecision.x = 1", "torch.distributed.fsdp.MixedPrecision"),
        ("with torch.export.ExportedProgram: pass", "torch.export.ExportedProgram"),
        ("torch.ones(2).to_mkldnn()", "torch.Tensor.to_mkldnn"),
        ("torch.quantize_per_tensor(None)", "torch.quantize_per_tensor"),
    ],
)
def test_their_use_raises_and_says_where(tmp_path, use, name):
    done = run(tmp_path, f"import torch\nimport torch.distributed.fsdp\n{use}\n", check=False)
    line = 3 + use.count("\n")
    last = done.stderr.strip().splitlines()[-1]
    assert done.returncode == 1 and last.startswith("tenon.as_torch._missing.NotInTenon: "), done.stderr
    assert name in last and f"program.py:{line}." in last and "docs/as_torch.md" in last


def test_what_pytorch_does_not_have_is_an_attribute_error(tmp_path):
    assert run(tmp_path, """
        import torch
        print(hasattr(torch, "npu"), hasattr(torch.nn, "Swish"), hasattr(torch, "vmap"), hasattr(torch.Tensor, "no_such"))
        try:
            import torch.no_such
        except ModuleNotFoundError as error:
            print(error)
    """) == "False False True False\nNo module named 'torch.no_such'\n"  # fmt: skip


def test_functorch_is_pytorchs_too(tmp_path):
    assert run(tmp_path, """
        import torch
        from functorch import make_functional, vmap
        from functorch.compile import aot_function
        from torch._vmap_internals import _vmap
        assert vmap is torch.vmap is torch.func.vmap and torch.func.grad.__module__ == "torch.func"
        function, parameters = make_functional(torch.nn.Linear(3, 2))
        x = torch.ones(4, 3)
        print((vmap(function, in_dims=(None, 0))(parameters, x) == function(parameters, x)).all(), _vmap(torch.sum)(x))
        try:
            aot_function(abs)
        except NotImplementedError as error:
            print(str(error).split(" is ")[0])
    """) == "tensor(True) tensor([3., 3., 3., 3.])\nfunctorch.compile.aot_function\n"  # fmt: skip


def test_the_report_lists_both_kinds(tmp_path):
    done = run(tmp_path, """
        import torch
        from torch.export import Dim
        torch.export.Dim
        try:
            torch.sspaddmm(None, None)
        except NotImplementedError:
            pass
    """, "--report", check=False)  # fmt: skip
    used, mentioned = done.stderr.split("mentioned only: ")
    assert done.returncode == 0 and used.startswith("names of PyTorch that are not in Tenon, used, which raised: 1\n")
    assert "  torch.sspaddmm  " in used and "program.py:6" in used
    assert mentioned.startswith("1\n  torch.export.Dim  ") and "program.py:3" in mentioned


# ---- answers ----


def test_questions_are_answered(tmp_path):
    assert run(tmp_path, """
        import torch, torch.distributed
        print(torch.cuda.is_available(), torch.backends.mps.is_available(), torch.backends.cudnn.is_available(), torch.xpu.is_available())
        print(torch.jit.is_scripting(), torch.jit.is_tracing(), torch.compiler.is_compiling(), torch._dynamo.is_compiling())
        print(torch.distributed.is_nccl_available(), torch.accelerator.current_accelerator(), torch.ones(1).is_mps, torch.ones(1).is_sparse)
        print(torch._C._get_tracing_state(), torch.get_default_device(), torch.mps.is_available())
    """).splitlines() == ["False False False False", "False False False False", "False None False False", "None cpu False"]  # fmt: skip


def test_decorators_give_the_function_back(tmp_path):
    done = run(tmp_path, """
        import torch

        def f(x):
            return x + 1

        for decorator in (torch.jit.script, torch.jit.ignore, torch.jit.export, torch.jit.unused, torch.compile, torch.compile,
                          torch.compiler.disable, torch._dynamo.disable, torch.compile(dynamic=True), torch.compiler.disable(recursive=False)):
            assert decorator(f) is f
        assert torch.jit.trace(f, torch.ones(1)) is f
    """, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("nothing is compiled") == 1


# ---- processes and pickles ----


def test_other_processes_inherit_it(tmp_path):
    assert run(tmp_path, """
        import multiprocessing, subprocess, sys
        import torch
        from torch.utils.data import DataLoader, Dataset

        class Numbers(Dataset):
            def __len__(self):
                return 4

            def __getitem__(self, index):
                import torch
                return torch.tensor(float(index)), torch.__version__

        def version(_):
            import torch
            return torch.__version__, torch.ones(2).sum().item()

        if __name__ == "__main__":
            for method in ("fork", "spawn"):
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, *pool.map(version, [0])[0])
                for batch, versions in DataLoader(Numbers(), 4, num_workers=1, multiprocessing_context=method):
                    print(batch.tolist(), set(versions))
            code = "import importlib.metadata as m; print(m.version('torch')); import torch.nn; print(torch.__version__, torch.nn.Linear)"
            print(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
    """).split("\n") == [
        f"fork {VERSION} 2.0", f"[0.0, 1.0, 2.0, 3.0] {{'{VERSION}'}}",
        f"spawn {VERSION} 2.0", f"[0.0, 1.0, 2.0, 3.0] {{'{VERSION}'}}",
        VERSION, f"{VERSION} <class 'torch.nn.modules.linear.Linear'>", "", "",
    ]  # fmt: skip


def test_pickles_and_files_have_pytorchs_names(tmp_path):
    assert run(tmp_path, """
        import io, pickle, pickletools
        import torch

        base = torch.arange(6.0).view(2, 3)
        objects = [base, base[1], torch.nn.Parameter(base), torch.nn.Linear(2, 3), torch.float16, base.shape, torch.device("cpu"), base.storage(),
                   torch.distributions.Normal(0.0, 1.0), torch.relu, torch.optim.SGD([base], lr=0.1)]
        data = pickle.dumps(objects)
        texts = [argument for _, argument, _ in pickletools.genops(data) if isinstance(argument, str)]
        print([text for text in texts if "tenon" in text], "torch._utils" in texts, "torch.nn.modules.linear" in texts)
        again = pickle.loads(data)
        again[0][1, 0] = 9
        print(again[1].tolist(), again[3].weight.shape, again[4], again[6])
        file = io.BytesIO()
        torch.save({"model": torch.nn.Linear(2, 3), "x": base}, file)
        print(b"tenon" in file.getvalue(), torch.load(io.BytesIO(file.getvalue()), weights_only=False)["model"])
    """).splitlines() == [
        "[] True True", "[9.0, 4.0, 5.0] torch.Size([3, 2]) torch.float16 cpu", "False Linear(in_features=2, out_features=3, bias=True)",
    ]  # fmt: skip


def test_modules_run_as_programs(tmp_path):
    (tmp_path / "mine.py").write_text("import sys, torch\nprint(__name__, sys.argv[1:], torch.__version__)\n")
    done = subprocess.run(
        [sys.executable, "-m", "tenon.as_torch", "-m", "mine", "a", "-b"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    )
    assert done.stdout == f"__main__ ['a', '-b'] {VERSION}\n"


@pytest.mark.skipif(not tenon.distributed.is_available(), reason="a build without tenon_distributed")
def test_the_launcher_starts_programs(tmp_path):
    (tmp_path / "mine.py").write_text("import torch\nimport torch.distributed as dist\ndist.init_process_group('gloo')\n"
                                      "x = torch.ones(1)\ndist.all_reduce(x)\nprint(torch.__version__, x.item())\n")  # fmt: skip
    command = ["-m", "tenon.as_torch", "-m", "torch.distributed.run", "--nproc-per-node", "2", "mine.py"]
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.count(f"{VERSION} 2.0\n") == 2


LINE_SEARCH = """\
18.6914 -11.5946 0.07526 4
35.5057 -2.0045 0.1 1
50.6518 -17.4253 0.00551 2
46.772 3.8976 0.10636 5
0.66667
1.5
"""


def test_the_line_search_of_lbfgs_by_itself(tmp_path):
    # The steps, losses and evaluations that PyTorch 2.15 gives.
    assert run(tmp_path, """
        import torch
        from torch.optim.lbfgs import _cubic_interpolate, _strong_wolfe
        def function(x, t, d):
            y = (x + t * d).detach().requires_grad_(True)
            loss = (y**4).sum() + (y - 2).pow(2).sum() + torch.sin(3 * y).sum()
            loss.backward()
            return loss.item(), y.grad
        x = torch.linspace(-2, 2, 5, dtype=torch.float64)
        loss, grad = function(x, 0, 0 * x)
        for t in (1.0, 0.1, 1e-3, 5.0):
            found = _strong_wolfe(function, x, t, -grad, loss, grad, -grad.dot(grad))
            print(round(found[0], 4), round(found[1].sum().item(), 4), round(float(found[2]), 5), found[3])
        slopes = torch.tensor(-1.0), torch.tensor(1.0)
        for bounds in (None, (1.5, 2.0)):
            print(round(float(_cubic_interpolate(0.0, 1.0, slopes[0], 2.0, 1.5, slopes[1], bounds)), 5))
    """) == LINE_SEARCH  # fmt: skip


def test_modules_that_tenon_loads_by_itself_stand_under_pytorchs_names(tmp_path):
    assert run(tmp_path, """
        import torch
        import torch.fx, tenon.distributions
        print(torch.utils._pytree._list_flatten.__name__, __import__("torch.distributions").distributions.Normal.__module__)
        import torch.fx.node as node
        print(node is torch.fx.node, node.Node.__module__)
    """).split() == ["_list_flatten", "torch.distributions.normal", "True", "torch.fx.node"]  # fmt: skip
