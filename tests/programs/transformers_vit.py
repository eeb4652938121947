"""ViT of transformers on images."""

import torch
from transformers import ViTConfig, ViTForImageClassification

torch.manual_seed(0)
model = ViTForImageClassification(ViTConfig(
    hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8, num_labels=5,
    hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0,
))  # fmt: skip
x, y = torch.randn(4, 3, 32, 32), torch.tensor([0, 1, 2, 3])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(4):
    loss = model(pixel_values=x, labels=y).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
