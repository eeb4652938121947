"""PyTorch's side of files.cpp: the same state dict, the same cases, one JSON line for each."""

import os
import tempfile

import torch
import torch_side


def state_dict():
    def random(*sizes):
        return torch.rand(sizes).mul_(2).sub_(1)

    state = {"embedding.weight": random(8192, 1024)}
    for i in range(10):
        layer = f"layers.{i}."
        state[layer + "qkv.weight"] = random(3072, 1024)
        state[layer + "out.weight"] = random(1024, 1024)
        state[layer + "up.weight"] = random(4096, 1024)
        state[layer + "down.weight"] = random(1024, 4096)
        state[layer + "norm.weight"] = random(1024)
        state[layer + "norm.bias"] = random(1024)
    return state


def raw_write(path, data, sync):
    part = path + ".part"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    at = 0
    while at < len(data):
        at += os.write(file, data[at:])
    if sync:
        os.fsync(file)
    os.close(file)
    os.rename(part, path)


def raw_read(path, data):
    with open(path, "rb", buffering=0) as file:
        at = 0
        while at < len(data):
            at += file.readinto(data[at:])


def main():
    options = torch_side.parse_options()

    with tempfile.TemporaryDirectory(prefix="torch_bench_") as folder:
        path, raw = os.path.join(folder, "state.pt"), os.path.join(folder, "raw")
        state = state_dict()
        size = sum(t.nbytes for t in state.values())
        torch.save(state, path)
        data = memoryview(bytearray(size))
        raw_write(raw, data, False)
        cases = {
            "files/save": lambda: torch.save(state, path),
            "files/load": lambda: torch.load(path),
            "files/mmap_load": lambda: torch.load(path, mmap=True),
            "files/raw_write": lambda: raw_write(raw, data, False),
            "files/raw_write_sync": lambda: raw_write(raw, data, True),
            "files/raw_read": lambda: raw_read(raw, data),
        }
        torch_side.run(cases, options, size)


if __name__ == "__main__":
    main()
