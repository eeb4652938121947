"""Activations that are computed again instead of kept: the same gradients, with fewer tensors saved."""

from importlib import import_module

checkpoint = import_module(f"{torch.__name__}.utils.checkpoint")
torch.manual_seed(3)
layers = [torch.nn.Linear(4, 4) for _ in range(3)]
x = torch.randn(2, 4, requires_grad=True)
calls = []


def block(value):
    calls.append(1)
    for layer in layers:
        value = torch.tanh(layer(value))
    return value


block(x).sum().backward()
plain = [x.grad.clone(), *(layer.weight.grad.clone() for layer in layers)]
x.grad = None
for layer in layers:
    layer.weight.grad = layer.bias.grad = None
calls.clear()

result = checkpoint.checkpoint(block, x, use_reentrant=False)
print(len(calls))
result.sum().backward()
print(len(calls), all(torch.equal(a, b) for a, b in zip(plain, [x.grad, *(layer.weight.grad for layer in layers)])))

saved = []
with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t.numel()) or t, lambda t: t):
    block(x)
    without = len(saved)
    saved.clear()
    checkpoint.checkpoint(block, x, use_reentrant=False)
print(len(saved) < without)
sequence = torch.nn.Sequential(*layers)
print(checkpoint.checkpoint_sequential(sequence, 2, x, use_reentrant=False).detach())
dropout = torch.nn.Dropout(0.5)
torch.manual_seed(1)
checkpoint.checkpoint(lambda v: dropout(v) * v, x, use_reentrant=False).sum().backward()
print(x.grad.shape[0])
