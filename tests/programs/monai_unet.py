"""A UNet of MONAI with its loss, metric and transforms."""

import torch
from monai.losses import DiceLoss
from monai.metrics import DiceMetric
from monai.networks.nets import UNet
from monai.transforms import Compose, NormalizeIntensity, ScaleIntensity

torch.manual_seed(0)
net = UNet(spatial_dims=2, in_channels=1, out_channels=2, channels=(4, 8, 16), strides=(2, 2), num_res_units=1)
x, y = torch.randn(2, 1, 32, 32), torch.randint(0, 2, (2, 1, 32, 32))
loss_function = DiceLoss(to_onehot_y=True, softmax=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(3):
    loss = loss_function(net(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
metric = DiceMetric(include_background=True)
metric((net(x).argmax(1, keepdim=True) == 1).float(), y)
print("dice", metric.aggregate().item())
print("transformed", Compose([ScaleIntensity(), NormalizeIntensity()])(x[0]).std().item())
