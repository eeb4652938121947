"""torchani: environments of atoms, energies of small networks, forces and vibrations."""

import torch
import torchani

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)
species = torch.tensor([[0, 1, 1, 1, 1]])
positions = torch.tensor(
    [[[0.03, 0.006, 0.01], [-0.83, 0.39, -0.26], [-0.66, -0.84, 0.2], [0.45, 0.54, 0.87], [0.75, -0.1, -0.9]]]
)
coordinates = positions.clone().requires_grad_()
computer = torchani.AEVComputer.like_2x(num_species=2)
vectors = computer(species, coordinates)
print("environments", vectors.shape, vectors.sum().item())
vectors.square().sum().backward()
print("gradient", coordinates.grad.norm().item())
networks = {symbol: torchani.nn.AtomicNetwork((128, 16, 1), activation="celu") for symbol in ("C", "H")}
with torch.no_grad():
    for network in networks.values():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.1)
model = torchani.nn.ANINetworks(networks)
energy = model(species, computer(species, coordinates))
forces = -torch.autograd.grad(energy.sum(), coordinates, create_graph=True)[0]
forces.square().sum().backward()
print(
    "energy",
    energy.tolist(),
    forces.norm().item(),
    sum(p.grad.norm().item() for p in model.parameters() if p.grad is not None),
)
print("atoms", model(species, computer(species, coordinates), atomic=True).tolist())
