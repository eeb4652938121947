"""PyTorch's side of files.cpp: the same state dict, the same cases, one JSON line for each."""

import argparse
import json
import os
import re
import statistics
import tempfile
import time

import torch


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
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter", default="")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

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
        for name, body in cases.items():
            if not re.search(options.filter, name):
                continue
            body()
            samples = []
            for _ in range(3):
                start = time.perf_counter_ns()
                body()
                samples.append(time.perf_counter_ns() - start)
            print(json.dumps({"name": name, "ns": statistics.median(samples), "best": min(samples), "bytes": size,
                              "flops": 0, "calls": 1}), flush=True)


if __name__ == "__main__":
    main()
