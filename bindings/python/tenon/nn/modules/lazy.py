"""Layers that take the number of their features from their first input.

Example:

    layer = LazyLinear(8)
    layer(tenon.ones(2, 5))     # now it is a Linear(5, 8)
"""

import itertools

import tenon
from tenon import nn
from tenon.nn.parameter import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """The base of modules with parameters that have no shape yet. initialize_parameters(*args, **kwargs) of a subclass gives them one by the
    arguments of the first call, or a state dict does; then the module becomes one of the class cls_to_become."""

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            if is_lazy(value) and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value

    def _lazy_load_hook(self, state_dict, prefix, *_):
        for name, value in itertools.chain(self._parameters.items(), self._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                with tenon.no_grad():
                    value.materialize(given.shape)

    def initialize_parameters(self, *args, **kwargs):
        """Gives the parameters their shapes and values, by the arguments of forward()."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self):
        """Whether a parameter or buffer has no shape yet."""
        return any(is_lazy(value) for value in itertools.chain(self._parameters.values(), self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        self.initialize_parameters(*args, **(kwargs or {}))
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _replicate_for_data_parallel(self):
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy forward pass to correctly "
            "initialize the modules"
        )


class _Lazy(LazyModuleMixin):
    """A layer of the tree: made with 0 features, and made again when they are known."""

    #: Which parameters and buffers have no shape before.
    _waiting = ("weight", "bias")

    def _wait(self, device, dtype):
        options = {"device": device, "dtype": dtype}
        for name in self._waiting:
            if self._parameters.get(name) is not None:
                self._parameters[name] = UninitializedParameter(**options)
            elif self._buffers.get(name) is not None:
                self._buffers[name] = UninitializedBuffer(**options)

    def reset_parameters(self):
        if hasattr(self, "_initialize_hook") and not self.has_uninitialized_params():
            super().reset_parameters()

    def _features(self, input):
        """{name of the attribute: number}"""
        raise NotImplementedError

    def _shapes(self):
        """{name: shape} when the features are known."""
        raise NotImplementedError

    def initialize_parameters(self, input, *_):
        for name, number in self._features(input).items():
            setattr(self, name, number)
        if self.has_uninitialized_params():
            with tenon.no_grad():
                for name, shape in self._shapes().items():
                    value = getattr(self, name)
                    if is_lazy(value):
                        value.materialize(shape)
                self.reset_parameters()


class LazyLinear(_Lazy, nn.Linear):
    """Linear(in_features, out_features, ...) without in_features, which is the input's last size."""

    cls_to_become = nn.Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, bias, device, dtype)
        self.out_features = out_features
        self._wait(device, dtype)

    def _features(self, input):
        return {"in_features": input.shape[-1]}

    def _shapes(self):
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}


class _LazyConv(_Lazy):
    """A convolution without in_channels, which is the input's size before those of space."""

    _spatial: int
    _transposed = False

    def __init__(self, out_channels, kernel_size, *args, **kwargs):
        groups = kwargs.get("groups", args[4] if len(args) > 4 else 1)
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        self.out_channels = out_channels
        if groups and out_channels % groups:
            raise ValueError("out_channels must be divisible by groups")
        self._wait(kwargs.get("device"), kwargs.get("dtype"))

    def _features(self, input):
        if input.dim() not in (self._spatial + 1, self._spatial + 2):
            raise RuntimeError(
                f"Expected {self._spatial + 1}D (unbatched) or {self._spatial + 2}D (batched) input to {type(self).__name__}, but "
                f"got input of size: {tuple(input.shape)}"
            )
        channels = input.shape[-self._spatial - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return {"in_channels": channels}

    def _shapes(self):
        first, second = self.out_channels, self.in_channels
        if self._transposed:
            first, second = second, first
        return {"weight": (first, second // self.groups, *self.kernel_size), "bias": (self.out_channels,)}


class LazyConv1d(_LazyConv, nn.Conv1d):
    cls_to_become, _spatial = nn.Conv1d, 1


class LazyConv2d(_LazyConv, nn.Conv2d):
    cls_to_become, _spatial = nn.Conv2d, 2


class LazyConv3d(_LazyConv, nn.Conv3d):
    cls_to_become, _spatial = nn.Conv3d, 3


class LazyConvTranspose1d(_LazyConv, nn.ConvTranspose1d):
    cls_to_become, _spatial, _transposed = nn.ConvTranspose1d, 1, True


class LazyConvTranspose2d(_LazyConv, nn.ConvTranspose2d):
    cls_to_become, _spatial, _transposed = nn.ConvTranspose2d, 2, True


class LazyConvTranspose3d(_LazyConv, nn.ConvTranspose3d):
    cls_to_become, _spatial, _transposed = nn.ConvTranspose3d, 3, True


class _LazyNorm(_Lazy):
    """A norm without num_features, which is the input's second size."""

    _waiting = ("weight", "bias", "running_mean", "running_var")

    def __init__(self, *args, device=None, dtype=None, **kwargs):
        super().__init__(0, *args, device=device, dtype=dtype, **kwargs)
        self._wait(device, dtype)

    def _features(self, input):
        self._check_input_dim(input)
        return {"num_features": input.shape[1]}

    def _shapes(self):
        return {name: (self.num_features,) for name in self._waiting if getattr(self, name) is not None}


class LazyBatchNorm1d(_LazyNorm, nn.BatchNorm1d):
    cls_to_become = nn.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, nn.BatchNorm2d):
    cls_to_become = nn.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, nn.BatchNorm3d):
    cls_to_become = nn.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, nn.InstanceNorm1d):
    cls_to_become = nn.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, nn.InstanceNorm2d):
    cls_to_become = nn.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, nn.InstanceNorm3d):
    cls_to_become = nn.InstanceNorm3d
