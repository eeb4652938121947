"""Initial values under their names of before, without `_` at the end."""

import functools
import warnings

from tenon.nn import init


def _deprecated(function):
    name = function.__name__.rstrip("_")

    @functools.wraps(function)
    def old(*args, **kwargs):
        warnings.warn(f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`.", FutureWarning, stacklevel=2)
        return function(*args, **kwargs)

    old.__name__ = name
    return old


constant, dirac, eye = _deprecated(init.constant_), _deprecated(init.dirac_), _deprecated(init.eye_)
kaiming_normal, kaiming_uniform = _deprecated(init.kaiming_normal_), _deprecated(init.kaiming_uniform_)
normal, uniform = _deprecated(init.normal_), _deprecated(init.uniform_)
orthogonal, sparse = _deprecated(init.orthogonal_), _deprecated(init.sparse_)
xavier_normal, xavier_uniform = _deprecated(init.xavier_normal_), _deprecated(init.xavier_uniform_)


def _calculate_correct_fan(tensor, mode):
    """The number of inputs or of outputs."""
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = init._calculate_fan_in_and_fan_out(tensor)
    return fan_in if mode.lower() == "fan_in" else fan_out


_no_grad_uniform_, _no_grad_normal_, _no_grad_trunc_normal_ = init.uniform_, init.normal_, init.trunc_normal_
_no_grad_fill_, _no_grad_zero_ = init.constant_, init.zeros_
