"""Operators from load_operators() as PyTorch's: torch.ops.mine.swiglu, with derivative and meta function, without copies."""

import functools
import itertools
import os
import re
import shutil

import torch

import tenon
from tenon import _C


def _to_tenon(value):
    if isinstance(value, torch.Tensor):
        return tenon.from_dlpack(value.detach())
    if isinstance(value, (list, tuple)):
        return [_to_tenon(v) for v in value]
    if isinstance(value, torch.dtype):
        return getattr(tenon, str(value).removeprefix("torch."))
    return value


def _to_torch(value):
    if isinstance(value, tenon.Tensor):
        return torch.from_dlpack(value.detach())
    if isinstance(value, (list, tuple)):
        return type(value)(_to_torch(v) for v in value)
    return value


def _meta(value):
    """A tensor of Tenon's without data, in the shape of PyTorch's; symbolic sizes become numbers."""
    if isinstance(value, torch.Tensor):
        dtype = getattr(tenon, str(value.dtype).removeprefix("torch."))
        return tenon.empty_strided(
            tuple(map(int, value.shape)), tuple(map(int, value.stride())), dtype=dtype, device="meta"
        )
    return [_meta(v) for v in value] if isinstance(value, (list, tuple)) else value


def _from_meta(value, like):
    if isinstance(value, tenon.Tensor):
        dtype = getattr(torch, repr(value.dtype).split(".")[1])
        return torch.empty_strided(tuple(value.shape), value.stride(), dtype=dtype, device=like)
    return tuple(_from_meta(v, like) for v in value) if isinstance(value, (list, tuple)) else value


def _device_of(values):
    return next((v.device for v in values if isinstance(v, torch.Tensor)), torch.device("cpu"))


class _Place(int):
    """Stands for a saved tensor among an operator's inputs."""


def _tensors(values):
    """Those among the values, lists of tensors one by one."""
    for value in values:
        if isinstance(value, (torch.Tensor, tenon.Tensor)):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


def _with_places(values, numbers):
    """The values with numbers for tensors, in the order of _tensors()."""
    replaced = []
    for value in values:
        if isinstance(value, torch.Tensor):
            value = _Place(next(numbers))
        elif isinstance(value, (list, tuple)):
            value = _with_places(value, numbers)
        replaced.append(value)
    return replaced


def _with_tensors(values, tensors):
    replaced = []
    for value in values:
        if isinstance(value, _Place):
            value = tensors[value]
        elif isinstance(value, list):
            value = _with_tensors(value, tensors)
        replaced.append(value)
    return replaced


def _results_of(function):
    """The operator as what _gradients_of() takes."""

    def results(args, names, create_graph):
        return list(_tensors([function(*args, **names)]))

    return results


def _gradients_of(results):
    """The gradients of results(args, names): a function of the results' gradients, of the numbers of the tensors among args
    whose gradients are wanted, and of args, which may be differentiated in its turn. All of it is Tenon's."""

    def gradients(args, names, create_graph):
        grads, wanted, *args = args
        tensors = list(_tensors(args))
        leaves = [tensors[i] for i in wanted]
        for leaf in leaves:
            if not leaf.requires_grad:
                leaf.requires_grad_()
        pairs = [(r, g) for r, g in zip(results(args, names, True), grads) if r.requires_grad]
        found = [None] * len(leaves)
        if pairs:
            outputs, grads = zip(*pairs)
            found = tenon.autograd.grad(outputs, leaves, grads, allow_unused=True, create_graph=create_graph)
        return [tenon.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, found)]

    return gradients


def _define_gradients(library, name, parameters, results, order):
    """Defines and gives the operator of the gradients of order `order`, which PyTorch traces as one node."""
    own = f"{name}_backward_{'' if order == 1 else f'{order}_'}"
    parameters = f"Tensor[] grads_{order}, int[] wanted_{order}, {parameters}"
    gradients = _gradients_of(results)
    library.define(f"{own}({parameters}) -> Tensor[]")

    def compute(*args, **names):
        with tenon.enable_grad():
            found = gradients(_to_tenon(args), {k: _to_tenon(v) for k, v in names.items()}, create_graph=False)
        return [_to_torch(g) for g in found]

    def shapes(grads, wanted, *args, **names):
        tensors = list(_tensors(args))
        return [torch.empty_like(tensors[i]) for i in wanted]

    library.impl(own, compute, "CPU")
    torch.library.register_fake(f"{library.ns}::{own}", shapes, lib=library)
    # Those of the next order are defined when somebody asks for them.
    next_order = functools.cache(lambda: _define_gradients(library, name, parameters, gradients, order + 1))
    _register_autograd(library, own, True, next_order)
    return getattr(getattr(torch.ops, library.ns), own)


def _register_autograd(library, name, has_lists, gradients):
    """gradients(): the operator of the gradients of the operator `name`. has_lists: PyTorch sees lists of tensors in it."""

    def setup_context(ctx, inputs, keyword_only_inputs=None, output=None):
        ctx.save_for_backward(*_tensors(inputs))
        ctx.inputs = _with_places(inputs, itertools.count())
        ctx.names = keyword_only_inputs or {}

    def is_list(value):
        return has_lists and isinstance(value, list) and all(isinstance(one, _Place) for one in value)

    def backward(ctx, *grads):
        wanted = []
        for value, needed in zip(ctx.inputs, ctx.needs_input_grad):
            if is_list(value):
                wanted += [place for place, one in zip(value, needed) if one]
            elif needed and isinstance(value, _Place):
                wanted.append(value)
        args = _with_tensors(ctx.inputs, ctx.saved_tensors)
        grads = [g.contiguous() for g in _tensors(grads)]
        found = dict(zip(wanted, gradients()(grads, [*map(int, wanted)], *args, **ctx.names)))
        # PyTorch leaves out arguments that have their default.
        passed = ctx.inputs[: len(ctx.needs_input_grad)]
        results = [
            [found.get(one) for one in v] if is_list(v) else found.get(v) if isinstance(v, _Place) else None
            for v in passed
        ]
        return (*results, *[None] * (len(ctx.inputs) - len(passed)))

    torch.library.register_autograd(f"{library.ns}::{name}", backward, setup_context=setup_context, lib=library)


