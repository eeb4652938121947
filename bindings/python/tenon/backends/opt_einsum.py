"""The order of products in einsum(): from the left to the right."""

import contextlib

from ._switches import Switches


def is_available():
    """False: einsum() multiplies from the left to the right."""
    return False


def get_opt_einsum():
    """None."""
    return None


@contextlib.contextmanager
def flags(enabled=None, strategy=None):
    """No effect."""
    yield


Switches(__name__, {"enabled": False})
