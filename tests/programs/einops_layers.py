"""einops: rearrange, reduce, repeat, einsum, layers."""

import torch
from einops import einsum, pack, rearrange, reduce, repeat
from einops.layers.torch import EinMix, Rearrange, Reduce

torch.manual_seed(0)
x = torch.randn(2, 3, 8, 8, requires_grad=True)
y = rearrange(x, "b c (h p) (w q) -> b (h w) (c p q)", p=4, q=4)
print(
    "rearranged",
    tuple(y.shape),
    reduce(y, "b n c -> b", "mean").tolist(),
    repeat(y[0, 0, :2], "c -> (c k)", k=2).tolist(),
)
net = torch.nn.Sequential(
    Rearrange("b c h w -> b h w c"),
    EinMix("b h w c -> b h w d", weight_shape="c d", bias_shape="d", c=3, d=5),
    Reduce("b h w d -> b d", "max"),
)
out = net(x)
out.sum().backward()
print("net", out.sum().item(), x.grad.abs().sum().item())
packed, shapes = pack([torch.ones(2, 3), torch.zeros(2)], "b *")
print("packed", tuple(packed.shape), einsum(y, y, "b n c, b m c -> b n m").sum().item())
