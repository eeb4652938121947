"""Tensors: made, looked at, changed, combined, and shared with numpy."""

import numpy as np

rows = torch.tensor([[3, 1, 2], [9, 7, 8]])
print(rows.dtype == torch.int64, rows.shape[0], rows.ndim, rows.device)
print(torch.from_numpy(np.linspace(0, 1, 5)))
print(torch.zeros_like(rows, dtype=torch.float32), torch.full((2,), 7), torch.eye(2))

torch.manual_seed(7)
x = torch.rand(4, 3)
print(x)
print(x[0], x[:, -1], x[1:3, ::2], x[x > 0.5], x[[0, 2]])
x[1] = 0
x[:, 2] += 10
print(x)

wide = torch.cat([x, x], dim=1)
print(wide.shape[1], torch.stack([x, x]).shape[0], wide.split(2, dim=1)[0].shape[1])
print(x @ x.T)
print(torch.matmul(x, torch.ones(3)), x * x, x.sum(), x.sum().item() > 0)
print(x.mean(dim=0), x.max(dim=1).values, x.argmax(dim=1), x.std(0))
print(x.view(3, 4).t().is_contiguous(), x.reshape(-1)[:4], x.unsqueeze(0).permute(2, 0, 1).shape[0])

array = x.numpy()
array[0] = -1
print(x[0])
ones = torch.ones(3)
ones.add_(1)
np.multiply(ones.numpy(), 2, out=ones.numpy())
print(ones, ones.double().dtype == torch.float64, ones.int().tolist())
print(torch.arange(6).reshape(2, 3) + torch.tensor([10, 20, 30]))
