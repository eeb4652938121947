"""CLIP of open_clip."""

import open_clip
import torch

torch.manual_seed(0)
model = open_clip.CLIP(
    embed_dim=16,
    vision_cfg={"image_size": 32, "layers": 1, "width": 32, "patch_size": 8, "head_width": 16},
    text_cfg={"context_length": 8, "vocab_size": 50, "width": 16, "heads": 2, "layers": 1},
)
img, txt = torch.randn(2, 3, 32, 32), torch.randint(1, 50, (2, 8))
a, b, s = model(img, txt)
loss = open_clip.ClipLoss()(a, b, s)
loss.backward()
print("clip", loss.item(), a.sum().item())
