"""ViT and ConvNeXt of timm, their optimizers and schedules."""

import timm
import timm.optim
import torch

torch.manual_seed(0)
x = torch.randn(4, 3, 64, 64)
for name, options in (("vit_tiny_patch16_224", {"img_size": 64}), ("convnext_atto", {}), ("mobilenetv3_small_050", {})):
    model = timm.create_model(name, pretrained=False, num_classes=3, **options)
    optimizer = timm.optim.create_optimizer_v2(model, opt="adamw", lr=1e-3, weight_decay=0.01)
    for _ in range(2):
        loss = torch.nn.functional.cross_entropy(model(x), torch.tensor([0, 2, 1, 1]))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(name, loss.item())
