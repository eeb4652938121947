"""Parameters of a module that are computed from others, each time they are asked for.

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).mT

    layer = nn.Linear(3, 3)
    parametrize.register_parametrization(layer, "weight", Symmetric())
    layer.weight                                    symmetric, computed from layer.parametrizations.weight.original

A module whose parameter is computed gets a class of its own, ParametrizedLinear, where the parameter is a property.
"""

import collections
import contextlib
import copy

import tenon
from tenon.nn.modules.container import ModuleDict, ModuleList
from tenon.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

_cached_depth = 0
_cache = {}


@contextlib.contextmanager
def cached():
    """Within, a computed parameter is computed once and kept, as long as what it is computed from does not change."""
    global _cached_depth
    _cached_depth += 1
    try:
        yield
    finally:
        _cached_depth -= 1
        if not _cached_depth:
            _cache.clear()


def _register(module, name, value):
    if isinstance(value, Parameter):
        module.register_parameter(name, value)
    else:
        module.register_buffer(name, value)


def _put(dest, src):
    """Has `dest` hold the elements of `src`; of another shape or dtype it takes its memory too."""
    if dest.shape == src.shape and dest.dtype == src.dtype and dest.device == src.device:
        with tenon.no_grad():
            dest.copy_(src)
    else:
        dest.data = src.detach()


class ParametrizationList(ModuleList):
    """What a parameter is computed by: modules, applied one after the other to `original`, or to `original0`, `original1`, ..., if the
    first one's right_inverse() gives several tensors.
    """

    def __init__(self, modules, original, unsafe=False):
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        value, shape, dtype = original, original.shape, original.dtype
        with tenon.no_grad():
            for module in reversed(self):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass
        several = not isinstance(value, tenon.Tensor)
        if several and not isinstance(value, collections.abc.Sequence):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {type(value).__name__}"
            )
        self.is_tensor, self.ntensors = not several, len(value) if several else 1
        for name, one in zip(self._names(), value if several else [value], strict=True):
            self._keep(name, one, original)
        if not unsafe:
            self._check(original, shape, dtype)

    def _names(self):
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def _keep(self, name, value, original):
        if not isinstance(value, tenon.Tensor):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element {name} with type "
                f"{type(value).__name__}."
            )
        if self.is_tensor and isinstance(original, Parameter):
            if original.dtype != value.dtype and not self.unsafe:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {value.dtype}"
                )
            # The optimizer's own parameter, which may be known to it already.
            original.data = value.detach()
            _register(self, name, original)
        elif isinstance(original, Parameter):
            _register(self, name, Parameter(value.detach(), original.requires_grad))
        else:
            _register(self, name, value)

    def _check(self, original, shape, dtype):
        result = self()
        if not isinstance(result, tenon.Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
        for what, before, after in (("dtype", dtype, result.dtype), ("shape", shape, result.shape)):
            if before != after:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                    f"unparametrized {what}: {before}\nparametrized {what}: {after}"
                )

    def right_inverse(self, value):
        """Sets what the parameter is computed from, so that it becomes `value`. RuntimeError if a module has no right_inverse()."""
        with tenon.no_grad():
            for module in reversed(self):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            values = [value] if self.is_tensor else value
            if self.is_tensor and not isinstance(value, tenon.Tensor):
                raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
            if len(values) != self.ntensors:
                raise ValueError(
                    f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of length "
                    f"{len(values)}."
                )
            for name, one in zip(self._names(), values, strict=True):
                _put(getattr(self, name), one)

    def forward(self):
        modules = iter(self)
        value = next(modules)(*(getattr(self, name) for name in self._names()))
        for module in modules:
            value = module(value)
        return value


def _give_own_class(module):
    base = type(module)

    def without_properties(self):
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(): save that, and load it into a "
            "module with the same parametrizations."
        )

    def deep_copy(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        copied = self.__new__(self.__class__)
        memo[id(self)] = copied
        copied.__dict__ = copy.deepcopy(self.__dict__, memo)
        # A class of its own, so that changes of one are not changes of the other.
        module_type = type("Parametrized" + base.__name__, (base,), dict(type(self).__dict__))
        copied.__class__ = module_type
        return copied

    members = {"__getstate__": without_properties, "__module__": __name__}
    if not hasattr(base, "__deepcopy__"):
        members["__deepcopy__"] = deep_copy
    module.__class__ = type(f"Parametrized{base.__name__}", (base,), members)


def _give_property(module, name):
    def compute(self):
        parametrization = self.parametrizations[name]
        if not _cached_depth:
            return parametrization()
        key = id(self), name
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def assign(self, value):
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(compute, assign))


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    """Has a parameter or buffer of a module be computed by another module; gives the module.

    parametrization: forward(original) gives the tensor; right_inverse(tensor), if it is there, the original for a tensor, or several
    originals, which forward() then takes. Another one for the same tensor is applied after the first.
    unsafe: shapes and dtypes may change, and nothing is checked.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module.parametrizations[tensor_name]
        if not unsafe:
            _check_further(module, tensor_name, parametrization)
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        found = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _give_own_class(module)
            module.parametrizations = ModuleDict()
        _give_property(module, tensor_name)
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name '{tensor_name}'"
        )
    return module


def _check_further(module, name, parametrization):
    with tenon.no_grad():
        before = getattr(module, name)
        after = parametrization(before)
    if not isinstance(after, tenon.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(after).__name__}.")
    _compare(f"module.{name}", before, f"parametrization(module.{name})", after, "Registering a parametrization")
    if hasattr(parametrization, "right_inverse"):
        try:
            back = parametrization.right_inverse(after)
        except NotImplementedError:
            return
        if not isinstance(back, tenon.Tensor):
            raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
        _compare(
            f"module.{name}",
            before,
            f"parametrization.right_inverse(module.{name})",
            back,
            "The tensor returned by right_inverse",
        )


def _compare(of_before, before, of_after, after, subject):
    for what in ("dtype", "shape"):
        if getattr(before, what) != getattr(after, what):
            raise ValueError(
                f"{subject} may not change the {what} of the tensor, unless the `unsafe` flag is enabled.\n"
                f"{of_before}.{what}: {getattr(before, what)}\n{of_after}.{what}: {getattr(after, what)}"
            )


def is_parametrized(module, tensor_name=None):
    """Whether the module has a parameter that is computed, or this one is."""
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    """Has the parameter be a plain one again; gives the module.

    leave_parametrized: with its computed value, else with the original, of which there must be one.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    known = module.parametrizations[tensor_name]
    if known.is_tensor:
        original = known.original
        if leave_parametrized:
            with tenon.no_grad():
                value = getattr(module, tensor_name)
                original.data = value.detach().clone()
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach(), value.requires_grad) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors."
        )
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module):
    """The module's class without regard to what is computed."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module, to_module, tensor_name=None):
    """Gives another module the parametrizations of the first one, or that of one tensor, and what they compute from; gives that module."""
    if is_parametrized(from_module):
        names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
        for name in names:
            if not hasattr(to_module, name):
                setattr(to_module, name, copy.deepcopy(getattr(from_module, name).detach()))
                if isinstance(from_module.parametrizations[name]._parameters.get("original"), Parameter):
                    setattr(to_module, name, Parameter(getattr(to_module, name)))
            for parametrization in from_module.parametrizations[name]:
                register_parametrization(to_module, name, parametrization)
            for original in from_module.parametrizations[name]._names():
                _put(
                    getattr(to_module.parametrizations[name], original),
                    getattr(from_module.parametrizations[name], original),
                )
    return to_module
