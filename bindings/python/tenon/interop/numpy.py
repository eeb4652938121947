"""Operators from load_operators() as functions on numpy's arrays."""

import numpy

import tenon
from tenon.interop._functions import Functions


def _to_tenon(value):
    if isinstance(value, numpy.ndarray):
        # A tensor can be written to, and has no negative strides.
        shared = value.flags.writeable and all(stride >= 0 for stride in value.strides)
        return tenon.from_numpy(value if shared else value.copy())
    if isinstance(value, (list, tuple)):
        return [_to_tenon(v) for v in value]
    return value


def _to_numpy(value):
    if isinstance(value, tenon.Tensor):
        return value.detach().numpy()
    if isinstance(value, (list, tuple)):
        return tuple(_to_numpy(v) for v in value)
    return value


def register(ops):
    """The operators of a namespace of tenon.ops as functions from arrays to arrays, which share the arrays' memory.

        mine = tenon.interop.numpy.register(tenon.load_operators("ops.yaml"))
        y = mine.swiglu(np.ones(3), np.zeros(3))

    Forms that write to an argument write to the array; ValueError if it is read-only.
    """

    def convert(function):
        def call(*args, **names):
            out = names.pop("out", None)
            if out is not None:
                given = out if isinstance(out, tuple) else (out,)
                if not all(isinstance(o, numpy.ndarray) and o.flags.writeable for o in given):
                    raise ValueError(f"{call.__name__}(): out must be an array that can be written to")
                names["out"] = tuple(map(tenon.from_numpy, given)) if isinstance(out, tuple) else tenon.from_numpy(out)
            result = function(*[_to_tenon(a) for a in args], **{k: v if k == "out" else _to_tenon(v) for k, v in names.items()})
            return _to_numpy(result) if out is None else out

        return call

    return Functions(ops, convert)
