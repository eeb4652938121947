"""Packages of lucidrains: memories, soft mixtures of experts and enformer."""

import torch
from enformer_pytorch import Enformer, seq_indices_to_one_hot
from soft_moe_pytorch import SoftMoE
from titans_pytorch import NeuralMemory
from x_unet import XUnet

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)


def filled(module, scale=0.1):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * scale)
    return module


x = torch.randn(2, 16, 8, generator=generator)
memory = filled(NeuralMemory(dim=8, chunk_size=4), 0.3)
retrieved, state = memory(x)
print("memory", retrieved.shape, retrieved.square().mean().item(), state.seq_index)
retrieved.sum().backward()
print("gradient", sum(p.grad.norm().item() for p in memory.parameters() if p.grad is not None))
soft = filled(SoftMoE(dim=8, seq_len=16, num_experts=4))
print("soft", soft(x).square().mean().item())
enformer = filled(
    Enformer.from_hparams(
        dim=384, depth=1, heads=4, output_heads=dict(human=5), target_length=2, num_downsamples=5, attn_dim_key=8
    )
).eval()
sequence = torch.randint(0, 5, (1, 256), generator=generator)
print("one hot", seq_indices_to_one_hot(sequence).sum().item())
with torch.no_grad():
    print("enformer", enformer(sequence)["human"].shape)
unet = filled(
    XUnet(
        dim=8,
        channels=3,
        dim_mults=(1, 2),
        nested_unet_depths=(1, 1),
        num_blocks_per_stage=(1, 1),
        num_self_attn_per_stage=(0, 0),
        consolidate_upsample_fmaps=True,
    )
)
with torch.no_grad():
    print("unet", unet(torch.randn(1, 3, 16, 16, generator=generator)).square().mean().item())
