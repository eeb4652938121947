"""Gradients: recorded, accumulated, stopped, and computed with functions of one's own."""

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
loss = 3 * a**3 - b**2
print(loss)
loss.backward(gradient=torch.ones(2))
print(a.grad, b.grad, torch.equal(a.grad, 9 * a.detach() ** 2))
(a * b).sum().backward()
print(a.grad)
a.grad = None

w = torch.full((3, 2), 0.5, requires_grad=True)
y = torch.relu(torch.ones(4, 3) @ w)
print(y.requires_grad, y.grad_fn.name(), w.is_leaf)
with torch.no_grad():
    print((w * 2).requires_grad)
print(y.detach().requires_grad)

first = torch.autograd.grad(y.pow(2).sum(), w, create_graph=True)[0]
print(first, torch.autograd.grad(first.sum(), w)[0])


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * 3 * x**2


v = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
Cube.apply(v).sum().backward()
print(v.grad, torch.autograd.gradcheck(Cube.apply, (v,)))
seen = []
z = v * 2
handle = z.register_hook(lambda g: seen.append(g.tolist()))
z.sum().backward()
handle.remove()
print(seen, torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0])))
