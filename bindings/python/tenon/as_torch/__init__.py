"""Tenon in the place of PyTorch, for programs that are written for `torch`.

    python -m tenon.as_torch program.py [args]
    python -m tenon.as_torch -m package [args]

or, as a program's first line, `import tenon.as_torch`. From there on `import torch` gives Tenon, in this process and in those
that it starts. See docs/as_torch.md.
"""

import os
import sys

from tenon.as_torch._missing import (
    AttributeNotInTenon as AttributeNotInTenon,
    NotInTenon as NotInTenon,
    report as report,
)
from tenon.as_torch._names import VERSION as VERSION

_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")


def _inherit():
    """This process and those that it starts find `torch` in the folder `site`, with the version in its metadata."""
    if _SITE not in sys.path:
        sys.path.insert(1, _SITE)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _SITE not in paths:
        os.environ["PYTHONPATH"] = os.pathsep.join([_SITE, *filter(None, paths)])


def _install():
    from tenon.as_torch import _modules, _pickles, _texts

    there = sys.modules.get("torch")
    if there is not None and not getattr(there, "__file__", "").startswith(_SITE):
        raise RuntimeError(f"PyTorch is imported already, from {there.__file__}: import tenon.as_torch before it")
    _texts.install()
    _pickles.install()
    _modules.install()
    _inherit()


_install()
