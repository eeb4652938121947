"""The operators of modules as functions of tensors."""

import types as _types

from tenon.nn.functional.activation import *  # noqa: F403
from tenon.nn.functional.attention import *  # noqa: F403
from tenon.nn.functional.chunked_loss import *  # noqa: F403
from tenon.nn.functional.distance import *  # noqa: F403
from tenon.nn.functional.dropout import *  # noqa: F403
from tenon.nn.functional.embedding import *  # noqa: F403
from tenon.nn.functional.grouped import *  # noqa: F403
from tenon.nn.functional.linear import *  # noqa: F403
from tenon.nn.functional.loss import *  # noqa: F403
from tenon.nn.functional.normalization import *  # noqa: F403
from tenon.nn.functional.pooling import *  # noqa: F403
from tenon.nn.functional.sampling import *  # noqa: F403
from tenon.overrides import overridable as _overridable

# Those written in Python, as operators do by themselves, let classes with a __torch_function__ take their calls.
for _name, _value in list(globals().items()):
    if (
        isinstance(_value, _types.FunctionType)
        and not _name.startswith("_")
        and _value.__module__.startswith("tenon.nn")
    ):
        if _name not in {"sigmoid", "tanh"}:  # methods of their argument
            globals()[_name] = _overridable(_value)
        globals()[_name].__module__ = __name__
