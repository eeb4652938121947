"""Adversarial attacks: torchattacks, foolbox."""

import foolbox
import torch
import torchattacks

torch.manual_seed(0)
net = torch.nn.Sequential(
    torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 3)
).eval()
x, y = torch.rand(2, 3, 8, 8), torch.tensor([0, 1])
for attack in (torchattacks.FGSM(net), torchattacks.PGD(net, random_start=False), torchattacks.BIM(net)):
    print(type(attack).__name__, attack(x, y).sum().item())
attacked = foolbox.attacks.LinfFastGradientAttack(random_start=False)
_, clipped, success = attacked(foolbox.PyTorchModel(net, bounds=(0, 1), device="cpu"), x, y, epsilons=0.05)
print("foolbox", clipped.sum().item(), success.tolist())
