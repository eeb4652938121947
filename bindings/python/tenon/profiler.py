"""Which operators a program runs, how long they take, and with how much memory.

Example:

    with tenon.profiler.profile(record_shapes=True) as prof:
        model(x).sum().backward()
    print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")
"""

from tenon import _C
from tenon.autograd.grad_mode import _Mode

__all__ = ["profile", "record_function"]

_SORT = {"self_cpu_time_total": 0, "cpu_time_total": 1, "count": 2, "cpu_memory_usage": 3}


class _Averages(list):
    """Events of one name, or of one name and shapes, together."""

    def __init__(self, profile, by_shapes):
        super().__init__(profile.averages(by_shapes))
        self._profile, self._by_shapes = profile, by_shapes

    def table(self, sort_by=None, row_limit=100):
        """As text; sort_by: self_cpu_time_total (or None), cpu_time_total, count, cpu_memory_usage."""
        if sort_by not in _SORT and sort_by is not None:
            raise ValueError(f"sort_by must be one of {', '.join(_SORT)}, got {sort_by!r}")
        rows = row_limit if row_limit >= 0 else 2**63
        return self._profile.table(_SORT.get(sort_by, 0), rows, self._by_shapes)


class profile:
    """Profiles this thread from __enter__ or start() to __exit__ or stop()."""

    def __init__(self, *, record_shapes=False, profile_memory=False, with_flops=False):
        self._options = (record_shapes, profile_memory, with_flops)
        self._profile = None

    def start(self):
        self._profile = _C._Profile(*self._options)

    def stop(self):
        self._profile.stop()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def _recorded(self):
        if self._profile is None:
            raise RuntimeError("profile: nothing was recorded; use it in a `with` statement")
        return self._profile

    def events(self):
        return self._recorded().events()

    def key_averages(self, group_by_input_shape=False):
        return _Averages(self._recorded(), group_by_input_shape)

    def export_chrome_trace(self, path):
        self._recorded().export_chrome_trace(str(path))

    def export_svg(self, path):
        """A picture for a browser: events along the time, those within others beneath them, and the memory."""
        self._recorded().export_svg(str(path))


class record_function(_Mode):
    """A named range of the program: a context manager and decorator."""

    def __init__(self, name):
        self.name = name
        self._ranges = []

    def __enter__(self):
        self._ranges.append(_C._record_function(self.name))
        return self

    def __exit__(self, *exception):
        self._ranges.pop()

    def _clone(self):
        return self.__class__(self.name)
