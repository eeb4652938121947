"""Parameters with elements that are kept at zero: weight_mask times weight_orig, multiplied before each call.

prune.l1_unstructured(layer, "weight", amount=0.3)     the 30 % that are smallest
prune.remove(layer, "weight")                          for good: a plain parameter again
"""

import abc
import collections.abc
import numbers

import tenon

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


class BasePruningMethod(abc.ABC):
    """A way to choose what is zero. Subclasses have PRUNING_TYPE, "unstructured", "structured" or "global", and compute_mask()."""

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t, default_mask):
        """The mask of `t`: default_mask with more zeros."""

    def apply_mask(self, module):
        """The parameter: its original times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter of the module; gives the method. One that is pruned already gets further zeros."""
        before = [
            (key, hook)
            for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        if len(before) > 1:
            raise AssertionError(f"Avoid adding multiple pruning hooks to the same tensor {name} of module {module}.")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        original = getattr(module, name)
        if importance_scores is not None and importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} of {module}, got "
                f"{importance_scores.shape} vs {original.shape}"
            )
        scores = original if importance_scores is None else importance_scores
        default_mask = tenon.ones_like(original)
        if before:
            key, earlier = before[0]
            if not isinstance(earlier, PruningContainer):
                earlier, single = PruningContainer(), earlier
                earlier._tensor_name = name
                earlier.add_pruning_method(single)
            earlier.add_pruning_method(method)
            method = earlier
            default_mask = getattr(module, name + "_mask").detach().clone(memory_format=tenon.contiguous_format)
        mask = method.compute_mask(scores.detach(), default_mask=default_mask)
        if before:
            del module._forward_pre_hooks[key]
        else:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """The tensor with zeros, without any module."""
        if importance_scores is not None and importance_scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        scores = t if importance_scores is None else importance_scores
        mask = tenon.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module):
        """Has the parameter be a plain one, with its zeros."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods for one parameter, one after the other."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, *args):
        self._pruning_methods = ()
        if len(args) == 1 and isinstance(args[0], BasePruningMethod):
            self._tensor_name = args[0]._tensor_name
            args = args[:1]
        elif len(args) == 1 and isinstance(args[0], collections.abc.Iterable):
            args = tuple(args[0])
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds a method for the same parameter."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}. "
                f"Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """default_mask with the zeros that the last method chooses among what is left."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            kept = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim
            if not -t.dim() <= dim < t.dim():
                raise IndexError(f"Index is out of bounds for tensor with dimensions {tuple(t.shape)}, got dim={dim}")
            others = [d for d in range(t.dim()) if d != dim % t.dim()]
            kept = [slice(None)] * t.dim()
            kept[dim] = mask.sum(dim=others) != 0
            kept = tuple(kept)
        elif method.PRUNING_TYPE == "global":
            kept = tuple([slice(None)] * t.dim())
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        result = mask.clone()
        result[kept] = method.compute_mask(t[kept], default_mask=mask[kept]).to(dtype=mask.dtype)
        return result


class Identity(BasePruningMethod):
    """Nothing becomes zero; the module is as if it were pruned."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Elements drawn at random. amount: how many, or which share."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count_of(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=tenon.contiguous_format)
        if count:
            chosen = tenon.topk(tenon.rand_like(t).view(-1), k=count)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """The elements of smallest magnitude. amount: how many, or which share."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count_of(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=tenon.contiguous_format)
        if count:
            chosen = tenon.topk(t.abs().view(-1), k=count, largest=False)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


class _Slices(BasePruningMethod):
    """Whole slices along a dimension. amount: how many, or which share."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def scores(self, t):
        """A number for each slice."""
        raise NotImplementedError

    largest_are_kept = True

    def compute_mask(self, t, default_mask):
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
                f"{t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = _count_of(self.amount, size)
        if not count:
            return default_mask
        kept = tenon.topk(self.scores(t), k=size - count, largest=True)
        mask, places = tenon.zeros_like(t), [slice(None)] * t.dim()
        places[self.dim] = kept.indices
        mask[tuple(places)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Slices):
    """Slices along `dim`, drawn at random. amount: how many, or which share."""

    def scores(self, t):
        return tenon.rand(t.shape[self.dim])

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Slices):
    """The slices along `dim` of smallest n-norm. amount: how many, or which share."""

    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def scores(self, t):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        return tenon.norm(t, p=self.n, dim=others)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"a mask of shape {default_mask.shape} is required, got {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """See Identity; gives the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """See RandomUnstructured; gives the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """See L1Unstructured; gives the module. importance_scores: in the place of the elements themselves."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """See RandomStructured; gives the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """See LnStructured; gives the module. importance_scores: in the place of the elements themselves."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """See CustomFromMask; gives the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters as if they were one.

    parameters: pairs of a module and a name. pruning_method: a class, to which **kwargs go. importance_scores: by these pairs.
    """
    if not isinstance(parameters, collections.abc.Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    parameters = list(parameters)
    if not parameters:
        raise ValueError("global_unstructured(): at least one parameter is required")
    given = {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    tensors = [getattr(module, name) for module, name in parameters]
    scores = [given.get(pair, tensor).reshape(-1) for pair, tensor in zip(parameters, tensors, strict=True)]
    masks = [
        getattr(module, name + "_mask", tenon.ones_like(tensor)).reshape(-1)
        for (module, name), tensor in zip(parameters, tensors, strict=True)
    ]
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    mask = container.compute_mask(tenon.cat(scores).detach(), tenon.cat(masks))
    start = 0
    for (module, name), tensor in zip(parameters, tensors, strict=True):
        custom_from_mask(module, name, mask=mask[start : start + tensor.numel()].view_as(tensor))
        start += tensor.numel()


def remove(module, name):
    """Has a pruned parameter be a plain one, with its zeros; gives the module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    """Whether a parameter of the module, or of one within it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for _, submodule in module.named_modules()
        for hook in submodule._forward_pre_hooks.values()
    )


def _check_amount(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    whole = isinstance(amount, numbers.Integral)
    if (whole and amount < 0) or (not whole and not 0.0 <= amount <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count_of(amount, size):
    """How many of `size` are pruned."""
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount
