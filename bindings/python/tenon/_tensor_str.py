"""How tensors are printed."""

import contextlib
import textwrap

from tenon import _C

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": 80},
}
_options = {**_PROFILES["default"], "sci_mode": None}
# What formatting one element may cost.
_MAX_PRECISION = 1000


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """How tensors are printed, in all threads; what is not given stays.

    precision: digits after the point. threshold: with more elements only the edges are shown. edgeitems: how many of each
    dimension, at each edge. linewidth: characters of a line. profile: "default", "short" or "full", which the
    others change. sci_mode: scientific notation always or never; None, also where it is not given: as the values need it.
    """
    options = dict(_options)
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions(): profile must be one of {', '.join(_PROFILES)}, got {profile!r}")
        options.update(_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    options.update({name: value for name, value in given.items() if value is not None})
    options["sci_mode"] = sci_mode
    numbers = {}
    for name in given:
        number = options[name]
        if number != float("inf") and number != int(number) or number < 0:
            raise ValueError(f"set_printoptions(): {name} must be a whole number from 0 on, got {number!r}")
        numbers[name] = int(min(number, 2**62))
    if numbers["precision"] > _MAX_PRECISION:
        raise ValueError(f"set_printoptions(): precision may be {_MAX_PRECISION}, got {options['precision']}")
    _C._set_print_options(**numbers, sci_mode=None if sci_mode is None else bool(sci_mode))
    _options.update(options)


def get_printoptions():
    """The options in force, as a dict of set_printoptions()'s arguments."""
    return dict(_options)


@contextlib.contextmanager
def printoptions(**kwargs):
    """set_printoptions() for a block."""
    before = get_printoptions()
    try:
        # What is not given stays, sci_mode as well.
        set_printoptions(**{"sci_mode": before["sci_mode"], **kwargs})
        yield
    finally:
        set_printoptions(**before)


_repr_of_values = _C.Tensor.__repr__


def _around(self, contents):
    """The text of a tensor with other contents: "Log(..., size=(2, 3), dtype=torch.float64)"."""
    parts = [contents]
    if self.device.type != "cpu":
        parts.append(f"device='{self.device}'")
    if self.dtype not in (_C.get_default_dtype(), _C.int64, _C.bool):
        parts.append(f"dtype={self.dtype}")
    if self.grad_fn is not None:
        parts.append(f"grad_fn=<{self.grad_fn.name()}>")
    elif self.requires_grad:
        parts.append("requires_grad=True")
    return f"{self.__class__.__name__}({', '.join(parts)})"


def __repr__(self, *, tensor_contents=None):
    from tenon.nn.parameter import Parameter

    if self.__class__ in (_C.Tensor, Parameter) or not isinstance(self, Parameter):
        return _text(self, tensor_contents)
    with _C._DisableTorchFunctionSubclass():
        return f"Parameter({_text(self, tensor_contents)})"


def _text(self, tensor_contents):
    if tensor_contents is not None:
        return _around(self, tensor_contents)
    if _C._is_wrapper(self):
        return _around(self, f"..., size={tuple(self.shape)}")
    if not _C._func.is_batched(self):
        with _C._DisableTorchDispatch():
            return _repr_of_values(self)
    value = textwrap.indent(repr(_C._func.batch_value(self)), "    ")
    return f"BatchedTensor(lvl={_C._func.batch_level(self)}, bdim=0, value=\n{value}\n)"


_C.Tensor.__repr__ = __repr__
