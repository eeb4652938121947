"""CUDA: what is in the build, and switches of its products. Products of float32 are float32 throughout: TF32 is not used."""

import contextlib

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


def cudnn_sdp_enabled():
    """False: attention on a GPU is computed in full."""
    return False


# Choices of how attention is computed, which programs make: Tenon has one way, and results are the same.


def enable_flash_sdp(enabled):
    """No effect."""


def enable_mem_efficient_sdp(enabled):
    """No effect."""


def enable_math_sdp(enabled):
    """No effect."""


def enable_cudnn_sdp(enabled):
    """No effect."""


class SDPAParams:
    """What a call of scaled_dot_product_attention has, for the questions below."""

    def __init__(self, query, key, value, attn_mask, dropout, is_causal, enable_gqa):
        self.query, self.key, self.value, self.attn_mask = query, key, value, attn_mask
        self.dropout, self.is_causal, self.enable_gqa = dropout, is_causal, enable_gqa


def is_flash_attention_available():
    """False: attention on a GPU is computed in full."""
    return False


def can_use_flash_attention(params, debug=False):
    """False: attention on a GPU is computed in full."""
    return False


def can_use_efficient_attention(params, debug=False):
    """False: attention on a GPU is computed in full."""
    return False


def can_use_cudnn_attention(params, debug=False):
    """False: attention on a GPU is computed in full."""
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash=True, enable_math=True, enable_mem_efficient=True, enable_cudnn=True):
    """No effect."""
    yield


def preferred_linalg_library(backend=None):
    """ "default": the one that the build has."""
    return "default"
