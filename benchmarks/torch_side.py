"""What PyTorch's sides that are scripts have in common: options, the timing loop, one JSON line for each case."""

import argparse
import json
import re
import statistics
import time

import torch


def parse_options():
    """`--filter`, and `--threads`, which is set."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--filter", default="", help="only cases whose name matches")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="a case is three calls, quick or not")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    return options


def run(cases, options, size=0):
    """Times each body of {name: body} that is asked for: the median and the best of three calls after one that warms up.
    `size` bytes are moved by a call."""
    for name, body in cases.items():
        if not re.search(options.filter, name):
            continue
        body()
        samples = []
        for _ in range(3):
            start = time.perf_counter_ns()
            body()
            samples.append(time.perf_counter_ns() - start)
        print(
            json.dumps(
                {
                    "name": name,
                    "ns": statistics.median(samples),
                    "best": min(samples),
                    "bytes": size,
                    "flops": 0,
                    "calls": 1,
                }
            ),
            flush=True,
        )
