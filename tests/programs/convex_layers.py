"""cvxpylayers: convex programs as layers, with gradients of their solutions."""

import cvxpy as cp
import torch
from cvxpylayers.torch import CvxpyLayer

n, m = 2, 3
x, a, b = cp.Variable(n), cp.Parameter((m, n)), cp.Parameter(m)
problem = cp.Problem(cp.Minimize(cp.sum_squares(a @ x - b) + 0.1 * cp.norm(x, 1)), [x >= 0])
layer = CvxpyLayer(problem, parameters=[a, b], variables=[x])
generator = torch.Generator().manual_seed(0)
a_value = torch.randn(m, n, generator=generator, dtype=torch.float64, requires_grad=True)
b_value = torch.randn(m, generator=generator, dtype=torch.float64, requires_grad=True)
(solution,) = layer(a_value, b_value)
solution.sum().backward()
print("solution", solution.tolist(), a_value.grad.tolist(), b_value.grad.tolist())
batch = torch.randn(4, m, generator=generator, dtype=torch.float64)
(solutions,) = layer(a_value.detach(), batch)
print("batch", solutions.tolist())
y, p = cp.Variable(3), cp.Parameter(3)
simplex = CvxpyLayer(cp.Problem(cp.Minimize(cp.sum_squares(y - p)), [cp.sum(y) == 1, y >= 0]), [p], [y])
point = torch.tensor([0.3, 1.2, -0.4], dtype=torch.float64, requires_grad=True)
projected = simplex(point)[0]
projected[0].backward()
print("simplex", projected.tolist(), point.grad.tolist())
