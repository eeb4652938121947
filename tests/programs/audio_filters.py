"""Audio: julius, nnAudio, asteroid-filterbanks."""

import julius
import torch
from asteroid_filterbanks import Encoder, FreeFB

torch.manual_seed(0)
x = torch.randn(1, 1, 800)
print(
    "julius",
    julius.lowpass_filter(x, 0.1).sum().item(),
    julius.resample_frac(x, 4, 5).shape[-1],
    julius.highpass_filter(x, 0.2).abs().sum().item(),
)
encoder = Encoder(FreeFB(n_filters=8, kernel_size=16, stride=8))
y = encoder(x)
y.sum().backward()
print("encoder", tuple(y.shape), y.sum().item())
from nnAudio.features import MelSpectrogram

print("mel", MelSpectrogram(sr=8000, n_fft=64, n_mels=8, hop_length=32, verbose=False)(x[0]).sum().item())
