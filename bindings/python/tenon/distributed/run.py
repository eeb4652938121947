"""Starts the ranks of a run: python -m tenon.distributed.run --nproc-per-node 2 train.py ARGUMENTS

It is tenon-run, called as torchrun is. A script finds its rank in the environment, where init_process_group() looks for it.
"""

import argparse
import os
import shutil
import sys


def _parser(prog):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__.splitlines()[0])

    def add(name, **options):
        # Both spellings, as torchrun has them.
        parser.add_argument("--" + name, "--" + name.replace("-", "_"), **options)

    add("nproc-per-node", default="1", metavar="N", help="processes; auto or cpu: one for each processor")
    add("nnodes", default="1", help="machines: 1, or 1:1")
    add("node-rank", type=int, default=0, help="0")
    add("standalone", action="store_true", help="accepted: the store is always the launcher's")
    add("max-restarts", type=int, default=0, metavar="N", help="how often all start again when one fails")
    add("grace", default=None, metavar="SECONDS", help="how long the others may take to end when one has failed")
    add("no-prefix", action="store_true", help="lines of output without the rank before them")
    add("no-python", action="store_true", help="the script is a program of its own")
    parser.add_argument("-m", "--module", action="store_true", help="the script is the name of a module")
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    return parser


def _launcher():
    """The path of tenon-run."""
    candidates = [
        os.environ.get("TENON_RUN"),
        os.path.join(os.path.dirname(os.path.dirname(__file__)), "bin", "tenon-run"),
    ]
    try:
        from tenon._build_paths import TENON_RUN

        candidates.append(TENON_RUN)
    except ImportError:
        pass
    candidates.append(shutil.which("tenon-run"))
    for path in candidates:
        if path and os.access(path, os.X_OK):
            return path
    raise SystemExit("tenon.distributed.run: the program tenon-run was not found; TENON_RUN may name it")


def command(arguments, prog="python -m tenon.distributed.run"):
    """The command that starts them."""
    parser = _parser(prog)
    given = parser.parse_args(arguments)
    if given.nnodes not in ("1", "1:1") or given.node_rank != 0:
        parser.error("it starts processes of one machine: --nnodes must be 1")
    processes = given.nproc_per_node
    if processes in ("auto", "cpu"):
        processes = str(len(os.sched_getaffinity(0)))
    elif not processes.isdecimal() or int(processes) < 1:
        parser.error(f"argument --nproc-per-node: expected a number, auto or cpu, got '{processes}'")
    launch = [_launcher(), "--nproc", processes, "--max-restarts", str(given.max_restarts)]
    if given.grace is not None:
        launch += ["--grace", given.grace]
    if given.no_prefix:
        launch += ["--no-prefix"]
    launch += ["--"]
    if not given.no_python:
        launch += [sys.executable, "-u"] + (["-m"] if given.module else [])
    elif given.module:
        parser.error("--module and --no-python exclude each other")
    return launch + [given.training_script, *given.training_script_args]


def main(arguments=None, prog="python -m tenon.distributed.run"):
    launch = command(arguments, prog)
    sys.stdout.flush()
    os.execv(launch[0], launch)


if __name__ == "__main__":
    main()
