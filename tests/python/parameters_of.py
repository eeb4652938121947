"""The parameters of public classes and functions of the module torch, as JSON: {module: {name in it: parameters}}.

With PyTorch the program finds the names. With Tenon (-m tenon.as_torch) the same names come on standard input; of a placeholder, or of a
name that is missing, it prints that word.
"""

import importlib
import inspect
import json
import sys
import warnings

MODULES = """
torch torch.accelerator torch.amp torch.autograd torch.autograd.forward_ad torch.autograd.function torch.autograd.functional
torch.autograd.grad_mode torch.autograd.gradcheck torch.autograd.graph torch.autograd.profiler torch.backends.cudnn torch.backends.mkldnn
torch.cpu torch.cuda torch.cuda.amp torch.distributed torch.distributed.algorithms.ddp_comm_hooks.default_hooks
torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook torch.distributed.algorithms.join torch.distributed.device_mesh
torch.distributed.nn torch.distributions torch.distributions.constraint_registry
torch.distributions.constraints torch.distributions.kl torch.distributions.transforms torch.distributions.utils torch.fft torch.func
torch.functional torch.futures torch.fx torch.hub torch.library torch.linalg torch.masked torch.multiprocessing torch.nn
torch.nn.attention torch.nn.functional torch.nn.init torch.nn.parallel torch.nn.utils torch.nn.utils.fusion
torch.nn.utils.parametrizations torch.nn.utils.parametrize torch.nn.utils.prune torch.nn.utils.rnn torch.nn.utils.stateless torch.optim
torch.optim.lr_scheduler torch.optim.swa_utils torch.overrides torch.profiler torch.quasirandom torch.random torch.serialization
torch.signal.windows torch.sparse torch.special torch.storage torch.testing torch.utils.benchmark torch.utils.checkpoint
torch.utils.data torch.utils.data.distributed torch.utils.dlpack torch.utils.flop_counter torch.utils.hooks
torch.utils._python_dispatch torch.utils._pytree
""".split()


def words_of(default):
    """A default that the two libraries print alike; None if there is none."""
    if default is inspect.Parameter.empty:
        return None
    if isinstance(default, type) or inspect.isroutine(default):
        return default.__name__
    if type(default).__name__ in ("RedOpType", "ReduceOp"):
        return default.name
    if inspect.ismodule(default):
        return default.__name__
    if type(default) is object or type(default).__name__ == "Generator":
        return type(default).__name__
    return repr(tuple(default)) if type(default).__name__ == "Size" else repr(default)


def parameters_of(value):
    try:
        found = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return None
    return [[p.name, p.kind.name, words_of(p.default)] for p in found]


def names_in(module, seen):
    """{name in the module: its parameters}, each class and function by the first of its names."""
    found = {}
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if name.startswith("_") or not callable(value) or inspect.ismodule(value) or id(value) in seen:
            continue
        if not (getattr(value, "__module__", None) or "torch").startswith("torch"):
            continue
        seen[id(value)] = value
        found[name] = parameters_of(value)
        if not inspect.isclass(value) or name.endswith("Tensor") and name != "Tensor":
            continue
        for method, function in vars(value).items():
            function = getattr(function, "__func__", function)
            if inspect.isfunction(function) and not method.startswith("_"):
                found[f"{name}.{method}"] = parameters_of(getattr(value, method))
    return {name: parameters for name, parameters in found.items() if parameters is not None}


def looked_up(module, name):
    """What the module has by that name: parameters, "missing" or "placeholder"."""
    value = module
    for word in name.split("."):
        value = getattr(value, word, None)
        if value is None:
            return "missing"
        if type(value).__name__ == "MissingType":
            return "placeholder"
    return parameters_of(value)


def main():
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["found"]:
        seen = {}
        result = {name: names_in(importlib.import_module(name), seen) for name in MODULES}
    else:
        asked, result = json.load(sys.stdin), {}
        for name, names in asked.items():
            module = importlib.import_module(name)
            result[name] = {one: looked_up(module, one) for one in names}
    json.dump(result, sys.stdout)


if __name__ == "__main__":
    main()
