"""In the style of PyTorch's examples: loader workers, spawned processes, a checkpoint read in another program."""

import os
import subprocess
import sys
import tempfile

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset, get_worker_info


class Squares(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, index):
        return torch.full((3,), float(index)) ** 2, get_worker_info() is not None


def work(rank, folder):
    torch.manual_seed(rank)
    net = torch.nn.Linear(3, 1)
    net(torch.ones(1, 3)).sum().backward()
    torch.save({"grad": net.weight.grad, "rank": rank}, os.path.join(folder, f"{rank}.pt"))


def put(queue, taken):
    queue.put(torch.arange(4).sum())
    taken.wait()


if __name__ == "__main__":
    for batch, in_worker in DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context="fork"):
        print("batch", batch.sum().item(), in_worker.all().item())
    for batch, in_worker in DataLoader(Squares(), batch_size=6, num_workers=1, multiprocessing_context="spawn"):
        print("batch", batch.sum().item(), in_worker.all().item())
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(work, args=(folder,), nprocs=2)
        loaded = [torch.load(os.path.join(folder, f"{rank}.pt")) for rank in range(2)]
        print("grads", [state["grad"].tolist() for state in loaded], [state["rank"] for state in loaded])
        code = f"import torch; print(torch.load({os.path.join(folder, '1.pt')!r})['rank'], torch.ones(2).sum().item())"
        print(
            "other",
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip(),
        )
    context = mp.get_context("spawn")
    queue, taken = context.Queue(), context.Event()
    process = context.Process(target=put, args=(queue, taken))
    process.start()
    print("queue", queue.get().item())
    taken.set()
    process.join()
