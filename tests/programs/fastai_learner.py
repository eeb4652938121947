"""fastai's learner on tensors."""

import torch
from fastai.callback.schedule import *  # noqa: F403  gives the learner fit_one_cycle
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
from fastai.losses import CrossEntropyLossFlat
from fastai.metrics import accuracy

torch.manual_seed(0)
x = torch.randn(64, 5)
data = list(zip(x, (x.sum(1) > 0).long()))
loaders = DataLoaders(DataLoader(data, bs=16), DataLoader(data, bs=32))
learner = Learner(
    loaders,
    torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)),
    loss_func=CrossEntropyLossFlat(),
    metrics=accuracy,
)
with learner.no_bar(), learner.no_logging():
    learner.fit_one_cycle(3, 1e-2)
print("metrics", [float(v) for v in learner.validate()])
