"""TorchScript: nothing is compiled, functions and modules stay as they are. What saves or loads compiled programs is missing."""

import contextlib
from typing import Final as Final

from tenon.as_torch.extra._decorators import answer, given_back
from tenon.futures import Future as Future

script = given_back("script")
script_method = given_back("script_method")
script_if_tracing = given_back("script_if_tracing")
ignore = given_back("ignore")
export = given_back("export")
unused = given_back("unused")
interface = given_back("interface")
optimize_for_inference = given_back("optimize_for_inference")
_overload = given_back("_overload")
_overload_method = given_back("_overload_method")
_script_if_tracing = given_back("_script_if_tracing")

is_scripting = answer("is_scripting", False, "False: nothing is compiled.")
is_tracing = answer("is_tracing", False, "False: nothing is traced.")


def trace(func, example_inputs=None, *args, **kwargs):
    """The function as it is: it is not bound to the example's path through it."""
    return func


def freeze(mod, *args, **kwargs):
    """The module as it is; as in PyTorch it must not be training."""
    if mod.training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in eval mode. Please call .eval() before freezing."
        )
    return mod


def annotate(the_type, the_value):
    """The value."""
    return the_value


def isinstance(obj, target_type):
    """Whether the object is an instance of the class, or of one of several."""
    return __builtins_isinstance(obj, target_type)


__builtins_isinstance = __builtins__["isinstance"]


@contextlib.contextmanager
def optimized_execution(should_optimize):
    """No effect."""
    yield


def fork(func, *args, **kwargs):
    """A Future with what the function returns or raises; it runs here."""
    future = Future()
    try:
        future.set_result(func(*args, **kwargs))
    except Exception as error:
        future.set_exception(error)
    return future


def wait(future):
    """What the function returned."""
    if future is None:
        raise RuntimeError("Future can't be None")
    return future.wait()


_fork, _wait = fork, wait
