"""Private names of torch.cuda that programs use."""

import tenon

_initialized = tenon.cuda.is_initialized()


def _lazy_init():
    """Nothing is to be prepared. RuntimeError without a GPU."""
    tenon.cuda.init()


def _lazy_call(callable, **kwargs):
    """Calls it if there is a GPU."""
    if tenon.cuda.is_available():
        callable()


def _is_in_bad_fork():
    """False."""
    return False
