"""The version that `torch` answers."""

from tenon.as_torch._names import VERSION


def _parsed(version):
    from packaging.version import Version  # what needs it has it

    return version if isinstance(version, Version) else Version(str(version))


class TorchVersion(str):
    """A text that is compared as a version, with texts, versions and tuples of numbers."""

    def _compared(self, other):
        if isinstance(other, (tuple, list)):
            other = ".".join(map(str, other))
        return _parsed(self), _parsed(other)

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
        if isinstance(other, str):
            return str.__eq__(self, other)
        mine, given = self._compared(other)
        return mine == given

    __hash__ = str.__hash__


__version__ = TorchVersion(VERSION)
