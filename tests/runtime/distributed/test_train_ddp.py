"""examples/train_ddp, run by tenon-run: as one process does, and after a rank was killed. TENON_RUN and TRAIN_DDP name the programs."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

RUN, TRAIN = os.environ["TENON_RUN"], os.environ["TRAIN_DDP"]
STEPS = int(os.environ.get("TRAIN_DDP_STEPS", "60"))


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
        if not Path("/usr/share/datasets/fashion-mnist").is_dir():
            self.skipTest("the package dataset-fashion-mnist is not installed")
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def test_two_ranks_as_one_and_after_a_kill(self):
        alone = train(0, self.path / "alone")
        both = train(2, self.path / "both")
        # The same examples in the same batches: rounding apart, the same network.
        self.assertLess(abs(accuracy(alone) - accuracy(both)), 1.0)
        if STEPS >= 60:
            self.assertGreater(accuracy(both), 50)

        half = str(STEPS // 2)
        killed = train(2, self.path / "killed", "--save-every", half, "--kill-at", str(STEPS // 2 + 3))
        self.assertIn("rank 1 (process", killed.stderr)
        self.assertIn("was ended by signal 9", killed.stderr)
        self.assertIn(f"goes on from step {half}", killed.stdout)
        self.assertEqual(accuracy(both), accuracy(killed))
        self.assertIn(f"step {STEPS}:", killed.stdout)


if __name__ == "__main__":
    unittest.main()
