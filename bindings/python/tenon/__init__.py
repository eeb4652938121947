"""Tenon: tensors with generated operators; names and semantics are PyTorch's."""

from tenon import _C
from tenon._C import *  # noqa: F403
from tenon._C import Tensor  # what type checkers see
