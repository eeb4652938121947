"""Image metrics: pytorch-msssim, piq."""

import piq
import torch
from pytorch_msssim import MS_SSIM, ssim

torch.manual_seed(0)
a, b = torch.rand(1, 3, 180, 180), torch.rand(1, 3, 180, 180)
print("ssim", ssim(a, b, data_range=1.0).item(), MS_SSIM(data_range=1.0)(a, b).item())
print("piq", piq.psnr(a, b).item(), piq.ssim(a, b).item(), piq.gmsd(a, b).item(), piq.total_variation(a).item())
