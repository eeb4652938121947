"""Hyperdimensional vectors and networks of splines: torchhd, pykan."""

import torch
import torchhd
from kan import KAN

torch.manual_seed(0)
a, b = torchhd.random(2, 256)
bound = torchhd.bind(a, b)
print(
    "cosine",
    round(torchhd.cosine_similarity(torchhd.bind(bound, a.inverse()), b).item(), 3),
    torchhd.bundle(a, b).abs().sum().item(),
)
print(
    "permute",
    torch.equal(torchhd.permute(torchhd.permute(a, shifts=3), shifts=-3), a),
    torchhd.dot_similarity(a, b).item(),
)
levels = torchhd.embeddings.Level(5, 64)
print("levels", tuple(levels(torch.tensor([0.0, 0.5, 1.0])).shape), type(bound).__name__)
print(torchhd.multiset(torchhd.random(4, 64)).sum().item(), torchhd.ngrams(torchhd.random(4, 64), n=2).sum().item())
x = torch.rand(64, 2) * 2 - 1
y = torch.sin(3 * x[:, :1]) + x[:, 1:] ** 2
model = KAN(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False)
before = torch.nn.functional.mse_loss(model(x), y).item()
model.fit(
    {"train_input": x, "train_label": y, "test_input": x, "test_label": y},
    opt="LBFGS",
    steps=3,
    log=10,
    update_grid=False,
)
print("kan", torch.nn.functional.mse_loss(model(x), y).item() < before)
