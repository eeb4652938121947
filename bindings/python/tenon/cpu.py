"""The CPU, with the names that modules of other devices have."""

import contextlib

__all__ = [
    "current_device",
    "current_stream",
    "device_count",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]


class Stream:
    """The queue of the CPU's work, which is done at once."""

    def __init__(self, priority=-1):
        pass

    def wait_stream(self, stream):
        """Nothing to wait for."""

    def synchronize(self):
        """Nothing to wait for."""


class Event:
    """A mark in the queue."""

    def query(self):
        return True

    def record(self, stream=None):
        """Nothing to mark."""

    def synchronize(self):
        """Nothing to wait for."""

    def wait(self, stream=None):
        """Nothing to wait for."""


_stream = Stream()


def is_available():
    """True."""
    return True


def is_initialized():
    """True."""
    return True


def device_count():
    """1."""
    return 1


def current_device():
    """The CPU's name."""
    return "cpu"


def set_device(device):
    """No effect: there is one."""


def synchronize(device=None):
    """Nothing to wait for."""


def current_stream(device=None):
    """The one stream."""
    return _stream


@contextlib.contextmanager
def stream(stream):
    """No effect: there is one."""
    yield
