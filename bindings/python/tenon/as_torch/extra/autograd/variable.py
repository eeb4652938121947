"""The name that tensors with gradients had."""

from tenon import Tensor as Variable  # noqa: F401
