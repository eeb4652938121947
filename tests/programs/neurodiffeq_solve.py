"""A differential equation solved by a network, with neurodiffeq and deepxde."""

import os

import torch
from neurodiffeq import diff
from neurodiffeq.conditions import IVP
from neurodiffeq.solvers import Solver1D

torch.manual_seed(0)
solver = Solver1D(lambda u, t: [diff(u, t) + u], [IVP(0.0, 1.0)], t_min=0.0, t_max=1.0)
solver.fit(max_epochs=3, tqdm_file=None)
print("loss", solver.metrics_history["train_loss"][-1] < 10)
os.environ["DDE_BACKEND"] = "pytorch"
import deepxde as dde

dde.config.set_random_seed(0)
geometry = dde.geometry.Interval(0, 1)
pde = lambda x, y: dde.grad.hessian(y, x) + 1  # noqa: E731
data = dde.data.PDE(geometry, pde, dde.icbc.DirichletBC(geometry, lambda x: 0, lambda _, on: on), 8, 2)
model = dde.Model(data, dde.nn.FNN([1, 8, 1], "tanh", "Glorot uniform"))
model.compile("adam", lr=1e-2, verbose=0)
history, _ = model.train(iterations=5, verbose=0)
print("steps", history.steps)
