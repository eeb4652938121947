"""What programs do with Tenon, for mypy and pyright; test_typing.py runs both. Never executed."""

from typing import Iterator, List, Optional, Tuple

import tenon
from tenon import Tensor, nn, optim
from tenon.nn import functional as F
from tenon.utils.checkpoint import checkpoint
from tenon.utils.data import DataLoader, TensorDataset


def arithmetic(x: Tensor, y: Tensor) -> Tensor:
    z = (x + 1) * y / 2.0 - 3**x
    z = z @ y.t() if z.dim() == 2 else -z
    z[0] = 1.0
    z[x > 0] = y[0]
    z += x
    mask = (x < y) & ~(x == 0)
    return tenon.where(mask, z, x[:, None, ..., 0])


def reductions(x: Tensor) -> Tuple[float, List[float], int]:
    values, indices = x.max(dim=1)
    total = tenon.sum(x, dim=[0, 1], keepdim=True)
    return float(total.item()), values.tolist(), int(indices[0])


def shapes(x: Tensor) -> Tuple[int, ...]:
    rows: int = x.shape[0]
    columns: int = x.size(-1)
    y = x.reshape(rows, columns).view(-1).unsqueeze(0).expand(2, -1)
    first, second = tenon.chunk(y, 2)
    stacked = tenon.cat([first, second], dim=0).to(tenon.float64).to("cpu")
    parts = stacked.split(1)
    return tuple(parts[0].shape)


def factories(device: Optional[tenon.device] = None) -> Tensor:
    generator = tenon.Generator().manual_seed(0)
    x = tenon.randn(2, 3, generator=generator, device=device, requires_grad=True)
    y = tenon.zeros((2, 3), dtype=tenon.float32)
    z = tenon.tensor([[1.0, 2.0, 3.0]] * 2)
    return tenon.stack([x, y, z, tenon.ones_like(y), tenon.arange(6).view(2, 3).float()])


def gradients(x: Tensor) -> Optional[Tensor]:
    loss = (x.relu() ** 2).sum()
    loss.backward()
    with tenon.no_grad():
        x -= 0.1 * x
    (gradient,) = tenon.autograd.grad(x.sum(), [x])
    handle = x.register_hook(lambda g: g * 2)
    handle.remove()
    return x.grad


class Double(tenon.autograd.Function):
    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, grad: Tensor) -> Tensor:  # type: ignore[no-untyped-def]
        return grad * 2


class Network(nn.Module):
    def __init__(self, features: int) -> None:
        super().__init__()
        self.first = nn.Linear(features, 8)
        self.rest = nn.Sequential(nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x: Tensor) -> Tensor:
        hidden: Tensor = checkpoint(self.first, x, use_reentrant=False)
        return F.log_softmax(self.rest(hidden), dim=1)


def train(epochs: int) -> Iterator[float]:
    data = TensorDataset(tenon.randn(16, 4), tenon.randint(0, 2, (16,)))
    model = Network(4)
    optimizer = optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(epochs):
        for inputs, labels in DataLoader(data, batch_size=4, shuffle=True):
            optimizer.zero_grad()
            loss = F.nll_loss(model(inputs), labels)
            loss.backward()
            optimizer.step()
            yield float(loss.item())
    tenon.save(model.state_dict(), "model.pt")
    model.load_state_dict(tenon.load("model.pt"))


def operators_of_ones_own(x: Tensor) -> Tensor:
    ops = tenon.load_operators("operators.yaml")
    y: Tensor = ops.swiglu(x, x)
    return y + tenon.ops.aten.add(x, 1)
