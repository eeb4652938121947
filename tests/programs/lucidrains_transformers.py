"""vit-pytorch, performer, reformer, linear attention, local attention, rotary embeddings."""

import torch
from linear_attention_transformer import LinearAttentionTransformerLM
from local_attention import LocalAttention
from perceiver_pytorch import Perceiver
from performer_pytorch import PerformerLM
from reformer_pytorch import ReformerLM
from rotary_embedding_torch import RotaryEmbedding
from vit_pytorch import SimpleViT, ViT

torch.manual_seed(0)
image, ids = torch.randn(2, 3, 32, 32), torch.randint(0, 32, (1, 32))
for make in (ViT, SimpleViT):
    net = make(image_size=32, patch_size=8, num_classes=4, dim=16, depth=1, heads=2, mlp_dim=32)
    out = net(image)
    out.sum().backward()
    print(make.__name__, out.sum().item())
print("performer", PerformerLM(num_tokens=32, max_seq_len=32, dim=16, depth=1, heads=2, dim_head=8)(ids).shape)
print("reformer", ReformerLM(num_tokens=32, dim=16, depth=1, max_seq_len=32, heads=2, bucket_size=8)(ids).shape)
print("linear", LinearAttentionTransformerLM(num_tokens=32, dim=16, heads=2, depth=1, max_seq_len=32)(ids).sum().item())
q = torch.randn(1, 2, 32, 8)
print("local", LocalAttention(window_size=8, causal=True, dim=8)(q, q, q).sum().item())
print("rotary", RotaryEmbedding(dim=8).rotate_queries_or_keys(q).sum().item())
perceiver = Perceiver(input_channels=3, input_axis=2, num_freq_bands=2, max_freq=4.0, depth=1, num_latents=4, latent_dim=8,
                      cross_heads=1, latent_heads=1, cross_dim_head=4, latent_dim_head=4, num_classes=3)  # fmt: skip
print("perceiver", perceiver(torch.randn(1, 8, 8, 3)).sum().item())
