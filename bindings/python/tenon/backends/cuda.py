"""CUDA: what is in the build, and switches of its products. Products of float32 are float32 throughout: TF32 is not used."""

from tenon import _C

__all__ = ["is_built", "matmul"]


def is_built():
    """Whether the build has CUDA kernels."""
    return _C._has["cuda"]


class _Products:
    """Switches of matrix products."""

    def __init__(self):
        self.allow_tf32 = False
        self.allow_fp16_reduced_precision_reduction = False
        self.allow_bf16_reduced_precision_reduction = False


matmul = _Products()


def flash_sdp_enabled():
    """False: attention on a GPU is computed in full."""
    return False


def mem_efficient_sdp_enabled():
    """False: attention on a GPU is computed in full."""
    return False


def math_sdp_enabled():
    """True: attention on a GPU is computed in full."""
    return True
