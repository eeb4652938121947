"""neuraloperator: Fourier layers on grids, losses of Sobolev spaces, and a step of training."""

import torch
from neuralop.layers.fno_block import FNOBlocks
from neuralop.layers.spectral_convolution import SpectralConv
from neuralop.losses import H1Loss, LpLoss
from neuralop.models import FNO, UNO

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)


def filled(module):
    with torch.no_grad():
        for parameter in module.parameters():
            scale = 0.3 / max(parameter.shape) ** 0.5
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=parameter.dtype) * scale)
    return module


x = torch.randn(2, 1, 16, 16, generator=generator)
layer = filled(SpectralConv(1, 3, n_modes=(6, 6)))
print("layer", layer(x).shape, layer(x).square().mean().item(), layer.transform(x).shape)
for settings in ({}, {"factorization": "tucker", "rank": 0.5}, {"factorization": "cp", "rank": 0.5}):
    model = filled(FNO(n_modes=(6, 6), hidden_channels=8, in_channels=1, out_channels=1, n_layers=2, **settings))
    output = model(x)
    print("model", settings, output.shape, output.square().mean().item())
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
norm, sobolev = LpLoss(d=2, p=2), H1Loss(d=2)
target = torch.sin(x)
for _ in range(3):
    optimizer.zero_grad()
    loss = sobolev(model(x), target)
    loss.backward()
    optimizer.step()
    print("loss", loss.item(), norm(model(x), target).item())
blocks = filled(FNOBlocks(2, 2, n_modes=(4, 4), n_layers=1, norm="instance_norm"))
print("blocks", blocks(torch.randn(1, 2, 8, 8, generator=generator)).shape)
print("finer", model(torch.randn(1, 1, 24, 24, generator=generator)).shape)
shapes = UNO(
    in_channels=1, out_channels=1, hidden_channels=8, uno_out_channels=[8, 8, 8], uno_n_modes=[[4, 4]] * 3,
    uno_scalings=[[1.0, 1.0], [0.5, 0.5], [2.0, 2.0]], n_layers=3, channel_mlp_skip="linear",
)(x).shape  # fmt: skip
print("levels", shapes)
