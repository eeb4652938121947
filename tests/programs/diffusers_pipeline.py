"""A pipeline of diffusers."""

import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel

torch.manual_seed(0)
m = UNet2DModel(
    sample_size=8,
    in_channels=3,
    out_channels=3,
    layers_per_block=1,
    block_out_channels=(8, 8),
    norm_num_groups=4,
    down_block_types=("DownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "UpBlock2D"),
)
pipe = DDPMPipeline(m, DDPMScheduler(num_train_timesteps=10))
pipe.set_progress_bar_config(disable=True)
out = pipe(batch_size=1, generator=torch.Generator().manual_seed(0), num_inference_steps=3, output_type="np").images
print("pipe", out.shape, float(out.mean()))
