"""lion-pytorch, adabelief-pytorch, madgrad, prodigyopt, schedulefree, adam-atan2-pytorch, ema-pytorch, torch-ema."""

import contextlib
import io

import torch
from adabelief_pytorch import AdaBelief
from adam_atan2_pytorch import AdamAtan2
from ema_pytorch import EMA
from lion_pytorch import Lion
from madgrad import MADGRAD
from prodigyopt import Prodigy
from schedulefree import AdamWScheduleFree
from torch_ema import ExponentialMovingAverage

for name, make in {
    "lion": lambda p: Lion(p, lr=1e-3),
    "adabelief": lambda p: AdaBelief(p, lr=1e-3, print_change_log=False),
    "madgrad": lambda p: MADGRAD(p, lr=1e-2),
    "prodigy": lambda p: Prodigy(p, lr=1.0),
    "schedulefree": lambda p: AdamWScheduleFree(p, lr=1e-2),
    "atan2": lambda p: AdamAtan2(p, lr=1e-3),
}.items():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    with contextlib.redirect_stdout(io.StringIO()):
        optimizer = make(net.parameters())
    if hasattr(optimizer, "train"):
        optimizer.train()
    ema, averaged = (
        EMA(net, beta=0.9, update_after_step=0, update_every=1),
        ExponentialMovingAverage(net.parameters(), decay=0.9),
    )
    x = torch.randn(16, 4)
    for _ in range(6):
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update()
        averaged.update()
    print(name, loss.item(), ema(x).sum().item(), averaged.shadow_params[0].sum().item())
