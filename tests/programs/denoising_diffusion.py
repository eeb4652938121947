"""denoising-diffusion-pytorch."""

import torch
from denoising_diffusion_pytorch import GaussianDiffusion1D, Unet1D

torch.manual_seed(0)
model = Unet1D(dim=8, dim_mults=(1, 2), channels=4)
diffusion = GaussianDiffusion1D(model, seq_length=16, timesteps=20, objective="pred_v")
optimizer = torch.optim.Adam(diffusion.parameters(), lr=1e-3)
x = torch.rand(4, 4, 16)
for _ in range(3):
    loss = diffusion(x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
print("sample", tuple(diffusion.sample(batch_size=1).shape))
