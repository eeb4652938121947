"""The autoencoder of diffusers and a UNet with conditions."""

import torch
from diffusers import AutoencoderKL, EulerDiscreteScheduler, UNet2DConditionModel

torch.manual_seed(0)
vae = AutoencoderKL(in_channels=3, out_channels=3, block_out_channels=(8, 16), layers_per_block=1, latent_channels=2, norm_num_groups=4,
                    down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)  # fmt: skip
x = torch.randn(1, 3, 16, 16)
z = vae.encode(x).latent_dist.mode()
print("vae", z.mean().item(), vae.decode(z).sample.std().item())
unet = UNet2DConditionModel(sample_size=8, in_channels=2, out_channels=2, layers_per_block=1, block_out_channels=(8, 16),
                            norm_num_groups=4, cross_attention_dim=8, attention_head_dim=4,
                            down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))  # fmt: skip
scheduler = EulerDiscreteScheduler(num_train_timesteps=50)
scheduler.set_timesteps(4)
latents, context = torch.randn(1, 2, 8, 8) * scheduler.init_noise_sigma, torch.randn(1, 3, 8)
with torch.no_grad():
    for t in scheduler.timesteps:
        noise = unet(scheduler.scale_model_input(latents, t), t, encoder_hidden_states=context).sample
        latents = scheduler.step(noise, t, latents).prev_sample
print("latents", latents.mean().item(), latents.std().item())
