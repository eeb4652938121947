"""Lie groups of pypose."""

import pypose as pp
import torch

torch.manual_seed(0)
x = pp.randn_SO3(2, requires_grad=True)
print("so3", tuple(x.shape), float((x.Inv() @ x).Log().abs().sum()) < 1e-4)
