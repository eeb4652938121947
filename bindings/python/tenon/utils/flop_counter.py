"""How many floating-point operations a program's products and convolutions take, by the profiler's counts.

Example:

    with FlopCounterMode(display=False) as counter:
        model(x)
    print(counter.get_total_flops())
"""

from tenon.profiler import profile

__all__ = ["FlopCounterMode"]


class FlopCounterMode:
    """Counts from __enter__ to __exit__, in this thread. A product of n x k and k x m is 2 n k m. display: prints the counts at the end."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None, skip_unsupported=False):
        if custom_mapping:
            raise NotImplementedError("FlopCounterMode: custom_mapping")
        self.display, self._counts = display, {}

    def __enter__(self):
        self._profile = profile(with_flops=True)
        self._profile.start()
        return self

    def __exit__(self, *exception):
        self._profile.stop()
        self._counts = {}
        for event in self._profile.events():
            if event.flops:
                name = event.name.replace("::", ".")
                self._counts[name] = self._counts.get(name, 0) + event.flops
        if self.display:
            print(self.get_table())

    def get_flop_counts(self):
        """{"Global": {operator: operations}}; modules are not told apart."""
        return {"Global": dict(self._counts)}

    def get_total_flops(self):
        """The sum."""
        return sum(self._counts.values())

    def get_table(self, depth=None):
        """The counts as text."""
        lines = [f"{name:40} {count:>16,}" for name, count in sorted(self._counts.items(), key=lambda item: -item[1])]
        return "\n".join([*lines, f"{'total':40} {self.get_total_flops():>16,}"])
