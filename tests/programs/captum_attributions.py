"""Attributions of captum."""

import torch
from captum.attr import DeepLift, FeatureAblation, IntegratedGradients, LayerGradCam, Occlusion, Saliency

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
x = torch.randn(4, 6, requires_grad=True)
for method in (IntegratedGradients, Saliency, DeepLift, FeatureAblation):
    print(method.__name__, method(net).attribute(x, target=1).sum().item())
conv = torch.nn.Sequential(
    torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 64, 2)
)
image = torch.randn(2, 1, 8, 8)
print("cam", LayerGradCam(conv, conv[0]).attribute(image, target=0).sum().item())
print("occlusion", Occlusion(conv).attribute(image, sliding_window_shapes=(1, 2, 2), target=1).abs().sum().item())
