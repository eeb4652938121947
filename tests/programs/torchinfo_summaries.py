"""Summaries and counts: torchinfo, torchsummary, thop, fvcore."""

import contextlib
import io

import thop
import torch
import torchinfo
import torchsummary
from fvcore.nn import parameter_count

net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4)
)
info = torchinfo.summary(net, (1, 3, 8, 8), verbose=0)
print("torchinfo", info.total_params, info.total_mult_adds)
with contextlib.redirect_stdout(io.StringIO()) as text:
    torchsummary.summary(net, (3, 8, 8), device="cpu")
print("torchsummary", "Conv2d-1" in text.getvalue())
print("thop", thop.profile(net, (torch.randn(1, 3, 8, 8),), verbose=False))
print("fvcore", parameter_count(net)[""])
