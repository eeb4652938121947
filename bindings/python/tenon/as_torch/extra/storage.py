"""What pickles of storages name."""

import io

import tenon


def _load_from_bytes(b):
    """A storage that was saved by itself."""
    return tenon.load(io.BytesIO(b), weights_only=False)
