"""Optimizers: PyTorch's formulas, options and state dicts."""

from tenon.optim import lr_scheduler, swa_utils
from tenon.optim.adam import Adam, AdamW
from tenon.optim.optimizer import Optimizer
from tenon.optim.sgd import SGD

__all__ = ["Adam", "AdamW", "Optimizer", "SGD", "lr_scheduler", "swa_utils"]
