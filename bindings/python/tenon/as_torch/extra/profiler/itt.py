"""Marks for Intel's profilers, which Tenon does not write."""

import contextlib

from tenon.as_torch.extra._decorators import answer

is_available = answer("is_available", False, "False.")
mark = answer("mark", None, "No effect.")
range_push = answer("range_push", None, "No effect.")
range_pop = answer("range_pop", None, "No effect.")


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    """No effect."""
    yield
