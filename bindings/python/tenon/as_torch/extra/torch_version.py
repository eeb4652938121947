"""The version that `torch` answers."""

import re

from tenon.as_torch._names import VERSION

_VERSION = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<pre>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<pre_n>\d*))?"
    r"(?:-(?P<post_short>\d+)|[-_.]?(?P<post>post|rev|r)[-_.]?(?P<post_n>\d*))?"
    r"(?:[-_.]?(?P<dev>dev)[-_.]?(?P<dev_n>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_PRE = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc"}


def _key(version):
    """What versions are compared by, in the order of Python's packages; None for a text that is no version."""
    found = _VERSION.fullmatch(str(version))
    if found is None:
        return None
    numbers = [int(part) for part in found["release"].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    has_post = found["post"] or found["post_short"]
    if found["pre"]:
        pre = (0, _PRE.get(found["pre"].lower(), found["pre"].lower()), int(found["pre_n"] or 0))
    else:
        pre = (-1,) if found["dev"] and not has_post else (1,)
    post = (0, int(found["post_n"] or found["post_short"] or 0)) if has_post else (-1,)
    dev = (0, int(found["dev_n"] or 0)) if found["dev"] else (1,)
    parts = re.split(r"[-_.]", found["local"].lower()) if found["local"] else []
    local = (0, [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in parts]) if parts else (-1,)
    return int(found["epoch"] or 0), numbers, pre, post, dev, local


class TorchVersion(str):
    """A text that is compared as a version, with texts, versions and tuples of numbers."""

    def _compared(self, other):
        if isinstance(other, (tuple, list)):
            other = ".".join(map(str, other))
        mine, given = _key(self), _key(other)
        return (str(self), str(other)) if mine is None or given is None else (mine, given)

    def __lt__(self, other):
        mine, given = self._compared(other)
        return mine < given

    def __le__(self, other):
        mine, given = self._compared(other)
        return mine <= given

    def __gt__(self, other):
        mine, given = self._compared(other)
        return mine > given

    def __ge__(self, other):
        mine, given = self._compared(other)
        return mine >= given

    def __eq__(self, other):
        mine, given = self._compared(other)
        return mine == given

    def __ne__(self, other):
        return not self == other

    __hash__ = str.__hash__


__version__ = TorchVersion(VERSION)
