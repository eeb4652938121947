"""Optimizers: PyTorch's formulas, options and state dicts."""

from tenon.optim import lr_scheduler, swa_utils
from tenon.optim.adadelta import Adadelta
from tenon.optim.adafactor import Adafactor
from tenon.optim.adagrad import Adagrad
from tenon.optim.adam import Adam
from tenon.optim.adamax import Adamax
from tenon.optim.adamw import AdamW
from tenon.optim.asgd import ASGD
from tenon.optim.lbfgs import LBFGS
from tenon.optim.muon import Muon
from tenon.optim.nadam import NAdam
from tenon.optim.optimizer import Optimizer
from tenon.optim.radam import RAdam
from tenon.optim.rmsprop import RMSprop
from tenon.optim.rprop import Rprop
from tenon.optim.sgd import SGD
from tenon.optim.sparseadam import SparseAdam

__all__ = [
    "ASGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "LBFGS",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SGD",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
