"""Numbers with units: products and quotients have theirs, sums must agree."""

import torch

aten = torch.ops.aten


class Quantity(torch.Tensor):
    @staticmethod
    def __new__(cls, value, **units):
        return torch.Tensor._make_wrapper_subclass(cls, value.shape, dtype=value.dtype)

    def __init__(self, value, **units):
        self.value, self.units = value, {name: power for name, power in sorted(units.items()) if power}

    def __repr__(self):
        return f"{[round(v, 4) for v in self.value.view(-1).tolist()]} {self.units}"

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        values = [a.value if isinstance(a, cls) else a for a in args]
        units = [a.units if isinstance(a, cls) else {} for a in args]
        out = func(*values, **(kwargs or {}))
        if func in (aten.mul.Tensor, aten.div.Tensor):
            sign = 1 if func is aten.mul.Tensor else -1
            names = {*units[0], *units[1]}
            return cls(out, **{n: units[0].get(n, 0) + sign * units[1].get(n, 0) for n in names})
        if func in (aten.add.Tensor, aten.sub.Tensor) and units[0] != units[1]:
            raise ValueError(f"{units[0]} and {units[1]} in {func}")
        if func is aten.sqrt.default:
            return cls(out, **{n: power // 2 for n, power in units[0].items()})
        if func.overloadpacket in (aten.add, aten.sub, aten.sum, aten.neg, aten.detach):
            return cls(out, **units[0])
        raise NotImplementedError(str(func))


length = Quantity(torch.tensor([3.0, 4.0]), m=1)
time = Quantity(torch.tensor([1.0, 2.0]), s=1)
print(length / time, length * length, (length * length).sum(), (length * length).sum().sqrt(), length * 2, -length)
for wrong in (lambda: length + time, lambda: length.exp()):
    try:
        wrong()
    except (ValueError, NotImplementedError) as error:
        print(type(error).__name__, error)
