"""torch._dynamo.utils: what programs ask of a compiler that is not there."""

import collections
import contextlib

from tenon.as_torch._missing import use
from tenon.as_torch.extra._decorators import answer

#: How often the compiler did something: it never does.
counters = collections.defaultdict(collections.Counter)
is_compile_supported = answer("is_compile_supported", False, "False: there is no compiler.")


def maybe_enable_compiled_autograd(should_enable, fullgraph=True, dynamic=True):
    """With False a block that changes nothing."""
    if should_enable:
        use("torch._dynamo.compiled_autograd")
    return contextlib.nullcontext()
