"""Models and transforms of torchvision."""

import torch
import torchvision
from torchvision import transforms

torch.manual_seed(0)
model = torchvision.models.resnet18(num_classes=3)
x = torch.randn(4, 3, 96, 96)
loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 1, 2, 1]))
loss.backward()
print("loss", loss.item(), model.conv1.weight.grad.abs().sum().item())
print("normalized", transforms.Normalize([0.5] * 3, [0.2] * 3)(x).mean().item())
