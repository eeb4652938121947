"""Private helpers of torch.nn.functional that programs use."""

import functools
import types

from tenon.as_torch.extra._jit_internal import (
    BroadcastingList1 as BroadcastingList1,
    BroadcastingList2 as BroadcastingList2,
    BroadcastingList3 as BroadcastingList3,
)


def _get_softmax_dim(name, ndim, stacklevel):
    """The dimension of softmax() without one."""
    return 0 if ndim in (0, 1, 3) else 1


def _verify_batch_size(size):
    """ValueError if a channel has one value alone."""
    count = size[0]
    for other in size[2:]:
        count *= other
    if count == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def install(functional):
    """Programs set attributes of these, which functions of C++ have not: they become functions of Python."""
    for name in ("leaky_relu", "relu", "relu6", "sigmoid", "tanh"):
        own = vars(functional).get(name)
        if isinstance(own, types.BuiltinFunctionType):
            setattr(functional, name, _in_python(own))


def _in_python(own):
    @functools.wraps(own)
    def function(*args, **kwargs):
        return own(*args, **kwargs)

    function.__module__ = "torch.nn.functional"
    return function
