"""Names for annotations."""

import builtins

from tenon import _C

_bool, _int, _float, _str, _complex, _bytes = (
    builtins.bool,
    builtins.int,
    builtins.float,
    builtins.str,
    builtins.complex,
    builtins.bytes,
)
_dtype, _layout = _C.dtype, _C.layout
IntLikeType, FloatLikeType, BoolLikeType = builtins.int, builtins.float, builtins.bool
py_sym_types = ()
