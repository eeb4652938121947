"""In the style of PyTorch's tutorials: functions of one's own, checkpointing, hooks, autocast, the profiler, stateless calls."""

import torch
from torch.autograd import Function, Variable, gradcheck
from torch.func import functional_call
from torch.profiler import ProfilerActivity, profile, record_function
from torch.utils.checkpoint import checkpoint

torch.manual_seed(0)


class Cube(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        return 3 * ctx.saved_tensors[0] ** 2 * grad


x = Variable(torch.randn(4, dtype=torch.double), requires_grad=True)
print("gradcheck", gradcheck(Cube.apply, (x,)))
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)).double()
seen = []
net[1].register_forward_hook(lambda m, i, o: seen.append(o.sum().item()))
net[0].register_full_backward_hook(lambda m, gi, go: seen.append(go[0].sum().item()))
checkpoint(net, x, use_reentrant=False).sum().backward()
print("hooks", seen, x.grad.tolist())
print("stateless", functional_call(net, {k: torch.zeros_like(v) for k, v in net.named_parameters()}, (x,)).item())
half = torch.nn.Linear(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    print("autocast", half(torch.ones(2, 4)).dtype)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as prof:
    with record_function("product"):
        torch.mm(torch.ones(8, 8), torch.ones(8, 8))
print("profiled", any("mm" in event.key for event in prof.key_averages()))
print("jacobian", torch.autograd.functional.jacobian(lambda v: v.exp(), x.detach()).diag().tolist())
model = torch.nn.DataParallel(torch.nn.Linear(3, 2))
print("parallel", model(torch.ones(2, 3)).sum().item(), list(model.state_dict()))
