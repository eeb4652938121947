"""vector-quantize-pytorch: quantizers of several kinds."""

import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

torch.manual_seed(0)
x = torch.randn(1, 32, 16)
vq = VectorQuantize(dim=16, codebook_size=32, decay=0.8, commitment_weight=1.0)
out, indices, loss = vq(x)
print("vq", out.sum().item(), indices.sum().item(), loss.item())
out, indices, losses = ResidualVQ(dim=16, num_quantizers=3, codebook_size=16)(x)
print("residual", out.sum().item(), losses.sum().item())
out, indices = FSQ([8, 5, 5, 5])(torch.randn(1, 10, 4))
print("fsq", out.sum().item(), indices.tolist())
out, indices, entropy = LFQ(codebook_size=16, dim=4)(torch.randn(1, 10, 4))
print("lfq", out.sum().item(), entropy.item())
