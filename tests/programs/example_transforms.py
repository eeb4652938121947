"""In the style of PyTorch's tutorials: per-sample gradients, Jacobians and Hessians, an ensemble, a neural tangent kernel, MAML."""

import torch
from torch import nn, vmap
from torch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, stack_module_state, vjp

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 4 * 4, 10)

    def forward(self, x):
        x = torch.nn.functional.max_pool2d(self.conv(x).relu(), 2)
        return torch.nn.functional.log_softmax(self.fc(x.flatten(1)), dim=1)


net, images, labels = Net(), torch.randn(8, 1, 10, 10), torch.randint(10, (8,))
params = {name: p.detach() for name, p in net.named_parameters()}
buffers = {name: b.detach() for name, b in net.named_buffers()}


def loss(params, buffers, image, label):
    output = functional_call(net, (params, buffers), (image.unsqueeze(0),))
    return torch.nn.functional.nll_loss(output, label.unsqueeze(0))


grads = vmap(grad(loss), in_dims=(None, None, 0, 0))(params, buffers, images, labels)
print("per sample", {name: (tuple(g.shape), round(g.norm().item(), 4)) for name, g in grads.items()})
by_one = [grad(loss)(params, buffers, image, label) for image, label in zip(images, labels)]
print("as one by one", all(torch.allclose(g, torch.stack([o[n] for o in by_one]), atol=1e-5) for n, g in grads.items()))
values = vmap(grad_and_value(loss), in_dims=(None, None, 0, 0))(params, buffers, images, labels)[1]
print("losses", [round(v, 4) for v in values.tolist()])

weight, bias, x = torch.randn(3, 4), torch.randn(3), torch.randn(4)


def predict(x):
    return (weight @ x + bias).tanh()


print("jacobians", torch.allclose(jacrev(predict)(x), jacfwd(predict)(x), atol=1e-6), jacrev(predict)(x).sum().item())
print("hessian", hessian(lambda x: predict(x).sum())(x).diagonal().tolist())
print("batched", vmap(jacrev(predict))(torch.randn(5, 4)).square().sum().item())
out, vjp_fn = vjp(predict, x)
print("vjp", vjp_fn(torch.ones(3))[0].tolist(), "jvp", jvp(predict, (x,), (torch.ones(4),))[1].tolist())

models = [nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2)) for _ in range(3)]
stacked, stacked_buffers = stack_module_state(models)


def ensemble(params, buffers, x):
    return functional_call(models[0], (params, buffers), (x,))


data = torch.randn(6, 4)
print("ensemble", vmap(ensemble, in_dims=(0, 0, None))(stacked, stacked_buffers, data).square().sum((1, 2)).tolist())


def kernel(params, one, two):
    """The neural tangent kernel of two samples."""
    call = lambda params, x: functional_call(models[0], params, (x.unsqueeze(0),)).squeeze(0)  # noqa: E731
    first = vmap(jacrev(call), (None, 0))(params, one)
    second = vmap(jacrev(call), (None, 0))(params, two)
    return sum(
        torch.einsum("naf,mbf->nmab", a.flatten(2), b.flatten(2)) for a, b in zip(first.values(), second.values())
    )


print("tangent kernel", kernel(dict(models[0].named_parameters()), data[:3], data[3:]).sum((2, 3)).tolist())


def task(params, x, y):
    return ((x * params["slope"] + params["offset"] - y) ** 2).mean()


def adapted(params, x, y):
    slopes = grad(task)(params, x, y)
    return {name: params[name] - 0.1 * slopes[name] for name in params}


def meta(params, tasks):
    x, y = tasks
    return vmap(lambda x, y: task(adapted(params, x, y), x, y))(x, y).mean()


start = {"slope": torch.tensor(0.5), "offset": torch.tensor(0.0)}
points = torch.linspace(-1, 1, 12).reshape(3, 4)
print(
    "maml",
    {
        name: g.item()
        for name, g in grad(meta)(start, (points, torch.stack([points[0], -points[1], points[2] ** 2]))).items()
    },
)
torch.manual_seed(1)
print("noise", vmap(lambda x: x + torch.randn(2), randomness="same")(torch.zeros(3, 2)).tolist())
