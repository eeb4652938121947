"""Losses of images and sounds: lpips, auraloss, kornia."""

import auraloss
import kornia
import lpips
import torch

torch.manual_seed(0)
loss = lpips.LPIPS(net="alex", pretrained=False, pnet_rand=True, verbose=False).eval()
a, b = torch.rand(1, 3, 64, 64) * 2 - 1, torch.rand(1, 3, 64, 64) * 2 - 1
print("lpips", round(loss(a, b).item(), 4), round(loss(a, a).item(), 4))
x, y = torch.randn(2, 1, 4096), torch.randn(2, 1, 4096)
print(
    "stft",
    round(auraloss.freq.STFTLoss()(x, y).item(), 4),
    round(auraloss.freq.MultiResolutionSTFTLoss()(x, y).item(), 4),
)
print("time", round(auraloss.time.SISDRLoss()(x, y).item(), 4), round(auraloss.time.ESRLoss()(x, y).item(), 4))
print(
    "ssim", round(kornia.losses.ssim_loss(a, b, 5).item(), 4), round(kornia.losses.total_variation(a).sum().item(), 2)
)
logits, target = torch.randn(2, 3, 4, 4), torch.randint(0, 3, (2, 4, 4))
print("focal", round(kornia.losses.focal_loss(logits, target, 0.5, reduction="mean").item(), 4))
print("dice", round(kornia.losses.dice_loss(logits, target).item(), 4))
