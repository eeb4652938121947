"""segmentation-models-pytorch: a U-Net on a small encoder, its losses."""

import segmentation_models_pytorch as smp
import torch

torch.manual_seed(0)
model = smp.Unet("resnet18", encoder_weights=None, in_channels=3, classes=2, decoder_channels=(16, 8, 8, 8, 4))
x, y = torch.randn(2, 3, 32, 32), torch.randint(0, 2, (2, 32, 32))
for loss_function in (
    smp.losses.DiceLoss("multiclass"),
    smp.losses.FocalLoss("multiclass"),
    smp.losses.JaccardLoss("multiclass"),
):
    loss = loss_function(model(x), y)
    model.zero_grad()
    loss.backward()
    print(type(loss_function).__name__, loss.item())
tp, fp, fn, tn = smp.metrics.get_stats(model(x).argmax(1), y, mode="multiclass", num_classes=2)
print("iou", smp.metrics.iou_score(tp, fp, fn, tn, reduction="micro").item())
