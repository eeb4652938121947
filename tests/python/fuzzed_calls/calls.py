"""Calls to try: a row of tests/ops/samples, which PyTorch accepts, changed argument by argument by chance."""

import copy
import functools
import random

import torch

from .operands import COMMON, DTYPES, FLOATS, INTEGERS, LAYOUTS, NUMBERS, SIZES, STORED, WRONG, Operand

FORMS = {"function": 9, "overload": 3, "method": 3, "in place": 3, "out": 4}
OUTS = ("right", "right", "empty", "wrong size", "other dtype", "reversed", "argument", "overlapping", "expanded")
# Numbers that name one of a few ways; PyTorch does something for others too.
UNCHECKED = ("reduction", "interpolation_mode", "padding_mode")
LARGEST = 1 << 17  # elements of a tensor


class Base:
    """One sample row for one operator and dtype: the call that others are made from."""

    def __init__(self, family, name, overload, row, dtype):
        self.family, self.name, self.overload, self.row, self.dtype = family, name, overload, row, dtype
        self.arguments = overload._schema.arguments
        self.types = [(a.name, python_type(a), a.kwarg_only) for a in self.arguments]
        self.base = name.partition(".")[0]
        # Operators that only PyTorch's own code calls do not check what they are given.
        self.trusting = self.base.startswith("_") and not self.base.startswith("_foreach_")
        self.trusting |= self.base.endswith("_backward")

    def call(self):
        """The row's arguments, as copies that may be changed."""
        memo = {}
        args, kwargs = self.row_arguments
        return copied(args, memo), {k: copied(v, memo) for k, v in kwargs.items()}

    @functools.cached_property
    def row_arguments(self):
        import make_golden

        operands = []

        class Rows(make_golden.Call):
            def tensor(self, text):
                operands.append(Operand(make_golden.Spec(text.replace("$", self.dtype)), len(operands) + 1))
                return operands[-1]

        made = Rows(self.row, self.dtype, self.types)
        return made.args, made.kwargs


def copied(value, memo):
    if isinstance(value, list):
        return [copied(v, memo) for v in value]
    return copy.deepcopy(value, memo) if isinstance(value, Operand) else value


def python_type(argument):
    """The schema's text of an argument's type: "Tensor?", "int[2]"."""
    text = str(argument.real_type).replace("number", "Scalar")
    optional = text.startswith("Optional[")
    if optional:
        text = text[len("Optional[") : -1]
    if text.startswith("List["):
        inner = text[len("List[") : -1]
        inner = f"{inner[len('Optional[') : -1]}?" if inner.startswith("Optional[") else inner
        text = f"{inner}[{argument.N or ''}]"
    return f"{text}?" if optional else text


def bases():
    """All of them, and the names of operators without a counterpart in PyTorch."""
    import make_golden

    found, lacking = [], set()
    for path in sorted((make_golden.HERE / "samples").glob("*.yaml")):
        for _, row in make_golden.rows_of(path):
            for name in row.get("ops") or [row["op"]]:
                base, _, overload = name.partition(".")
                of_torch = getattr(getattr(torch.ops.aten, base, None), overload or "default", None)
                if of_torch is None:
                    lacking.add(name)
                    continue
                found += [Base(path.stem, name, of_torch, row, dtype) for dtype in row.get("for") or [""]]
    usable = []
    for base in found:
        try:
            base.row_arguments
        except Exception:  # a word that Python has not, as a number wrapped in a tensor
            continue
        usable.append(base)
    return usable, lacking


class Place:
    """An argument, or an item of a list in one: it can be read and replaced."""

    def __init__(self, holder, key, name, type_, top):
        self.holder, self.key, self.name, self.type, self.top = holder, key, name, type_, top

    value = property(lambda self: self.holder[self.key], lambda self, value: self.holder.__setitem__(self.key, value))


