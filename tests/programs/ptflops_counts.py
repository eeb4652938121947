"""Counts of ptflops."""

import torch
from ptflops import get_model_complexity_info

net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(8 * 36, 4)
)
print(
    "ptflops",
    get_model_complexity_info(net, (3, 8, 8), as_strings=False, print_per_layer_stat=False, backend="pytorch"),
)
