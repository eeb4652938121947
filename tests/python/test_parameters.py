"""Public classes and functions take PyTorch's parameters: names, order and defaults, by `inspect.signature` of both."""

import inspect
import io
import json
import os
import pickle
import subprocess
import sys
from fnmatch import fnmatch
from functools import partial
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("parameters_of.py")
ANY = ["VAR_POSITIONAL", "VAR_KEYWORD"]
# Names whose parameters differ, or that are missing, by the reason.
DIFFERENT = {
    "PyTorch refuses these arguments": [
        "torch.BFloat16Storage", "torch.BoolStorage", "torch.ByteStorage", "torch.CharStorage", "torch.ComplexDoubleStorage",
        "torch.ComplexFloatStorage", "torch.DoubleStorage", "torch.FloatStorage", "torch.HalfStorage", "torch.IntStorage",
        "torch.LongStorage", "torch.ShortStorage",
    ],
    "the functions only raise that they were removed": [
        "torch.eig", "torch.lstsq", "torch.matrix_rank", "torch.solve", "torch.symeig",
    ],
    "storages are not resized, nor shared: tensors are": ["torch.TypedStorage.*", "torch.serialization.Storage.*"],
    "there is no unpickler that would take more arguments": ["torch.load"],
    "programs do not make these objects": ["torch.library.CustomOpDef", "torch.library.OpOverload"],
    "None says the same": [
        "torch.library.opcheck", "torch.fx.CodeGen.generate_output", "torch.utils.checkpoint.checkpoint",
        "torch.utils.data.random_split",
    ],
    "a hook's first argument has one name": ["torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook.powerSGD_hook"],
    "the function is register_fake()": ["torch.library.impl_abstract"],
    "more arguments go to the base's constructor": ["torch.nn.LazyBatchNorm?d", "torch.nn.LazyInstanceNorm?d"],
    "there are no symbolic sizes": [
        "torch.fx.Graph.create_*_node", "torch.fx.Graph.materialize_*", "torch.fx.CodeGen.gen_fn_def",
        "torch.fx.Graph.python_code",
    ],
    "there is no list of backends, and one stream of a CPU": [
        "torch.distributed.Backend.register_backend", "torch.distributed.DeviceMesh.abort", "torch.cpu.Stream.*",
    ],
    "CUDA's events are not passed to processes, and graphs not recorded": ["torch.cuda.Event*", "torch.cuda.Stream"],
    "the profiler is Tenon's own": ["torch.autograd.profiler.profile.*", "torch.profiler.profile.*"],
    "the benchmark's results are simpler": ["torch.utils.benchmark.Measurement*", "torch.utils.benchmark.Timer*"],
    "a layer on one device": ["torch.nn.DataParallel.*"],
    "steps of PyTorch's own implementation": [
        "torch.nn.RNNBase.*", "torch.nn.LSTM.*", "torch.nn.MultiheadAttention.merge_masks",
        "torch.nn.parallel.DistributedDataParallel.*", "torch.optim.lr_scheduler.SequentialLR.recursive_undo",
        "torch.utils.data.DataLoader.check_worker_number_rationality",
        "torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook.PowerSGDState.maybe_increase_iter",
    ],
    "missing": [
        "torch.autograd.function.FunctionCtx.mark_shared_storage", "torch.autograd.function.FunctionCtx.set_output_grad_dtype",
        "torch.library.CustomOpDef.*", "torch.library.Library.register_symm_mem_args", "torch.library.Library.fallback",
        "torch.library.OpOverload.*", "torch.optim.Adagrad.share_memory",
        "torch.utils.flop_counter.FlopCounterMode.get_unsupported_ops",
    ],
}  # fmt: skip


def printed(*arguments, text=None):
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return json.loads(subprocess.check_output([sys.executable, *arguments], input=text, text=True, env=environment))


def differences(theirs, ours):
    """How a call that the first parameters take is not taken by the second, in words."""
    if ours is None or [p[1] for p in theirs if p[0] != "self"] == ANY:
        return []  # a builtin, or a function that hands its arguments on
    if ours == "missing":
        return [ours]
    kinds = {kind for _, kind, _ in ours}
    of_theirs, of_ours = ([p for p in parameters if p[1].startswith("POSITIONAL")] for parameters in (theirs, ours))
    found = []
    for index, (name, kind, default) in enumerate(of_theirs):
        if name.startswith("_"):
            continue
        if index == 0 and name in ("self", "cls", "ctx"):
            continue
        if index >= len(of_ours):
            if "VAR_POSITIONAL" not in kinds:
                found.append(f"no {name}")
            continue
        own, own_kind, own_default = of_ours[index]
        if kind != "POSITIONAL_ONLY" and own != name:
            found.append(f"{name} is {own}")
        if kind != "POSITIONAL_ONLY" and own_kind == "POSITIONAL_ONLY":
            found.append(f"{name} has no name")
        if default is not None and default != own_default:
            found.append(f"{name}={default} is {own_default}")
    found += [f"{name} is required" for name, _, default in of_ours[len(of_theirs) :] if default is None]
    by_name = {p[0]: p for p in ours if p[1] == "KEYWORD_ONLY"} | {p[0]: p for p in of_ours[len(of_theirs) :]}
    for name, kind, default in theirs:
        if kind == "KEYWORD_ONLY" and not name.startswith("_"):
            if name not in by_name:
                found.append(f"no {name}")
            elif by_name[name][2] != default:
                found.append(f"{name}={default} is {by_name[name][2]}")
        if kind in ANY and kind not in kinds:
            found.append(f"no *{name}")
    names = {p[0] for p in theirs}
    found += [f"{n} is required" for n, k, d in ours if k == "KEYWORD_ONLY" and d is None and n not in names]
    return found


