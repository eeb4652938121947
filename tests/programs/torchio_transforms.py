"""Transforms of torchio."""

import torch
import torchio as tio

torch.manual_seed(0)
s = tio.Subject(image=tio.ScalarImage(tensor=torch.rand(1, 8, 8, 8)))
t = tio.Compose([tio.ZNormalization(), tio.CropOrPad(6), tio.RescaleIntensity((0, 1))])
print("tio", t(s).image.data.sum().item())
