"""accelerate on two processes."""

import torch
from accelerate import Accelerator


def work():
    a = Accelerator(cpu=True)
    torch.manual_seed(0)
    m = torch.nn.Linear(4, 1)
    o = torch.optim.SGD(m.parameters(), lr=0.1)
    x = torch.randn(32, 4)
    l = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)
    m, o, l = a.prepare(m, o, l)
    for b, t in l:
        loss = torch.nn.functional.mse_loss(m(b), t)
        a.backward(loss)
        o.step()
        o.zero_grad()
    g = a.gather(loss.detach().reshape(1))
    if a.is_main_process:
        print("loss", g.tolist(), a.num_processes, flush=True)


if __name__ == "__main__":
    from accelerate.launchers import debug_launcher

    debug_launcher(work, num_processes=2)
