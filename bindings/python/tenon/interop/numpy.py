"""Operators from load_operators() as functions on numpy's arrays."""

import numpy

import tenon
from tenon.interop._functions import Functions


def _is_shared(array):
    """Whether a tensor can be over the array's memory: it can be written to, has no negative strides and this machine's
    order of bytes."""
    return array.flags.writeable and all(stride >= 0 for stride in array.strides) and array.dtype.isnative


def _is_number(value):
    return isinstance(value, (bool, int, float, complex, numpy.generic))


def _is_array_like(value):
    """Numbers in lists, which numpy's functions take for arrays."""
    return isinstance(value, (list, tuple)) and all(_is_number(v) or _is_array_like(v) for v in value)


def _to_tenon(value, array_likes=False):
    if isinstance(value, numpy.ma.MaskedArray):
        raise TypeError("operators do not see the masks of masked arrays: give filled(), or data")
    if isinstance(value, numpy.ndarray):
        return tenon.from_numpy(value if _is_shared(value) else value.astype(value.dtype.newbyteorder("=")))
    if array_likes and (isinstance(value, numpy.generic) or _is_array_like(value)):
        return tenon.from_numpy(numpy.array(value))
    if isinstance(value, (list, tuple)):
        return [_to_tenon(v, array_likes) for v in value]
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

    Forms in place and `out` write to the array; ValueError if it is read-only. Arrays with negative strides and of another
    order of bytes are copied. numpy's scalars are numbers or arrays; lists of numbers are lists or arrays, of the dtype that
    numpy.array() gives. TypeError for masked arrays.
    """

    def convert(function):
        def call(*args, **names):
            out = names.pop("out", None)
            if out is not None:
                given = out if isinstance(out, tuple) else (out,)
                if not all(isinstance(o, numpy.ndarray) and o.flags.writeable for o in given):
                    raise ValueError(f"{call.__name__}(): out must be an array that can be written to")
                names["out"] = tuple(map(tenon.from_numpy, given)) if isinstance(out, tuple) else tenon.from_numpy(out)
            in_place = call.__name__.endswith("_") and not call.__name__.endswith("__")
            written = args[0] if in_place and args else None
            if isinstance(written, numpy.ndarray) and not written.flags.writeable:
                raise ValueError(f"{call.__name__}(): the array must be one that can be written to")

            def compute(array_likes):
                kept = {k: v if k == "out" else _to_tenon(v, array_likes) for k, v in names.items()}
                return function(*[_to_tenon(a, array_likes) for a in args], **kept)

            try:
                result = compute(array_likes=False)
            except TypeError as error:
                convertible = any(isinstance(v, numpy.generic) or _is_array_like(v) for v in (*args, *names.values()))
                if not convertible or (in_place and not isinstance(written, numpy.ndarray)):
                    raise
                # numpy's scalars, which its reductions give, are numbers first and then arrays; lists of numbers, too.
                try:
                    result = compute(array_likes=True)
                except TypeError:
                    raise error from None
            result = _to_numpy(result)
            if isinstance(written, numpy.ndarray) and not _is_shared(written):
                numpy.copyto(written, result)
                return written
            return result if out is None else out

        return call

    return Functions(ops, convert)
