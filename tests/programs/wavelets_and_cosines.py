"""Wavelets and cosine transforms: ptwt, pytorch_wavelets, torch_dct."""

import ptwt
import torch
import torch_dct
from pytorch_wavelets import DWTForward, DWTInverse

torch.manual_seed(0)
signal = torch.randn(1, 32, dtype=torch.float64)
coefficients = ptwt.wavedec(signal, "db2", level=2, mode="zero")
print("ptwt", [round(c.abs().sum().item(), 4) for c in coefficients])
print("back", round((ptwt.waverec(coefficients, "db2")[..., :32] - signal).abs().max().item(), 6))
image = torch.randn(1, 1, 16, 16)
low, high = DWTForward(J=2, wave="haar", mode="zero")(image)
print("dwt", round(low.sum().item(), 4), [round(h.abs().sum().item(), 3) for h in high])
print("idwt", round((DWTInverse(wave="haar", mode="zero")((low, high)) - image).abs().max().item(), 4))
x = torch.randn(2, 8)
print(
    "dct",
    [round(v, 4) for v in torch_dct.dct(x)[0].tolist()],
    round((torch_dct.idct(torch_dct.dct(x)) - x).abs().max().item(), 4),
)
print("dct2", round(torch_dct.dct_2d(image).abs().sum().item(), 3), round(torch_dct.dct1(x).sum().item(), 4))
