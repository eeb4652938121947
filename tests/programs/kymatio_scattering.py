"""Scattering transforms and wavelets: kymatio, pytorch_wavelets."""

import torch
from kymatio.torch import Scattering1D, Scattering2D

torch.manual_seed(0)
print("1d", Scattering1D(J=3, shape=64, Q=2)(torch.randn(2, 64)).sum().item())
print("2d", Scattering2D(J=2, shape=(16, 16))(torch.randn(1, 16, 16)).sum().item())
