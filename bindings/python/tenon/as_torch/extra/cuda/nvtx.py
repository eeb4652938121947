"""Marks for NVIDIA's profilers, which Tenon does not write: no effect."""

import contextlib

from tenon.as_torch.extra._decorators import answer

mark = answer("mark", None, "No effect.")
range_push = answer("range_push", 0, "No effect.")
range_pop = answer("range_pop", 0, "No effect.")
range_start = answer("range_start", 0, "No effect.")
range_end = answer("range_end", None, "No effect.")


@contextlib.contextmanager
def range(msg, *args, **kwargs):
    """No effect."""
    yield
