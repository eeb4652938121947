"""timm: features by torch.fx, and other families of models."""

import timm
import torch

torch.manual_seed(0)
image = torch.randn(1, 3, 64, 64)
graph = timm.create_model("resnet18", features_only=True, feature_cls="fx", out_indices=(1, 3))
print("fx", [(tuple(f.shape), round(f.mean().item(), 4)) for f in graph.eval()(image)])
for name in (
    "convnext_atto",
    "efficientnet_b0",
    "mobilenetv3_small_050",
    "regnetx_002",
    "ghostnet_050",
    "repvgg_a0",
    "mixer_s32_224",
):
    options = {"img_size": 64} if "mixer" in name else {}
    model = timm.create_model(name, num_classes=5, **options).eval()
    print(name, sum(p.numel() for p in model.parameters()), [round(v, 4) for v in model(image)[0].tolist()])