_loaded = {}


def _find_nvcc(cuda):
    """The command that compiles CUDA kernels, and the folder of its toolkit; ([], None) if there are to be none."""
    if not (torch.cuda.is_available() if cuda is None else cuda):
        return [], None
    home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
    nvcc = shutil.which("nvcc") or shutil.which(f"{home}/bin/nvcc")
    if torch.version.cuda is None or nvcc is None:
        if cuda is None:
            return [], None
        needed = "nvcc (CUDA_HOME names its toolkit)" if nvcc is None else "a CUDA build of PyTorch"
        raise RuntimeError(f"tenon.interop.torch.build(): CUDA kernels need {needed}")
    command = [nvcc, "-std=c++20", "-O2", "--extended-lambda", "--expt-relaxed-constexpr", "-w"]
    command += ["-Xcompiler", "-fPIC,-fvisibility=hidden"]
    if torch.cuda.is_available():
        command.append("-arch=sm_" + "".join(map(str, torch.cuda.get_device_capability())))
    return command, os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


def build(yaml, *, cuda=None):
    """Compiles operators into an extension of PyTorch, loads it and gives torch.ops.<namespace>.

        mine = tenon.interop.torch.build("ops.yaml")      # or the text of the file
        y = mine.swiglu(x, g)                             # or torch.ops.mine.swiglu(x, g)

    A call runs no Python. Schema, kernels, gradients of any order, meta functions, rules for vmap and autocast follow from
    the entries, which are `pointwise` or `rowwise`. The library is cached by the text, the compiler, the processor and
    PyTorch's version. The operators of a namespace are built once in a process. CUDA kernels of pointwise entries are compiled
    if `cuda` is true, or by default if PyTorch sees a GPU and there is nvcc.
    """
    from tenon._build import build_extension

    root = os.path.dirname(torch.__file__)
    flags = [f"-I{root}/include", f"-I{root}/include/torch/csrc/api/include", f"-DTENON_TORCH={torch.__version__}"]
    flags.append(f"-D_GLIBCXX_USE_CXX11_ABI={int(torch._C._GLIBCXX_USE_CXX11_ABI)}")
    linked = [f"-L{root}/lib", "-lc10", "-ltorch_cpu", f"-Wl,-rpath,{root}/lib", "-Wl,-Bsymbolic"]
    nvcc, toolkit = _find_nvcc(cuda)
    if nvcc:
        flags.append(f"-I{toolkit}/include")
        linked += ["-lc10_cuda", f"-L{toolkit}/lib64", "-lcudart"]
    library, namespace = build_extension(yaml, "torch", flags, linked, nvcc)
    if _loaded.setdefault(namespace, library) != library:
        raise RuntimeError(
            f"tenon.interop.torch.build(): this process has other operators of the namespace '{namespace}', which PyTorch "
            "keeps: build the edited text in a new process"
        )
    torch.ops.load_library(library)
    return getattr(torch.ops, namespace)


_registered = {}


def register(ops):
    """Makes the operators of a namespace of tenon.ops known to PyTorch, and gives them. They run on the CPU.

        mine = tenon.interop.torch.register(tenon.load_operators("ops.yaml"))
        y = mine.swiglu(x, g)       # or torch.ops.mine.swiglu(x, g)

    torch.compile takes calls of them, differentiated ones as well. They have gradients of any order, which Tenon computes:
    PyTorch sees an operator more for each, `swiglu_backward_`, `swiglu_backward_2_`. Registered once more, after
    load_operators() of an edited text, they are the new ones.
    """
    namespace = ops.__name__
    if namespace in _registered:
        _registered.pop(namespace)._destroy()
    library = _registered[namespace] = torch.library.Library(namespace, "FRAGMENT")
    for name, schema in _C._operator_schemas(f"{namespace}::"):
        own = schema.removeprefix(f"{namespace}::")
        if "!" in own:
            continue  # forms that write to arguments: PyTorch's users have the functional one
        function = _C._find_operator(name)
        library.define(own)

        def compute(*args, _function=function, **names):
            return _to_torch(_function(*[_to_tenon(a) for a in args], **{k: _to_tenon(v) for k, v in names.items()}))

        def shapes(*args, _function=function, **names):
            return _from_meta(
                _function(*[_meta(a) for a in args], **{k: _meta(v) for k, v in names.items()}), _device_of(args)
            )

        qualified = own.split("(")[0]
        library.impl(qualified, compute, "CPU")
        torch.library.register_fake(f"{namespace}::{qualified}", shapes, lib=library)
        parameters = own[own.index("(") + 1 : own.rindex(") ->")]
        gradients = _define_gradients(library, qualified.replace(".", "_"), parameters, _results_of(function), 1)
        has_lists = re.search(r"Tensor(\([^)]*\))?\??\[", own) is not None
        _register_autograd(library, qualified, has_lists, lambda _gradients=gradients: _gradients)
    return getattr(torch.ops, namespace)
