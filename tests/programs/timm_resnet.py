"""A ResNet of timm: training, features, a state dict."""

import timm
import torch

torch.manual_seed(0)
model = timm.create_model("resnet18", pretrained=False, num_classes=4)
x, y = torch.randn(2, 3, 64, 64), torch.tensor([1, 3])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for _ in range(3):
    loss = torch.nn.functional.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
features = timm.create_model("resnet18", pretrained=False, features_only=True)
print("features", [tuple(f.shape) for f in features(x)], sum(p.numel() for p in model.parameters()))
