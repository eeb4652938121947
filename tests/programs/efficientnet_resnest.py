"""Old model zoos: efficientnet-pytorch, resnest."""

import torch
from efficientnet_pytorch import EfficientNet
from resnest.torch import resnest50

torch.manual_seed(0)
model = EfficientNet.from_name("efficientnet-b0", override_params={"num_classes": 3})
model.eval()
print("efficientnet", model(torch.randn(1, 3, 32, 32)).sum().item())
net = resnest50(num_classes=2).eval()
print("resnest", net(torch.randn(1, 3, 64, 64)).sum().item())
