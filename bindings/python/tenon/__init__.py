"""Tenon: tensors with generated operators. Names, signatures and semantics are PyTorch's.

    import tenon

    x = tenon.randn(3, 4, requires_grad=True)
    (x * x).sum().backward()
    print(x.grad)
"""

from tenon import _C
from tenon._C import *  # noqa: F403
from tenon._C import Generator, Size, Tensor, device, dtype  # noqa: F401
from tenon import _tensor  # noqa: F401  gives Tensor its methods that are written in Python
from tenon import amp, autograd, profiler, random, return_types, serialization, utils  # noqa: F401
from tenon._ops import OperatorError, load_operators, ops  # noqa: F401
from tenon._dtypes import finfo, iinfo  # noqa: F401
from tenon._tensor import (  # noqa: F401
    as_tensor,
    asarray,
    from_dlpack,
    frombuffer,
    is_complex,
    is_floating_point,
    is_tensor,
    numel,
    typename,
)
from tenon.amp import autocast  # noqa: F401
from tenon.autograd import enable_grad, no_grad, set_grad_enabled  # noqa: F401
from tenon.random import (  # noqa: F401
    default_generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from tenon.serialization import load, save  # noqa: F401

from math import e, inf, nan, pi  # noqa: F401  as PyTorch has them

__version__ = "0.1.0"
newaxis = None
double = _C.float64


def __getattr__(name):
    # Imported when first asked for: a program that only computes starts without them.
    if name in ("nn", "optim", "special"):
        import importlib

        return importlib.import_module(f"tenon.{name}")
    raise AttributeError(f"module 'tenon' has no attribute '{name}'")
