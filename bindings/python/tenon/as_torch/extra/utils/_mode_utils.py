"""Private names of torch.utils._mode_utils."""

import contextlib


@contextlib.contextmanager
def no_dispatch():
    """No effect: no class and no mode has __torch_dispatch__."""
    yield
