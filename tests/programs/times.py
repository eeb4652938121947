"""The CPU time of programs with PyTorch and with Tenon, in turns.

python times.py program.py   runs a program, and says on standard error when its imports are over
"""

import ast
import math
import os
import resource
import sys
import time
import types

import compare

SAID = "its imports took"


def cpu_seconds():
    """Of the processes that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(command, paths, seconds):
    """(output or None, standard error, (CPU seconds of the imports, of the rest)) of a program that this file runs"""
    before = cpu_seconds()
    output, error, _ = compare.run(command, paths, seconds)
    whole = cpu_seconds() - before
    imports = sum(float(line.split()[-1]) for line in error.splitlines() if line.startswith(SAID))
    return output, error, (imports, whole - imports)


def in_turns(theirs, ours, rounds, seconds):
    """
    The least times of two programs, each (command, paths): (the second's output, its standard error, {"imports", "rest", "whole":
    (first, second)}).
    """
    seen = ([], [])
    for _ in range(rounds):
        for kept, (command, paths) in zip(seen, (theirs, ours)):
            output, error, times = measured(command, paths, seconds)
            if output is None:
                return None, error, {}
            kept.append(times)
    least = [[min(times[i] for times in kept) for i in range(2)] for kept in seen]
    whole = [min(sum(times) for times in kept) for kept in seen]
    return (
        output,
        error,
        {"imports": [a[0] for a in least], "rest": [a[1] for a in least], "whole": whole},
    )


def report(times):
    """Lines about all programs: {program: {"imports", "rest", "whole": (PyTorch, Tenon)}}"""
    for part in ("imports", "rest", "whole"):
        ratios = {name: found[part][1] / found[part][0] for name, found in times.items() if found[part][0] > 0}
        slow = sorted((name for name in ratios if ratios[name] > 1), key=ratios.get, reverse=True)
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        yield f"{part}: {mean:.2f} of PyTorch's CPU time, the geometric mean of {len(ratios)} programs"
        if slow:
            yield f"{part}: above 1 are " + ", ".join(f"{name} {ratios[name]:.2f}" for name in slow)


def run_file(path):
    """Runs a program with a statement after its imports."""
    with open(path) as file:
        tree = ast.parse(file.read(), path)
    imports = [i for i, node in enumerate(tree.body) if isinstance(node, (ast.Import, ast.ImportFrom))]
    after = imports[-1] + 1 if imports else 0
    mark = ast.parse("__mark__()").body
    for node in ast.walk(mark[0]):
        ast.copy_location(node, tree.body[after - 1] if after else tree.body[0])
    tree.body[after:after] = mark
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    main.__mark__ = lambda: print(f"{SAID} {time.process_time():.3f}", file=sys.stderr, flush=True)
    sys.modules["__main__"] = main
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(compile(tree, path, "exec"), vars(main))  # noqa: S102  the program


if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    run_file(sys.argv[0])
