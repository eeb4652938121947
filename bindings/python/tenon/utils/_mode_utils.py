"""Helpers of modes."""

from tenon._C import _DisableTorchDispatch


def no_dispatch():
    """In `with no_dispatch():` neither classes nor modes with __torch_dispatch__ take calls."""
    return _DisableTorchDispatch()


def all_same_mode(modes):
    """Whether all are the same object."""
    return all(mode is modes[0] for mode in modes)
