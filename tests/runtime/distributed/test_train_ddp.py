"""examples/train_ddp, run by tenon-run: as one process does, and after a rank was killed. TENON_RUN and TRAIN_DDP name the programs."""

import gzip
import math
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

RUN, TRAIN = os.environ["TENON_RUN"], os.environ["TRAIN_DDP"]
STEPS = int(os.environ.get("TRAIN_DDP_STEPS", "60"))
DATA = Path("/usr/share/datasets/fashion-mnist")


def shorten(folder, count):
    """The data set's first `count` examples of each file."""
    folder.mkdir()
    for file in DATA.glob("*.gz"):
        content = gzip.decompress(file.read_bytes())
        # IDX: 0, 0, type, dimensions; each size in four bytes, the number of examples first; then the bytes.
        sizes = [int.from_bytes(content[4 + 4 * i : 8 + 4 * i], "big") for i in range(content[3])]
        start, item = 4 + 4 * len(sizes), math.prod(sizes[1:])
        short = content[:4] + min(count, sizes[0]).to_bytes(4, "big") + content[8 : start + count * item]
        (folder / file.name).write_bytes(gzip.compress(short, 1))
    return folder


def train(ranks, folder, *options):
    launcher = [RUN, "--nproc", str(ranks), "--max-restarts", "2"] if ranks else []
    command = [*launcher, TRAIN, "--epochs", "1", "--steps", str(STEPS), "--checkpoints", str(folder), *options]
    result = subprocess.run(command, capture_output=True, text=True, timeout=500)
    assert result.returncode == 0, result.stdout + result.stderr
    return result


def accuracy(result):
    before, after = re.search(r"test accuracy ([\d.]+) %, ([\d.]+) % after all ranks", result.stdout).groups()
    assert before == after
    return float(before)


class TrainDdp(unittest.TestCase):
    def setUp(self):
        if not DATA.is_dir():
            self.skipTest("the package dataset-fashion-mnist is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)
        # Few steps are for a slow build, where going through all examples takes minutes.
        self.data = DATA if STEPS >= 60 else shorten(self.path / "data", 1000)

    def train(self, ranks, folder, *options):
        return train(ranks, self.path / folder, "--data", str(self.data), *options)

    def test_two_ranks_as_one_and_after_a_kill(self):
        alone = self.train(0, "alone")
        both = self.train(2, "both")
        # The same examples in the same batches: rounding apart, the same network.
        self.assertLess(abs(accuracy(alone) - accuracy(both)), 1.0)
        if STEPS >= 60:
            self.assertGreater(accuracy(both), 50)

        half = str(STEPS // 2)
        killed = self.train(2, "killed", "--save-every", half, "--kill-at", str(STEPS // 2 + 3))
        self.assertIn("rank 1 (process", killed.stderr)
        self.assertIn("was ended by signal 9", killed.stderr)
        self.assertIn(f"goes on from step {half}", killed.stdout)
        self.assertEqual(accuracy(both), accuracy(killed))
        self.assertIn(f"step {STEPS}:", killed.stdout)


if __name__ == "__main__":
    unittest.main()
