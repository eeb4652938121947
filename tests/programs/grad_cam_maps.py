"""Maps of pytorch-grad-cam."""

import torch
from pytorch_grad_cam import GradCAM, GradCAMPlusPlus
from pytorch_grad_cam.utils.model_targets import ClassifierOutputTarget

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.AdaptiveAvgPool2d(2), torch.nn.Flatten(), torch.nn.Linear(16, 3)).eval()
x = torch.randn(1, 3, 8, 8)
for kind in (GradCAM, GradCAMPlusPlus):
    print(kind.__name__, float(kind(model=net, target_layers=[net[0]])(input_tensor=x, targets=[ClassifierOutputTarget(1)]).sum()))
