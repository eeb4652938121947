"""Private names of torch.hub that programs use."""

import os

from tenon.hub import get_dir


def _get_torch_home():
    """The folder that the hub's own is in."""
    return os.path.dirname(get_dir())
