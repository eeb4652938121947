"""Whether LeNet, a transformer block and a GAN learn by the same losses in C++, in Python and in PyTorch, also if one language goes on
with what another saved in the middle.

test_training_curves.py PROGRAM       PROGRAM: training_curves, built from curves.cpp. Without PyTorch its losses are those of curves.json
test_training_curves.py --write       writes curves.json, by PyTorch
"""

import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

# Threads would wait for each other longer than they compute.
os.environ["OMP_NUM_THREADS"] = "1"

from networks import TRAININGS, train  # noqa: E402

try:
    import torch
except ImportError:
    torch = None

CURVES = pathlib.Path(__file__).with_name("curves.json")
STEPS, CUT = 20, 9
TOLERANCE = 1e-5
# As in curves.cpp.
SCHEDULERS = {
    "StepLR": lambda s, o: s.StepLR(o, 3, 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.9),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [2, 7], 0.5),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 5),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.25, 0.75, 8),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 10, 2.0),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 7, 0.01),
    "LambdaLR": lambda s, o: s.LambdaLR(o, _harmonic),
    "ReduceLROnPlateau": lambda s, o: s.ReduceLROnPlateau(o, factor=0.5, patience=1, cooldown=1),
}


def _harmonic(epoch):
    return 1.0 / (1 + epoch)


def program(*arguments):
    subprocess.run([sys.argv[1], *map(str, arguments)], check=True)


def losses_of(path):
    import tenon

    return list(tenon.load(path)["losses"])


def curve(name, sides):
    """The losses of a training whose parts the sides take in turn."""
    losses, given, first = [], "-", 0
    with tempfile.TemporaryDirectory() as folder:
        for i, side in enumerate(sides):
            count = STEPS if len(sides) == 1 else CUT if i == 0 else STEPS - CUT
            saved = str(pathlib.Path(folder) / f"{i}.pt")
            side(name, first, count, given, saved)
            losses += losses_of(saved)
            given, first = saved, first + count
    return losses


def off(ours, theirs):
    """The largest difference, as a part of the loss."""
    if len(ours) != len(theirs):
        return math.inf
    return max(abs(a - b) / max(1, abs(b)) for a, b in zip(ours, theirs))


# ---- schedulers ----


def rates_of_python(lib, name, count, given, saved):
    optimizer = lib.optim.SGD([lib.zeros(1, requires_grad=True)], lr=0.8)
    scheduler = SCHEDULERS[name](lib.optim.lr_scheduler, optimizer)
    if given:
        state = lib.load(given)
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
    rates = []
    for _ in range(count):
        optimizer.step()
        scheduler.step(1.0) if name == "ReduceLROnPlateau" else scheduler.step()
        rates.append(float(optimizer.param_groups[0]["lr"]))
    lib.save({"optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(), "rates": rates}, saved)
    return rates


def rates_by_turns(lib, name, folder):
    """Twelve rates, of which C++ computes the middle four from Python's file, and Python the last four from that of C++."""
    a, b, c = (str(pathlib.Path(folder) / f"{name}{i}.pt") for i in range(3))
    rates = rates_of_python(lib, name, 4, None, a)
    program("rates", name, 4, a, b)
    rates += list(lib.load(b)["rates"])
    return rates + rates_of_python(lib, name, 4, b, c)


# ----


def main():
    if "--write" in sys.argv:
        return write()
    import tenon

    def python(*arguments):
        train(tenon, *arguments)

    def pytorch(*arguments):
        train(torch, *arguments)

    stored, problems, seen = json.loads(CURVES.read_text()), [], 0
    orders = {
        "C++": [program],
        "Python": [python],
        "Python, then C++": [python, program],
        "C++, then Python": [program, python],
    }
    if torch:
        orders |= {
            "PyTorch": [pytorch],
            "PyTorch, then C++": [pytorch, program],
            "C++, then PyTorch": [program, pytorch],
        }
    for name in TRAININGS:
        moved = max(stored[name]) - min(stored[name])
        if not moved > 0.05:
            problems.append(f"{name} learns nothing: its losses differ by {moved}")
        for order, sides in orders.items():
            difference = off(curve(name, sides), stored[name])
            seen += 1
            print(f"{name}, {order}: {difference:.1e}")
            if not difference <= TOLERANCE:
                problems.append(f"{name}, {order}: the losses differ by {difference:.2e}")
    with tempfile.TemporaryDirectory() as folder:
        for name in SCHEDULERS:
            for lib in filter(None, [tenon, torch]):
                alone = rates_of_python(lib, name, 12, None, str(pathlib.Path(folder) / "alone.pt"))
                turns = rates_by_turns(lib, name, folder)
                seen += 1
                if not off(turns, alone) <= 1e-12:
                    problems.append(f"{name} of {lib.__name__} in turns with C++: {turns} and {alone}")
    print(*problems, f"{seen} trainings and schedules, {len(problems)} differences", sep="\n")
    return bool(problems)


def write():
    curves = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in TRAININGS:
            saved = str(pathlib.Path(folder) / "curve.pt")
            train(torch, name, 0, STEPS, "-", saved)
            curves[name] = [round(loss, 9) for loss in torch.load(saved)["losses"]]
    CURVES.write_text(json.dumps(curves, indent=0) + "\n")


if __name__ == "__main__":
    sys.exit(main())
