"""python -m tenon.as_torch [--report] (program.py | -m module) [args]"""

import argparse
import atexit
import io
import os
import runpy
import sys
import types

import tenon.as_torch


def _arguments():
    parser = argparse.ArgumentParser(
        prog="python -m tenon.as_torch", description="Runs a program for PyTorch on Tenon."
    )
    parser.add_argument("--report", action="store_true", help="list the missing names at the end, on standard error")
    parser.add_argument("-m", dest="module", action="store_true", help="the program is a module")
    parser.add_argument("program")
    parser.add_argument("args", nargs=argparse.REMAINDER)
    return parser.parse_args()


def _run_file(path):
    """As the interpreter does: in a module __main__ that stays until the end."""
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec")
    main = types.ModuleType("__main__")
    main.__file__, main.__builtins__ = path, __builtins__
    sys.modules["__main__"] = main
    exec(code, vars(main))  # noqa: S102  the program


def main():
    options = _arguments()
    if options.report:
        atexit.register(lambda: print(tenon.as_torch.report(), file=sys.stderr))
    sys.argv = [options.program, *options.args]
    if options.module:
        sys.path[0] = os.getcwd()
        runpy.run_module(options.program, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = os.path.dirname(os.path.abspath(options.program))
        _run_file(options.program)


main()