def test_parameters_are_pytorchs():
    pytest.importorskip("torch")
    theirs = printed(str(PROGRAM), "found")
    asked = {module: list(names) for module, names in theirs.items()}
    ours = printed("-m", "tenon.as_torch", str(PROGRAM), text=json.dumps(asked))
    found = {}
    for module, names in theirs.items():
        for name, parameters in names.items():
            if ours[module][name] == "placeholder":
                continue
            if words := differences(parameters, ours[module][name]):
                found[f"{module}.{name}"] = ", ".join(words)
    patterns = [pattern for several in DIFFERENT.values() for pattern in several]
    assert {name: words for name, words in found.items() if not any(map(partial(fnmatch, name), patterns))} == {}
    assert [pattern for pattern in patterns if not any(fnmatch(name, pattern) for name in found)] == []
    assert sum(map(len, theirs.values())) > 2000


def test_names_of_forwards_arguments(lib):
    nn = lib.nn
    x, classes = lib.ones(2, 4), lib.tensor([0, 3])
    assert list(inspect.signature(nn.RMSNorm.forward).parameters) == ["self", "x"]
    assert lib.equal(nn.RMSNorm(4)(x=x), nn.RMSNorm(4)(x))
    loss = nn.PoissonNLLLoss()
    assert loss(log_input=x, target=x) == loss(x, x) and loss.log_input is True
    adaptive = nn.AdaptiveLogSoftmaxWithLoss(4, 5, [2])
    assert adaptive(input_=x, target_=classes).loss == adaptive(x, classes).loss
    assert len(nn.Sequential(nn.ReLU()).extend(sequential=[nn.ReLU()])) == 2


def test_old_names_of_hardtanh(lib):
    with pytest.warns(FutureWarning, match="`min_value` is deprecated"):
        layer = lib.nn.Hardtanh(min_value=-2.0)
    assert repr(layer) == "Hardtanh(min_val=-2.0, max_val=1.0)" and layer(lib.tensor(-3.0)) == -2
    with pytest.warns(FutureWarning, match="`max_value` is deprecated"), pytest.raises((ValueError, AssertionError)):
        lib.nn.Hardtanh(max_value=-2.0)


def test_bases_of_layers(lib):
    nn = lib.nn
    relu6, zeros = nn.ReLU6(), nn.ZeroPad2d(1)
    assert isinstance(relu6, nn.Hardtanh) and (relu6.min_val, relu6.max_val) == (0.0, 6.0)
    assert relu6(lib.tensor([-1.0, 7.0])).tolist() == [0, 6] and repr(relu6) == "ReLU6()"
    assert isinstance(zeros, nn.ConstantPad2d) and zeros.value == 0.0 and repr(zeros) == "ZeroPad2d((1, 1, 1, 1))"
    for kind in ("Constant", "Reflection", "Replication", "Circular"):
        base = getattr(nn.modules.padding, f"_{kind}PadNd")
        assert all(issubclass(getattr(nn, f"{kind}Pad{dims}d"), base) for dims in (1, 2, 3))
    assert issubclass(nn.LPPool2d, nn.modules.pooling._LPPoolNd)


def test_old_arguments_of_functions(lib):
    x = lib.ones(2, requires_grad=True)
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated"):
        lib.autograd.backward(x * 2, grad_variables=lib.ones(2))
    assert x.grad.tolist() == [2, 2]
    layer = lib.nn.Linear(1, 1)
    with pytest.warns(FutureWarning, match="Positional args are being deprecated"):
        assert list(layer.state_dict({}, "of.")) == ["of.weight", "of.bias"]


def test_files_of_any_protocol(lib):
    for protocol in (2, 4, pickle.HIGHEST_PROTOCOL):
        file = io.BytesIO()
        lib.save(lib.ones(2), file, pickle_module=pickle, pickle_protocol=protocol)
        file.seek(0)
        assert lib.load(file, pickle_module=pickle, weights_only=False).tolist() == [1, 1]


def test_kernels_that_are_given_twice(lib):
    library = lib.library.Library("of_parameters", "FRAGMENT")  # noqa: TOR901
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x + x, "CPU")
    with pytest.raises(RuntimeError, match="already a kernel registered from python"):
        library.impl("twice", lambda x: x * 2, "CPU", allow_override=False)
    library._destroy()


def test_storages_that_are_shared(lib):
    x = lib.ones(2)
    assert not x.untyped_storage().is_shared() and not lib.TypedStorage(1).is_shared()
    assert x.share_memory_().untyped_storage().is_shared()
