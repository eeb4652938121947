"""Optimizers: PyTorch's formulas, options and state dicts."""

from tenon.optim.adam import Adam, AdamW
from tenon.optim.optimizer import Optimizer
from tenon.optim.sgd import SGD

__all__ = ["Adam", "AdamW", "Optimizer", "SGD"]