class Call:
    """A base with the changes of one draw. `changes` are the seeds of those to make: fewer make a smaller call."""

    def __init__(self, base, form, seed, changes):
        self.base, self.form, self.seed, self.changes = base, form, seed, changes
        self.args, self.kwargs = base.call()
        self.out = None
        for change in changes:
            self.change(random.Random(change))
        draw = random.Random(f"{seed} out")
        self.out, self.leaves = draw.choice(OUTS), draw.random() < 0.6

    def __str__(self):
        def text(value):
            return f"[{', '.join(map(text, value))}]" if isinstance(value, list) else str(value)

        inside = [text(a) for a in self.args] + [f"{k}={text(v)}" for k, v in self.kwargs.items()]
        form = f"{self.form}, {self.out}" if self.form == "out" else self.form
        return f"{self.base.name}({', '.join(inside)}) [{form}]"

    def places(self):
        found = []
        types = {name: type_ for name, type_, _ in self.base.types}
        top = [(self.args, i, name) for i, (name, _, _) in zip(range(len(self.args)), self.base.types)]
        for holder, key, name in [*top, *((self.kwargs, k, k) for k in self.kwargs)]:
            type_ = types.get(name, "?")
            found.append(Place(holder, key, name, type_, True))
            if isinstance(holder[key], list):
                inner = type_.partition("[")[0]
                found += [Place(holder[key], i, name, inner, False) for i in range(len(holder[key]))]
        return found

    def operands(self):
        return [p.value for p in self.places() if isinstance(p.value, Operand)]

    # ---- changes: each takes its own chance, so that they can be left out one by one ----

    def change(self, draw):
        safe = {"resize": 5, "dtypes": 3, "layout": 4, "special": 4, "draw": 1, "grow": 2, "prepend": 1}
        risky = {"dtype": 3, "size": 3, "rank": 2, "number": 7, "list": 3, "none": 2, "leave out": 2, "add": 3}
        risky |= {"alias": 1, "type": 1, "keyword": 1}
        kinds = safe if self.base.trusting else safe | risky
        kind = draw.choices(list(kinds), list(kinds.values()))[0]
        getattr(self, f"change_{kind.replace(' ', '_')}")(draw)

    def one(self, draw):
        found = self.operands()
        return draw.choice(found) if found else None

    def sizes(self):
        """The sizes that may change: those that callers keep to 1 stay so."""
        return sorted({n for t in self.operands() for n in t.sizes if n != 1 or not self.base.trusting})

    def change_resize(self, draw):
        """One size becomes another everywhere: in tensors, in ranges of indices, in numbers."""
        sizes = self.sizes()
        if not sizes:
            return
        old, new = draw.choice(sizes), draw.choice(SIZES)
        for place in self.places():
            value = place.value
            if isinstance(value, Operand):
                value.sizes = [new if n == old else n for n in value.sizes]
                if value.range and value.range[1] == old - 1 and not value.dtype.is_floating_point:
                    value.range = [min(value.range[0], new - 1), new - 1] if new else [0, 0]
            elif type(value) is int and value == old and not place.top:
                place.value = new
        self.bound()

    def change_grow(self, draw):
        """One size becomes large, past what a thread or a vector takes at once."""
        if self.base.family in ("factorizations", "attention", "recurrent"):
            return
        sizes = self.sizes()
        if not sizes:
            return
        old, new = draw.choice(sizes), draw.choice([100, 129, 1000, 4099, 33000, 70001])
        for operand in self.operands():
            operand.sizes = [new if n == old else n for n in operand.sizes]
        self.bound()

    def bound(self):
        limit = 2048 if self.base.family == "factorizations" else LARGEST
        for operand in self.operands():
            while operand.numel() > limit:
                largest = max(operand.sizes)
                smaller = max(1, largest // 4)
                for other in self.operands():
                    other.sizes = [smaller if n == largest else n for n in other.sizes]

    def change_prepend(self, draw):
        extra = draw.choice([0, 1, 2, 3])
        for operand in self.operands():
            operand.sizes.insert(0, extra)
        self.bound()

    def change_dtypes(self, draw):
        """The dtype of most tensors becomes another one everywhere."""
        operands = self.operands()
        if operands:
            old, new = operands[0].dtype, draw.choice(DTYPES)
            for operand in operands:
                if operand.dtype == old:
                    operand.dtype = new
            for place in self.places():
                if isinstance(place.value, torch.dtype) and place.value == old:
                    place.value = new

    def change_dtype(self, draw):
        operand = self.one(draw)
        if operand:
            operand.dtype = draw.choice(DTYPES + COMMON + STORED if draw.random() < 0.1 else DTYPES + COMMON)

    def change_layout(self, draw):
        operand = self.one(draw)
        if operand and not self.base.base.startswith("_fused"):
            operand.layout, operand.seed = draw.choice(LAYOUTS), draw.randrange(1 << 30)

    def change_special(self, draw):
        operand = self.one(draw)
        indices = operand and not (operand.dtype.is_floating_point or operand.dtype.is_complex)
        if (
            operand
            and not (indices and (operand.range or self.base.trusting))
            and not self.base.base.startswith("_fused")
        ):
            operand.special, operand.seed = draw.choice([1, 1, 2, 5]), draw.randrange(1 << 30)

    def change_draw(self, draw):
        operand = self.one(draw)
        if operand:
            operand.seed = draw.randrange(1 << 30)
            if operand.cells is None and draw.random() < 0.3 and operand.dtype.is_floating_point:
                operand.range = draw.choice([(-1e4, 1e4), (0, 1e-3), (-1, 1), (0, 1), (1, 1)])

    def change_size(self, draw):
        operand = self.one(draw)
        if operand and operand.sizes:
            operand.sizes[draw.randrange(len(operand.sizes))] = draw.choice([0, 1, 1, 1, 2, 3, 5])

    def change_rank(self, draw):
        operand = self.one(draw)
        if operand:
            if draw.random() < 0.3:
                operand.sizes = []
            elif operand.sizes and draw.random() < 0.6:
                del operand.sizes[draw.randrange(len(operand.sizes))]
            else:
                operand.sizes.insert(draw.randint(0, len(operand.sizes)), draw.choice([0, 1, 1, 2]))

    def change_number(self, draw):
        places = [p for p in self.places() if isinstance(p.value, (bool, int, float, complex, str, torch.dtype))]
        places = [p for p in places if p.name not in UNCHECKED]
        if places:
            place = draw.choice(places)
            place.value = self.drawn(place.type, draw)

    def drawn(self, type_, draw):
        """A value of a schema's type."""
        type_ = type_.removesuffix("?")
        rank = max((len(t.sizes) for t in self.operands()), default=0)
        if "[" in type_:
            inner = type_.partition("[")[0]
            if inner == "Tensor":
                return [self.one(draw)] * draw.choice([0, 1, 2])
            return [self.drawn(inner, draw) for _ in range(draw.choice([0, 1, 1, 2, 2, 3]))]
        if type_ == "Tensor":
            operand = copy.deepcopy(self.one(draw))
            if operand:
                operand.seed = draw.randrange(1 << 30)
            return operand
        pools = {
            "Scalar": NUMBERS,
            "float": FLOATS,
            "int": [*INTEGERS, rank, -rank, rank - 1, -rank - 1],
            "bool": [True, False],
            "ScalarType": DTYPES,
            "MemoryFormat": [torch.contiguous_format, torch.preserve_format, torch.channels_last],
            "str": [
                "floor",
                "trunc",
                "mean",
                "sum",
                "none",
                "tanh",
                "reflect",
                "linear",
                "higher",
                "ij",
                "L",
                "amax",
                "",
                "x",
            ],
        }
        return draw.choice(pools.get(type_, [None]))

    def change_list(self, draw):
        """A list gets shorter or longer, or has an item twice; or it becomes one number."""
        places = [p for p in self.places() if isinstance(p.value, list)]
        if not places:
            return
        place = draw.choice(places)
        items, how = place.value, draw.randrange(5)
        if how == 0 and items:
            del items[draw.randrange(len(items))]
        elif how == 1:
            items.insert(draw.randint(0, len(items)), self.drawn(place.type.partition("[")[0], draw))
        elif how == 2 and items:
            items.append(copy.copy(draw.choice(items)))
        elif how == 3 and items:
            place.value = items[0]
        elif how == 4:
            draw.shuffle(items)

    def change_none(self, draw):
        places = [p for p in self.places() if p.type.endswith("?")]
        if places:
            draw.choice(places).value = None

    def change_leave_out(self, draw):
        if self.kwargs and draw.random() < 0.5:
            del self.kwargs[draw.choice(sorted(self.kwargs))]
        elif len(self.args) > 1:
            self.args.pop()

    def change_add(self, draw):
        """An argument that the row leaves to its default."""
        given = {a.name for a in self.base.arguments[: len(self.args)]} | set(self.kwargs)
        left = [a for a in self.base.arguments if a.name not in given and not a.is_out]
        left = [a for a in left if a.name not in UNCHECKED]
        left = [
            a for a in left if str(a.real_type) not in ("Optional[Generator]", "Optional[Device]", "Optional[Layout]")
        ]
        if left:
            argument = draw.choice(left)
            self.kwargs[argument.name] = self.drawn(python_type(argument), draw)

    def change_alias(self, draw):
        """Two arguments are one tensor, or overlap in memory."""
        places = [p for p in self.places() if isinstance(p.value, Operand) and not p.value.view_of]
        if len(places) > 1:
            one, other = draw.sample(places, 2)
            if draw.random() < 0.5:
                one.value = other.value
            elif one.value is not other.value and not any(o.view_of for o in self.operands()):
                other.value.layout = "contiguous"
                view = copy.deepcopy(other.value)
                if view.sizes and view.sizes[0] > 1:
                    view.sizes[0] -= 1
                    view.view_of = (other.value, draw.choice([0, 1]))
                    one.value = view

    def change_type(self, draw):
        places = [p for p in self.places() if p.top]
        if places:
            draw.choice(places).value = draw.choice(WRONG)

    def change_keyword(self, draw):
        """A positional argument is given by its name."""
        if len(self.args) > 1:
            self.kwargs[self.base.arguments[len(self.args) - 1].name] = self.args.pop()


def drawn_call(bases, seed, number):
    """The call of this number in the campaign of this seed."""
    draw = random.Random(f"{seed} {number}")
    # Every operator as often as the others, whatever its rows.
    name = draw.choice(bases.names)
    base = draw.choice(bases.of[name])
    form = draw.choices(list(FORMS), list(FORMS.values()))[0]
    count = draw.choices([0, 1, 2, 3, 4, 6], [2, 5, 6, 4, 2, 1])[0]
    return Call(base, form, f"{seed} {number}", [f"{seed} {number} {i}" for i in range(count)])


class Bases:
    def __init__(self, names=()):
        found, self.lacking = bases()
        self.of = {}
        for base in found:
            if not names or base.name in names or base.base in names or base.family in names:
                self.of.setdefault(base.name, []).append(base)
        self.names = sorted(self.of)
