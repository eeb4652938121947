"""Random numbers: the generators that operators draw from. For one seed they give PyTorch's numbers."""

import contextlib
import copyreg
import os

from tenon import _C

default_generator = _C._default_generator()


def _rebuild_generator(device, state):
    generator = _C.Generator(device)
    _C._set_rng_state(generator, state)
    return generator


def _reduce_generator(generator):
    return _rebuild_generator, (str(generator.device), _C._get_rng_state(generator))


copyreg.pickle(_C.Generator, _reduce_generator)


def _set_state(generator, new_state):
    """Sets what get_state() has given."""
    _C._set_rng_state(generator, new_state)


def _get_state(generator):
    """The generator's state, as a tensor of bytes in PyTorch's layout."""
    return _C._get_rng_state(generator)


_C.Generator.get_state, _C.Generator.set_state = _get_state, _set_state


def manual_seed(seed):
    """Seeds the default generators of all devices; gives the CPU's. A seed is from -2**63 to 2**64 - 1."""
    seed = int(seed)
    if not -(2**63) <= seed < 2**64:
        raise ValueError(f"Overflow when unpacking long long, got the seed {seed}")
    return _C.manual_seed(seed)


def seed():
    """Seeds the default generators with a number that nobody could foretell, and gives it."""
    value = int.from_bytes(os.urandom(8), "little")
    _C.manual_seed(value)
    return value


def initial_seed():
    """The seed that was set last."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the CPU's generator, as a tensor of bytes in PyTorch's layout."""
    return _C._get_rng_state(default_generator)


def set_rng_state(new_state):
    """Sets what get_rng_state() has given."""
    if not isinstance(new_state, _C.Tensor):
        raise TypeError(f"expected a tenon.ByteTensor, but got {new_state.__class__.__name__}")
    if new_state.dtype is not _C.uint8:
        raise TypeError("RNG state must be a tenon.ByteTensor")
    _C._set_rng_state(default_generator, new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type=None):
    """Afterwards the CPU's generator goes on as if nothing had been drawn within."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
