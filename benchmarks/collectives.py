#!/usr/bin/env python3
"""Two processes on this machine: collectives and data parallel training, Tenon beside PyTorch with Gloo, in turn.

collectives.py [--nproc N] [--rounds N]        run with the Python that has torch
"""

import argparse
import functools
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

BUILD = Path(__file__).resolve().parent.parent / "build/release"
# The time that Tenon may take, as a share of PyTorch's.
TARGETS = {
    "all_reduce 4": 0.5,
    "all_reduce 1048576": 0.4,
    "all_reduce 67108864": 0.7,
    "LeNet step with DDP": 0.5,
    "overhead of DDP": 0.5,
}


def peer():
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.set_num_threads(1)
    dist.init_process_group("gloo")

    def measure(name, warm_up, repetitions, f):
        for _ in range(warm_up):
            f()
        times = []
        for _ in range(repetitions):
            start = time.perf_counter()
            f()
            times.append(time.perf_counter() - start)
        times.sort()
        if dist.get_rank() == 0:
            print(
                json.dumps({"name": name, "median": times[len(times) // 2], "p90": times[len(times) * 9 // 10]}),
                flush=True,
            )

    def net():
        return nn.Sequential(
            nn.Conv2d(1, 6, 5, padding=2),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(6, 16, 5),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(400, 120),
            nn.ReLU(),
            nn.Linear(120, 84),
            nn.ReLU(),
            nn.Linear(84, 10),
        )

    def training_step(model):
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        x, y = torch.randn(32, 1, 28, 28), torch.zeros(32, dtype=torch.long)

        def step():
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()

        return step

    for size in (4, 64 << 10, 1 << 20, 64 << 20):
        t = torch.zeros(size // 4)
        repetitions = 20 if size > 1 << 20 else 1000
        measure(f"all_reduce {size}", repetitions // 10, repetitions, functools.partial(dist.all_reduce, t))
    measure("LeNet step without DDP", 50, 500, training_step(net()))
    measure("LeNet step with DDP", 50, 500, training_step(nn.parallel.DistributedDataParallel(net())))
    dist.barrier()
    dist.destroy_process_group()


def environment():
    env = {k: v for k, v in os.environ.items() if not re.match(r"(OPENBLAS_|OMP_|MKL_|KMP_|GOMP_|DNNL_|ONEDNN_)", k)}
    return {**env, "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}


def cases(lines):
    found = {}
    for line in lines.splitlines():
        if line.startswith("{"):
            case = json.loads(line)
            found[case["name"]] = case["median"]
    found["overhead of DDP"] = max(found["LeNet step with DDP"] - found["LeNet step without DDP"], 1e-9)
    return found


def run_tenon(ranks):
    command = [
        BUILD / "runtime/tenon-run",
        "--no-prefix",
        "--nproc",
        str(ranks),
        BUILD / "benchmarks/bench_collectives",
    ]
    return cases(subprocess.run(command, env=environment(), check=True, capture_output=True, text=True).stdout)


def run_peer(ranks):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    running = []
    for rank in range(ranks):
        env = {
            **environment(),
            "RANK": str(rank),
            "WORLD_SIZE": str(ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(port),
        }
        running.append(
            subprocess.Popen([sys.executable, __file__, "--peer"], env=env, stdout=subprocess.PIPE, text=True)
        )
    outputs = [p.communicate()[0] for p in running]
    assert all(p.returncode == 0 for p in running)
    return cases(outputs[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nproc", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        return peer()
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(run_tenon(options.nproc))
        theirs.append(run_peer(options.nproc))
    print(f"{'case':28} {'Tenon':>12} {'PyTorch':>12} {'ratio':>7} {'target':>7}")
    for name in ours[0]:
        a, b = (statistics.median(run[name] for run in side) for side in (ours, theirs))
        target = TARGETS.get(name)
        print(f"{name:28} {a * 1e6:9.1f} us {b * 1e6:9.1f} us {a / b:7.2f} {target if target else '':>7}")


if __name__ == "__main__":
    main()
