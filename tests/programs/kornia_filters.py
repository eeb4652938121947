"""Filters, colours and geometry of kornia."""

import kornia
import torch

torch.manual_seed(0)
x = torch.rand(1, 3, 16, 16, requires_grad=True)
y = kornia.filters.gaussian_blur2d(x, (3, 3), (1.5, 1.5))
print("blur", y.sum().item(), kornia.filters.sobel(x).sum().item(), kornia.color.rgb_to_grayscale(x).mean().item())
print("hsv", kornia.color.rgb_to_hsv(x).mean().item(), kornia.geometry.transform.resize(x, (8, 8)).mean().item())
angle = torch.tensor([30.0])
print("rotated", kornia.geometry.transform.rotate(x, angle).sum().item(), kornia.losses.ssim_loss(x, y, 5).item())
y.sum().backward()
print("grad", x.grad.sum().item(), kornia.feature.harris_response(x).abs().sum().item())
