"""Laplace approximations of laplace-torch."""

import torch
from laplace import Laplace

torch.manual_seed(0)
X, y = torch.randn(20, 2), torch.randint(0, 2, (20,))
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=10)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
la = Laplace(net, "classification", subset_of_weights="last_layer", hessian_structure="diag")
la.fit(loader)
print("la", la(X[:2]).tolist())
