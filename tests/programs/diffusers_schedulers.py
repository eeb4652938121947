"""Steps from noise to images: the schedulers of diffusers."""

import diffusers
import torch

torch.manual_seed(0)
sample = torch.randn(1, 2, 4, 4)
for name in (
    "DDPMScheduler", "DDIMScheduler", "PNDMScheduler", "EulerDiscreteScheduler", "EulerAncestralDiscreteScheduler", "HeunDiscreteScheduler",
    "LMSDiscreteScheduler", "DPMSolverMultistepScheduler", "DPMSolverSinglestepScheduler", "UniPCMultistepScheduler", "KDPM2DiscreteScheduler",
    "DEISMultistepScheduler", "FlowMatchEulerDiscreteScheduler", "LCMScheduler", "SASolverScheduler", "DDIMInverseScheduler",
):  # fmt: skip
    scheduler = getattr(diffusers, name)()
    scheduler.set_timesteps(6)
    x, generator = sample * float(getattr(scheduler, "init_noise_sigma", 1.0)), torch.Generator().manual_seed(0)
    drawn = name in ("DDPMScheduler", "EulerAncestralDiscreteScheduler", "LCMScheduler", "SASolverScheduler")
    for t in scheduler.timesteps:
        given = scheduler.scale_model_input(x, t) if hasattr(scheduler, "scale_model_input") else x
        x = scheduler.step(given * 0.1, t, x, **({"generator": generator} if drawn else {})).prev_sample
    shown = tuple(x.shape) if drawn else round(x.abs().mean().item(), 3)
    print(name, len(scheduler.timesteps), [round(float(t), 2) for t in scheduler.timesteps[:3]], shown)
scheduler = diffusers.DDPMScheduler(beta_schedule="squaredcos_cap_v2", prediction_type="v_prediction")
noisy = scheduler.add_noise(sample, torch.ones_like(sample), torch.tensor([500]))
print(
    "noise",
    round(noisy.sum().item(), 3),
    round(scheduler.get_velocity(sample, noisy, torch.tensor([500])).sum().item(), 3),
)
print("ema", diffusers.training_utils.EMAModel([torch.nn.Parameter(torch.ones(2))]).get_decay(10))
