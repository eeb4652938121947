"""tensorboardX's files, torch-lr-finder's search, torchensemble's ensembles and torchtnt's loop."""

import contextlib
import io
import logging
import os
import tempfile

import torch
from tensorboardX import SummaryWriter
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch_lr_finder import LRFinder
from torchensemble import BaggingClassifier, FusionClassifier, SnapshotEnsembleClassifier
from torchtnt.framework.auto_unit import AutoUnit
from torchtnt.framework.train import train
from torchtnt.utils import copy_data_to_device, get_module_summary, seed

logging.disable()
torch.manual_seed(0)
x = torch.randn(64, 5)
y = (x[:, 0] > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=16)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 2))

    def forward(self, x):
        return self.layers(x)


network = Network()
finder = LRFinder(network, torch.optim.SGD(network.parameters(), lr=1e-3), nn.CrossEntropyLoss(), device="cpu")
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    finder.range_test(loader, end_lr=1.0, num_iter=8)
finder.reset()
print(
    "finder", [round(value, 4) for value in finder.history["loss"]], [round(value, 4) for value in finder.history["lr"]]
)

folder = tempfile.mkdtemp()
writer = SummaryWriter(folder)
writer.add_scalar("loss", torch.tensor(0.5), 1)
writer.add_histogram("weights", network.layers[0].weight, 1)
writer.add_image("image", torch.rand(3, 4, 4), 1)
writer.add_embedding(torch.rand(4, 3), metadata=list("abcd"))
writer.close()
print("board", sorted(name.partition(".")[0] for name in os.listdir(folder))[:2])

seed(1)
for kind in (FusionClassifier, BaggingClassifier, SnapshotEnsembleClassifier):
    ensemble = kind(estimator=Network, n_estimators=2, cuda=False)
    ensemble.set_criterion(nn.CrossEntropyLoss())
    ensemble.set_optimizer("Adam", lr=1e-2)
    with contextlib.redirect_stdout(io.StringIO()):
        ensemble.fit(loader, epochs=2, save_model=False)
    print(kind.__name__, len(ensemble), ensemble.predict(x[:3]).sum(1).tolist())


class Unit(AutoUnit):
    losses = []

    def compute_loss(self, state, data):
        inputs, target = data
        output = self.module(inputs)
        return nn.functional.cross_entropy(output, target), output

    def configure_optimizers_and_lr_scheduler(self, module):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        return optimizer, torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)

    def on_train_step_end(self, state, data, step, results):
        self.losses.append(results.loss.item())


seed(0)
unit = Unit(module=Network(), clip_grad_norm=1.0, step_lr_interval="epoch")
train(unit, loader, max_epochs=2)
print(
    "unit",
    [round(value, 5) for value in unit.losses],
    unit.train_progress.num_steps_completed,
    unit.lr_scheduler.get_last_lr(),
)
summary = get_module_summary(network, module_args=(x,))
print("summary", summary.num_parameters, summary.flops_forward, len(summary.submodule_summaries))
print("copied", [part.shape for part in copy_data_to_device((x, {"y": y})[0:1], torch.device("cpu"))])
