"""Times of small pieces of code.

Example:

    timer = Timer("x @ x", globals={"x": tenon.ones(64, 64)})
    print(timer.blocked_autorange())
"""

import dataclasses
import statistics
import timeit

import tenon

__all__ = ["Measurement", "Timer"]


@dataclasses.dataclass
class Measurement:
    """Times of runs: raw_times has the seconds of number_per_run runs together, each."""

    number_per_run: int
    raw_times: list
    stmt: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = 1

    @property
    def times(self):
        """Seconds of one run, for each measurement."""
        return [seconds / self.number_per_run for seconds in self.raw_times]

    @property
    def mean(self):
        return statistics.fmean(self.times)

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def iqr(self):
        """The distance of the quartiles."""
        if len(self.raw_times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return third - first

    @property
    def title(self):
        return self.label or self.stmt

    def __repr__(self):
        scale, unit = next(
            ((s, u) for s, u in ((1, "s"), (1e3, "ms"), (1e6, "us")) if self.median * s >= 1), (1e9, "ns")
        )
        count = len(self.raw_times)
        lines = [
            f"{type(self).__name__}: {self.title}{': ' + self.sub_label if self.sub_label else ''}",
            f"  Median: {self.median * scale:.2f} {unit}, IQR: {self.iqr * scale:.2f} {unit}",
            f"  {count} measurement{'s' if count != 1 else ''}, {self.number_per_run} runs per measurement, {self.num_threads} thread"
            + ("s" if self.num_threads != 1 else ""),
        ]
        return "\n".join(lines)


def _seconds():
    """The clock, when GPUs have done what they were given."""
    if tenon.cuda.is_available():
        tenon.cuda.synchronize()
    return timeit.default_timer()


class Timer:
    """Measures a statement of Python, after `setup` and with num_threads threads."""

    def __init__(
        self, stmt="pass", setup="pass", global_setup="", timer=_seconds, globals=None, label=None, sub_label=None, description=None,
        env=None, num_threads=1, language="python",
    ):  # fmt: skip
        if str(language).lower() not in ("python", "py", "language.python") or global_setup:
            raise NotImplementedError("Timer: statements of C++")
        self._timer = timeit.Timer(stmt, setup, timer, dict(globals or {}))
        self._names = {
            "stmt": stmt,
            "label": label,
            "sub_label": sub_label,
            "description": description,
            "num_threads": num_threads,
        }

    def _run(self, number):
        before = tenon.get_num_threads()
        tenon.set_num_threads(self._names["num_threads"])
        try:
            return self._timer.timeit(number)
        finally:
            tenon.set_num_threads(before)

    def timeit(self, number=1000000):
        """One measurement of `number` runs, after a warm-up."""
        self._run(max(number // 100, 1))
        return Measurement(number, [self._run(number)], **self._names)

    def blocked_autorange(self, callback=None, min_run_time=0.2):
        """Measurements of so many runs that the clock costs little, for min_run_time seconds together at least."""
        number = 1
        while (seconds := self._run(number)) < min_run_time / 1000 or number == 1 and seconds < 1e-3:
            number *= 10
        times, total = [], 0.0
        while total < min_run_time:
            seconds = self._run(number)
            times.append(seconds)
            total += seconds
            if callback is not None:
                callback(number, seconds)
        return Measurement(number, times, **self._names)

    def adaptive_autorange(self, threshold=0.1, *, min_run_time=0.01, max_run_time=10.0, callback=None):
        """blocked_autorange() until the quartiles are nearer to each other than a part `threshold` of the median."""
        total, result = 0.0, None
        while total < max_run_time:
            more = self.blocked_autorange(callback, min_run_time)
            total += sum(more.raw_times)
            if result is None or more.number_per_run != result.number_per_run:
                result = more
            else:
                result.raw_times += more.raw_times
            if len(result.raw_times) > 3 and result.iqr < threshold * result.median:
                break
        return result
