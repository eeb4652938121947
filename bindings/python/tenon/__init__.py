"""Tenon: tensors with generated operators. Names, signatures and semantics are PyTorch's.

Example:

    import tenon

    x = tenon.randn(3, 4, requires_grad=True)
    (x * x).sum().backward()
    print(x.grad)
"""

# Names are imported as themselves, so that type checkers take them for the package's own.
import sys as _sys

try:
    from tenon import _C
except ImportError as _error:
    from tenon._other_python import explained as _explained

    raise _explained(_error) from None
from tenon._C import *  # noqa: F403
from tenon._C import Generator as Generator, Size as Size, Tensor as Tensor, device as device, dtype as dtype

# Operators of lists, which PyTorch's users call by these names.
_PRIVATE = ("_chunk_cat", "_conj", "_foreach_", "_fused_", "_linalg_", "_neg_view", "_unsafe_masked_index")
globals().update({_name: getattr(_C, _name) for _name in dir(_C) if _name.startswith(_PRIVATE)})
_segment_reduce = _C.segment_reduce

for _name in ("_fft", "_nn", "_linalg", "_special"):
    _sys.modules[f"tenon._C.{_name}"] = getattr(_C, _name)  # where pickle looks for their functions
from math import e as e, inf as inf, nan as nan, pi as pi

from tenon import (
    _tensor,  # noqa: F401  gives Tensor its methods that are written in Python
    _tensor_memory,  # noqa: F401  the same
    _tensor_types,  # noqa: F401  the same
    amp as amp,
    autograd as autograd,
    linalg as linalg,
    overrides as overrides,
    profiler as profiler,
    random as random,
    return_types as return_types,
    serialization as serialization,
    storage as storage,
    utils as utils,
)
from tenon._dtypes import finfo as finfo, iinfo as iinfo
from tenon._functional import (
    _assert as _assert,
    _assert_async as _assert_async,
    are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    atleast_1d as atleast_1d,
    atleast_2d as atleast_2d,
    atleast_3d as atleast_3d,
    block_diag as block_diag,
    broadcast_shapes as broadcast_shapes,
    broadcast_tensors as broadcast_tensors,
    cartesian_prod as cartesian_prod,
    cdist as cdist,
    detach as detach,
    detach_ as detach_,
    einsum as einsum,
    get_device as get_device,
    get_num_threads as get_num_threads,
    gradient as gradient,
    is_conj as is_conj,
    is_deterministic_algorithms_warn_only_enabled as is_deterministic_algorithms_warn_only_enabled,
    is_neg as is_neg,
    is_same_size as is_same_size,
    is_signed as is_signed,
    linspace as linspace,
    logspace as logspace,
    lu as lu,
    meshgrid as meshgrid,
    nonzero as nonzero,
    norm as norm,
    of_list_in_place as _of_list_in_place,
    set_flush_denormal as set_flush_denormal,
    set_num_threads as set_num_threads,
    split_copy as split_copy,
    split_with_sizes_copy as split_with_sizes_copy,
    stft as stft,
    tensordot as tensordot,
    unbind_copy as unbind_copy,
    unique as unique,
    unique_consecutive as unique_consecutive,
    unravel_index as unravel_index,
    use_deterministic_algorithms as use_deterministic_algorithms,
)

globals().update(
    {n: _of_list_in_place(getattr(_C, n)) for n in dir(_C) if n.startswith("_foreach_") and n.endswith("_")}
)
from tenon._matrices import (
    chain_matmul as chain_matmul,
    lobpcg as lobpcg,
    pca_lowrank as pca_lowrank,
    svd_lowrank as svd_lowrank,
)
from tenon._ops import OperatorError as OperatorError, fuse as fuse, load_operators as load_operators, ops as ops
from tenon._settings import (
    get_deterministic_debug_mode as get_deterministic_debug_mode,
    get_float32_matmul_precision as get_float32_matmul_precision,
    get_num_interop_threads as get_num_interop_threads,
    is_inference as is_inference,
    is_storage as is_storage,
    is_warn_always_enabled as is_warn_always_enabled,
    set_deterministic_debug_mode as set_deterministic_debug_mode,
    set_float32_matmul_precision as set_float32_matmul_precision,
    set_num_interop_threads as set_num_interop_threads,
    set_warn_always as set_warn_always,
)
from tenon._sparse import (
    sparse_bsc_tensor as sparse_bsc_tensor,
    sparse_bsr_tensor as sparse_bsr_tensor,
    sparse_compressed_tensor as sparse_compressed_tensor,
    sparse_coo_tensor as sparse_coo_tensor,
    sparse_csc_tensor as sparse_csc_tensor,
    sparse_csr_tensor as sparse_csr_tensor,
)
from tenon._tensor import (
    as_tensor as as_tensor,
    asarray as asarray,
    from_dlpack as from_dlpack,
    frombuffer as frombuffer,
    is_complex as is_complex,
    is_floating_point as is_floating_point,
    is_tensor as is_tensor,
    numel as numel,
    typename as typename,
)
from tenon._tensor_str import get_printoptions as get_printoptions, set_printoptions as set_printoptions
from tenon._tensor_types import set_default_tensor_type as set_default_tensor_type
from tenon.amp import GradScaler as GradScaler, autocast as autocast
from tenon.autograd import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from tenon.random import (
    default_generator as default_generator,
    fork_rng as fork_rng,
    get_rng_state as get_rng_state,
    initial_seed as initial_seed,
    manual_seed as manual_seed,
    seed as seed,
    set_rng_state as set_rng_state,
)
from tenon.serialization import (
    add_safe_globals as add_safe_globals,
    clear_safe_globals as clear_safe_globals,
    get_safe_globals as get_safe_globals,
    load as load,
    save as save,
)
from tenon.storage import TypedStorage as TypedStorage, UntypedStorage as UntypedStorage

__version__ = "0.2.0"
newaxis = None
double = _C.float64


# Imported when first asked for: a program that only computes starts without them.
_LATER = {
    "accelerator", "backends", "cpu", "cuda", "distributed", "distributions", "fft", "func", "futures", "fx", "hub", "library", "masked", "multiprocessing", "nn", "optim",
    "quasirandom", "signal", "sparse", "special", "testing", "types", "version",
}  # fmt: skip

TYPE_CHECKING = False  # type checkers take it for true, and typing costs a start milliseconds
if TYPE_CHECKING:
    from tenon.func import vmap as vmap
else:

    def __getattr__(name):
        if name in _LATER:
            import importlib

            return importlib.import_module(f"tenon.{name}")
        if name == "vmap":
            from tenon.func import vmap

            return vmap
        if name.endswith(("Tensor", "Storage")):
            found = _tensor_types.tensor_type(name) or _tensor_types.storage_type(name)
            if found is not None:
                return found
        raise AttributeError(f"module 'tenon' has no attribute '{name}'")
