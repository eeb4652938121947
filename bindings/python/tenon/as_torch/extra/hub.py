"""Private names of torch.hub that programs use."""

import os
import re
from urllib.parse import urlparse as urlparse

from tenon.hub import get_dir


def _get_torch_home():
    """The folder that the hub's own is in."""
    return os.path.dirname(get_dir())


HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
