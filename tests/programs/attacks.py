"""Adversarial attacks: torchattacks, foolbox, advertorch."""

import foolbox
import torch
import torchattacks
from advertorch.attacks import GradientSignAttack

torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 3)).eval()
x, y = torch.rand(2, 3, 8, 8), torch.tensor([0, 1])
for name in ("FGSM", "PGD", "BIM"):
    print(name, getattr(torchattacks, name)(net)(x, y).sum().item() if name != "PGD" else torchattacks.PGD(net, random_start=False)(x, y).sum().item())
attacked = foolbox.attacks.LinfFastGradientAttack(random_start=False)
_, clipped, success = attacked(foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu"), x, y, epsilons=0.05)
print("foolbox", clipped.sum().item(), success.tolist())
print("advertorch", GradientSignAttack(net, eps=0.1).perturb(x, y).sum().item())
