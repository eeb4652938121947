"""A training of nine steps that C++ and Python take in turns, three at a time, is bit by bit the one that Python takes alone.

test_both_languages.py PROGRAM        PROGRAM: optimizer_steps, built from steps.cpp
"""

import pathlib
import subprocess
import sys
import tempfile

import tenon

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else ""

CASES = [
    ("SGD", [{"lr": 0.1}, {"lr": 0.2, "momentum": 0.9, "nesterov": True}]),
    ("SGD", [{"lr": 0.1, "momentum": 0.9, "dampening": 0.1, "weight_decay": 0.01}, {"maximize": True}]),
    ("Adam", [{"lr": 0.05}, {"betas": (0.8, 0.9), "eps": 1e-4, "weight_decay": 0.1, "amsgrad": True}]),
    ("Adam", [{"lr": 0.05, "maximize": True}, {"decoupled_weight_decay": True, "weight_decay": 0.1}]),
    ("AdamW", [{"lr": 0.05, "weight_decay": 0.1}, {"amsgrad": True}]),
    ("RMSprop", [{"lr": 0.05}, {"alpha": 0.9, "weight_decay": 0.1, "momentum": 0.8, "centered": True}]),
    ("Adagrad", [{"lr": 0.1}, {"lr_decay": 0.1, "weight_decay": 0.1, "eps": 1e-3}]),
    ("Adadelta", [{}, {"lr": 0.5, "rho": 0.8, "eps": 1e-3, "weight_decay": 0.1, "maximize": True}]),
    ("Adamax", [{}, {"lr": 0.05, "betas": (0.8, 0.9), "eps": 1e-3, "weight_decay": 0.1}]),
    ("NAdam", [{"lr": 0.05}, {"weight_decay": 0.1, "momentum_decay": 0.1, "decoupled_weight_decay": True}]),
    ("RAdam", [{"lr": 0.05}, {"betas": (0.8, 0.99), "weight_decay": 0.1, "maximize": True}]),
    ("ASGD", [{"lr": 0.05}, {"lambd": 0.01, "alpha": 0.5, "t0": 2, "weight_decay": 0.1}]),
    ("Rprop", [{}, {"lr": 0.05, "etas": (0.4, 1.5), "step_sizes": (0.01, 0.1)}]),
    ("LBFGS", [{"lr": 0.05, "max_iter": 3}]),
    ("LBFGS", [{"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2}]),
]


def loss_of(groups, k):
    # Each parameter is used once: sums of several gradients depend on their order, which C++ leaves open.
    loss = None
    for p in (p for group in groups for p in group):
        one = ((p - k).pow(2) + 1).sqrt().sum().to(tenon.float64)
        loss = one if loss is None else loss + one
    return loss


def start(count):
    shapes = [[(3, 5), (7,)], [(2, 2, 3), ()]][:count]
    tenon.manual_seed(3)
    return [[tenon.randn(shape) for shape in group] for group in shapes]


def steps_of_python(name, first, count, given, saved):
    data = tenon.load(given)
    groups = [[p.requires_grad_() for p in group] for group in data["groups"]]
    optimizer = getattr(tenon.optim, name)([{"params": group} for group in groups])
    optimizer.load_state_dict(data["optimizer"])
    for k in range(first, first + count):

        def closure(k=k):
            optimizer.zero_grad()
            loss = loss_of(groups, k % 3)
            loss.backward()
            return loss

        optimizer.step(closure)
    groups = [[p.detach() for p in group] for group in groups]
    tenon.save({"groups": groups, "optimizer": optimizer.state_dict()}, saved)


def steps_of_cpp(name, *arguments):
    subprocess.run([PROGRAM, name, *map(str, arguments)], check=True)


def trained(name, options, languages):
    """The file after nine steps."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(pathlib.Path(folder) / f"{i}.pt") for i in range(4)]
        groups = start(len(options))
        optimizer = getattr(tenon.optim, name)(
            [{"params": group, **own} for group, own in zip(groups, options)], **options[0]
        )
        tenon.save({"groups": groups, "optimizer": optimizer.state_dict()}, paths[0])
        for i, steps in enumerate(languages):
            steps(name, 3 * i, 3, paths[i], paths[i + 1])
        return tenon.load(paths[3])


def differences(a, b, at=""):
    """Where the values differ by a bit; what only Python keeps does not count."""
    if isinstance(a, dict):
        only_python = {"foreach", "fused", "capturable", "differentiable", "decoupled_weight_decay", "maximize", "al"}
        for key in sorted(a.keys() | b.keys(), key=str):
            if key in a and key in b:
                yield from differences(a[key], b[key], f"{at}.{key}")
            elif key not in only_python:
                yield f"{at}.{key} is in one file alone"
    elif isinstance(a, (list, tuple)):
        if len(a) != len(b):
            yield f"{at} has {len(a)} and {len(b)} items"
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{at}[{i}]")
    elif isinstance(a, tenon.Tensor) or isinstance(b, tenon.Tensor):
        a, b = tenon.as_tensor(a), tenon.as_tensor(b)
        if a.shape != b.shape or not (a == b).all():
            yield f"{at}: {a.tolist()} and {b.tolist()}"
    elif a != b:
        yield f"{at}: {a} and {b}"


def main():
    python, cpp = steps_of_python, steps_of_cpp
    problems = []
    for name, options in CASES:
        alone = trained(name, options, [python, python, python])
        for languages in ([cpp, cpp, cpp], [python, cpp, python], [cpp, python, cpp]):
            order = ", ".join("Python" if one is python else "C++" for one in languages)
            both = trained(name, options, languages)
            problems += [f"{name}, {order}: {one}" for one in differences(alone, both)]
        moved = max(
            (p - q).abs().max().item() for g, h in zip(alone["groups"], start(len(options))) for p, q in zip(g, h)
        )
        if not moved > 1e-3:
            problems.append(f"{name} moved no parameter")
    print("\n".join(problems) or f"{len(CASES)} trainings are the same in both languages")
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
