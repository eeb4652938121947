"""Names of torch.serialization that pickles and programs have."""

from tenon import _C

DEFAULT_PROTOCOL = 2


def _get_layout(name):
    """The layout of the name "torch.strided"."""
    return getattr(_C, name.rpartition(".")[2])


def _is_zipfile(f):
    """Whether a file begins as a ZIP file does, from where it stands."""
    start = f.tell()
    found = f.read(4)
    f.seek(start)
    return found == b"PK\x03\x04"
