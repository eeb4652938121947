"""A UNet of diffusers denoises with DDPM and DDIM."""

import torch
from diffusers import DDIMScheduler, DDPMScheduler, UNet2DModel

torch.manual_seed(0)
model = UNet2DModel(
    sample_size=16, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 16), norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"),
)  # fmt: skip
scheduler = DDPMScheduler(num_train_timesteps=50)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
x = torch.randn(4, 1, 16, 16)
for _ in range(4):
    noise, t = torch.randn(x.shape), torch.randint(0, 50, (4,))
    loss = torch.nn.functional.mse_loss(model(scheduler.add_noise(x, noise, t), t).sample, noise)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print("loss", loss.item())
ddim = DDIMScheduler(num_train_timesteps=50)
ddim.set_timesteps(5)
sample = torch.randn(1, 1, 16, 16)
with torch.no_grad():
    for t in ddim.timesteps:
        sample = ddim.step(model(sample, t).sample, t, sample).prev_sample
print("sample", sample.mean().item(), sample.std().item())
