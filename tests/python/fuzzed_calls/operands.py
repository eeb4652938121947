"""Descriptions of arguments: tensors that can be changed before they are made, and pools of numbers."""

import copy
import math

import torch

inf, nan = math.inf, math.nan

NUMBERS = [
    0,
    1,
    -1,
    2,
    3,
    -7,
    0.0,
    -0.0,
    0.5,
    -1.5,
    2.5,
    1e30,
    1e-30,
    1e308,
    nan,
    inf,
    -inf,
    True,
    False,
    2j,
    1 - 1j,
    256,
]
NUMBERS += [2**31, 2**53 + 1, 2**62, -(2**63)]
FLOATS = [0.0, 1.0, -1.0, 0.5, 2.0, nan, inf, -inf, 1e-5, 1e30, 3, True]
INTEGERS = [0, 1, -1, 2, 3, 4, -2, -3, 5, -5, 7, 2**31, 2**62, -(2**63), True]
SIZES = [0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 64, 65]
WRONG = [None, 1, 1.5, True, "a", 1j, [], (1, 2)]  # values of other types than the schema's

COMMON = [torch.float32, torch.float64, torch.int64, torch.int32, torch.bool, torch.float16, torch.bfloat16]
DTYPES = [*COMMON, torch.uint8, torch.int8, torch.int16, torch.complex64, torch.complex128]
# Which are stored and converted, and not computed with.
STORED = [torch.uint16, torch.uint32, torch.uint64, torch.float8_e4m3fn, torch.float8_e5m2]

LAYOUTS = ["contiguous", "reversed", "permuted", "stepped", "expanded", "offset", "channels last"]


def subnormal(dtype):
    return torch.finfo(dtype).smallest_normal * 0.25


def specials(dtype):
    if dtype.is_floating_point and dtype not in STORED:
        limits = torch.finfo(dtype)
        return [nan, inf, -inf, -0.0, 0.0, subnormal(dtype), limits.max, limits.min, limits.smallest_normal, 1.0, -1.0]
    if dtype.is_complex:
        return [
            complex(nan, 0),
            complex(inf, 1),
            complex(0, -inf),
            complex(-0.0, 0.0),
            complex(1, -0.0),
            0j,
            complex(inf, nan),
        ]
    if dtype == torch.bool or dtype in STORED:
        return [0, 1]
    limits = torch.iinfo(dtype)
    return [limits.min, limits.max, 0, 1, limits.min + 1, limits.max - 1]


class Operand:
    """A tensor argument, to be made from a seed."""

    def __init__(self, spec, seed):
        """From a tensor of a sample row (tests/ops/README.md)."""
        self.dtype, self.sizes, self.range, self.cells = spec.dtype, list(spec.sizes), spec.range, spec.values
        names = {"t": "reversed", "every2": "stepped", "expand": "expanded", "cl": "channels last"}
        self.layout, self.seed, self.special, self.grad = names.get(spec.layout, "contiguous"), seed, 0, spec.grad
        self.view_of = None  # an operand whose memory this one shows, and from which element

    def __deepcopy__(self, memo):
        copied = copy.copy(self)
        memo[id(self)] = copied
        copied.sizes = list(self.sizes)
        copied.view_of = copy.deepcopy(self.view_of, memo)
        return copied

    def __str__(self):
        text = f"{str(self.dtype).removeprefix('torch.')}{self.sizes}"
        text += f" {self.layout}" if self.layout != "contiguous" else ""
        if self.view_of:
            return f"<{text} over another argument from element {self.view_of[1]}>"
        if self.cells is not None:
            text += f" of {self.cells}"
        elif self.range:
            text += f" in {self.range}"
        return f"<{text}{f' with {self.special} special values' if self.special else ''}>"

    __repr__ = __str__

    def numel(self):
        return math.prod(self.sizes)

    def make(self, made):
        """The tensor; `made` holds those of the call."""
        if self.view_of:
            other, start = self.view_of
            flat = torch.empty(0, dtype=self.dtype).set_(other.tensor(made).untyped_storage())
            return flat[start : start + self.numel()].view(self.sizes)
        sizes = list(self.sizes)
        expands = self.layout == "expanded" and sizes and sizes[0] > 0
        if expands:
            sizes[0] = 1
        values = self.values(math.prod(sizes)).reshape(sizes)
        rank, dice = len(sizes), self.seed
        if expands:
            return values.expand(self.sizes)
        if self.layout == "reversed" and rank:
            order = list(reversed(range(rank)))
            return values.permute(order).contiguous().permute(order)
        if self.layout == "permuted" and rank:
            turn = dice % rank
            order = list(range(turn, rank)) + list(range(turn))
            return values.permute(order).contiguous().permute([(i - turn) % rank for i in range(rank)])
        if self.layout == "stepped" and rank:
            dim, step = dice % rank, 2 + dice % 2
            wide = torch.zeros([n * step if d == dim else n for d, n in enumerate(sizes)], dtype=self.dtype)
            view = wide[tuple(slice(None, None, step if d == dim else 1) for d in range(rank))]
            return view.copy_(values)
        if self.layout == "offset":
            wide = torch.zeros(values.numel() + 5, dtype=self.dtype)
            return wide[3 : 3 + values.numel()].view(sizes).copy_(values)
        if self.layout == "channels last" and rank in (4, 5):
            return values.contiguous(memory_format=torch.channels_last if rank == 4 else torch.channels_last_3d)
        return values

    def tensor(self, made):
        if id(self) not in made:
            made[id(self)] = self.make(made)
        return made[id(self)]

    def values(self, count):
        generator = torch.Generator().manual_seed(self.seed)
        dtype = self.dtype
        if self.cells is not None:
            complex_, floating = (any(isinstance(c, t) for c in self.cells) for t in (complex, float))
            carrier = torch.complex128 if complex_ else torch.float64 if floating else torch.int64
            cells = torch.tensor(self.cells, dtype=carrier)
            values = cells.repeat(-(-count // max(1, len(cells))))[:count] if len(cells) else torch.zeros(count)
        elif dtype.is_complex or dtype.is_floating_point:
            low, high = self.range or (-2, 2)
            values = torch.rand(count, generator=generator, dtype=torch.float64) * (high - low) + low
            if dtype.is_complex:
                imaginary = torch.rand(count, generator=generator, dtype=torch.float64) * (high - low) + low
                values = torch.complex(values, imaginary)
        else:
            low, high = (int(x) for x in self.range or {torch.bool: (0, 1), torch.uint8: (0, 9)}.get(dtype, (-5, 5)))
            values = torch.randint(low, high + 1, (count,), generator=generator)
        if not dtype.is_complex and values.is_complex():
            values = values.real
        if not (dtype.is_complex or dtype.is_floating_point):
            # A conversion of what the integer cannot hold is undefined.
            values = values.nan_to_num() if values.is_floating_point() else values
            values = values.to(torch.int64).clamp(0 if not dtype.is_signed else -100) if values.numel() else values
        values = values.to(dtype)
        pool = specials(dtype)
        for _ in range(self.special if count else 0):
            at, which = torch.randint(0, 1 << 30, (2,), generator=generator).tolist()
            values[at % count] = pool[which % len(pool)]
        return values
