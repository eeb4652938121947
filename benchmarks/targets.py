"""Targets of the benchmarks: the ratio to PyTorch in one run, lower is better."""

import math
import re
import statistics

# (pattern of names, ratio, least share of the machine's ceiling or None)
TARGETS = [
    (r"^calls/(add|add_out|add_|view|select|slice|sum|item|relu|empty)(/|$)", 0.12, None),
    (r"^calls/mul_scalar/", 0.06, None),
    (r"^calls/linear_", 0.25, None),
    (r"^recorded/", 0.12, None),
    (r"^chain/", 0.12, None),
    (r"^jvp/", 0.8, None),
    (r"^own/composed/1$", 0.06, None),
    (r"^own/composed/16K$", 0.3, None),
    (r"^own/composed/1M$", 0.45, None),
    (r"^own/composed/16M$", 0.3, None),
    (r"^own/written/1$", 0.05, None),
    (r"^own/written/16K$", 0.2, None),
    (r"^own/written/1M$", 0.2, None),
    (r"^own/written/16M$", 0.12, None),
    (r"^own_rows/(softmax|log_softmax)/", 0.4, None),
    (r"^own_rows/softmax_backward/", 0.5, None),
    (r"^own_rows/logsumexp_backward/", 0.2, None),
    (r"^own_rows/layer_norm_backward/", 0.7, None),
    (r"^own_rows/rms_norm_backward/", 0.12, None),
    (r"^own_rows/rms_norm_of_library_backward/", 0.2, None),
    (r"^own_rows/cross_entropy_backward/", 0.25, None),
    (r"^own_rows/", 1.0, None),
    (r"^fresh/", 0.4, None),
    (r"^given/", 1.0, 0.9),
    (r"^strided/", 0.35, None),
    (r"^middle/where", 0.35, None),
    (r"^middle/", 1.0, 0.9),
    (r"^cached/", 0.7, None),
    (r"^rows/", 0.8, None),
    (r"^reduce/", 0.8, None),
    (r"^matmul/", 1.0, None),
    (r"^bmm/", 1.0, None),
    (r"^(attention|ctc_loss)/", 0.9, None),
    (r"^linear/64x", 0.75, None),
    (r"^conv/", 1.0, None),
    (r"^lenet/step/b16$", 0.4, None),
    (r"^lenet/step/b256$", 0.55, None),
    (r"^(index|cast|dtype|copy|ragged|special|pool)/", 1.0, None),
    (r"^(convnet|mlp|transformer)/", 1.0, None),
    (r"^optim/", 0.5, None),
    (r"^checkpoint/", 1.0, None),
    (r"^files/save$", 0.7, 0.9),
    (r"^files/load$", 0.5, 0.9),
    (r"^files/mmap_load$", 0.5, None),
]

# (case, other case, greatest ratio of times, greatest ratio of memory), both of Tenon's side.
BESIDE = [("checkpoint/each", "checkpoint/plain", 1.35, 0.2)]

# Cases that write next to nothing: their ceiling is that of reading.
READS_ONLY = re.compile(r"^reduce/")
# A missed ratio at this share of the ceiling is the machine's doing.
AT_CEILING = 0.9

# Cases whose ceiling is another case, measured by the same processes.
FILE_CEILINGS = {"files/save": "files/raw_write_sync", "files/load": "files/raw_read"}


def target_of(name):
    """(ratio, share of the ceiling) wanted of a case; None where nothing is."""
    for pattern, ratio, share in TARGETS:
        if re.search(pattern, name):
            return ratio, share
    return None, None


class Ceilings:
    """What ceilings.cpp measured for one number of threads."""

    def __init__(self, runs):
        """`runs`: the results of several processes, of which the best counts."""
        self.flops = None
        self.files = {}
        copies, reads = {}, {}
        for results in runs:
            for name, r in results.items():
                if name.startswith("ceiling/flops"):
                    self.flops = max(self.flops or 0, r["flops"] / r["best"])
                elif name.startswith("ceiling/"):
                    best = reads if name.startswith("ceiling/read/") else copies
                    best[r["bytes"]] = max(best.get(r["bytes"], 0), r["bytes"] / r["best"])
        # (working set in bytes, bytes per ns), smallest first
        self.copies, self.reads = sorted(copies.items()), sorted(reads.items())

    def take_files(self, measurements):
        """Takes the ceilings of files from what Tenon's processes measured of them."""
        for name, raw in FILE_CEILINGS.items():
            if raw in measurements and measurements[raw].times["tenon"]:
                self.files[name] = statistics.median(measurements[raw].times["tenon"]), raw

    def share(self, case, ns):
        """The share of the ceiling that a case reaches in `ns`, and which ceiling; (None, "") if it has none."""
        if case["name"] in self.files:
            raw_ns, raw = self.files[case["name"]]
            return raw_ns / ns, raw
        if case["name"].startswith("files/"):
            return None, ""
        if case["flops"] and self.flops:
            return case["flops"] / ns / self.flops, f"{self.flops:.0f} GFLOP/s"
        rates = self.reads if READS_ONLY.search(case["name"]) else self.copies
        if rates and case["bytes"] >= rates[0][0] / 4:
            # That of the measured working set nearest in size: a smaller one sits in a faster cache.
            _, rate = min(rates, key=lambda c: abs(math.log(case["bytes"] / c[0])))
            return case["bytes"] / ns / rate, f"{rate:.0f} GB/s"
        return None, ""
