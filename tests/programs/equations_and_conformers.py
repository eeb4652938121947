"""xitorch's solvers with gradients, and conformer's blocks."""

import torch
from conformer import Conformer, ConformerBlock
from xitorch import LinearOperator
from xitorch.integrate import quad, solve_ivp
from xitorch.interpolate import Interp1D
from xitorch.linalg import lsymeig, solve, symeig
from xitorch.optimize import equilibrium, minimize, rootfinder

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)


def filled(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return module.eval()


x = torch.randn(2, 12, 8, generator=generator)
block = filled(ConformerBlock(dim=8, dim_head=4, heads=2, ff_mult=2, conv_expansion_factor=2, conv_kernel_size=5))
print(
    "block",
    block(x).square().mean().item(),
    filled(Conformer(dim=8, depth=2, dim_head=4, heads=2, conv_kernel_size=5))(x).shape,
)

a = torch.randn(4, 4, generator=generator, dtype=torch.float64)
matrix = (a @ a.T + 4 * torch.eye(4, dtype=torch.float64)).requires_grad_()
operator = LinearOperator.m(matrix, is_hermitian=True)
b = torch.randn(4, 2, generator=generator, dtype=torch.float64)
solution = solve(operator, b, method="cg")
solution.sum().backward()
print("solve", (matrix @ solution - b).abs().max().item() < 1e-6, matrix.grad.norm().item())
values, vectors = symeig(operator, neig=2, mode="lowest", method="exacteig")
print("eigen", values.tolist(), lsymeig(operator, 1)[0].tolist())
scale = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
root = rootfinder(lambda y, s: y**3 + y - s, torch.ones(2, dtype=torch.float64), params=(scale,), method="broyden1")
root.sum().backward()
print("root", root.tolist(), scale.grad.tolist())
fixed = equilibrium(lambda y, s: torch.cos(y) * s / 4, torch.zeros(2, dtype=torch.float64), params=(scale.detach(),))
print("fixed", fixed.tolist())
least = minimize(
    lambda y, s: ((y - s) ** 2).sum(), torch.zeros(2, dtype=torch.float64), params=(scale.detach(),), method="broyden1"
)
print("least", least.tolist())
times = torch.linspace(0, 1, 5, dtype=torch.float64)
rate = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
path = solve_ivp(lambda t, y, k: -k * y, times, torch.ones(1, dtype=torch.float64), params=(rate,), method="rk45")
path[-1].sum().backward()
print("path", path.flatten().tolist(), rate.grad.item())
integral = quad(lambda t, k: torch.exp(-k * t), 0.0, 1.0, params=(rate.detach(),))
print("integral", integral.item())
print(
    "interpolated", Interp1D(times, times**2, method="cspline")(torch.tensor([0.1, 0.6], dtype=torch.float64)).tolist()
)
