"""One call in PyTorch and in Tenon: an outcome, "agree", "left out" or a kind of fault, and its text."""

import warnings

import torch
from conformance.checks import pattern
from conformance.compare import Differs, same, same_memory, tensors_of
from conformance.subject import Memory, Unsupported

from . import rules

KINDS = (
    "checker",
    "crash",
    "hang",
    "value",
    "gradient",
    "result",
    "argument",
    "memory",
    "refusal",
    "missing error",
    "class",
    "strides",
)
ROUNDED = (torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128)
PARTS = {"linalg_": "linalg", "special_": "special", "fft_": "fft"}


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:200]


def function_of(module, base):
    """The public function of an operator: linalg_qr is linalg.qr; or None."""
    for prefix, part in PARTS.items():
        if base.startswith(prefix):
            return getattr(getattr(module, part), base.removeprefix(prefix), None)
    # A function in Python has a signature of its own.
    for place in (torch.nn.functional, torch):
        if hasattr(getattr(place, base, None), "__code__"):
            return None
    found = getattr(module, base, None) or getattr(module.nn.functional, base, None)
    return found if callable(found) else None


def form_of(module, call):
    """The function of a library that a call's form means, or None."""
    base = call.base.base
    if call.base.trusting and call.form != "overload":
        return None
    if call.form == "method":
        return getattr(module.Tensor, base, None)
    if call.form == "in place":
        return getattr(module.Tensor, base if base.endswith("_") else f"{base}_", None)
    if call.form == "overload":
        packet = getattr(module.ops.aten, base, None)
        return getattr(packet, call.base.overload._overloadname, None)
    return function_of(module, base)


class Check:
    def __init__(self, call, subject, stage):
        self.call, self.subject, self.stage = call, subject, stage

    def run(self):
        """(outcome, text)"""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.compared()
            except Differs as differs:
                return self.fault(differs)
            except (MemoryError, RuntimeError) as error:
                if isinstance(error, MemoryError) or "allocate" in str(error):
                    return "left out", "memory"  # of the comparison itself
                raise

    def run_alone(self):
        """Only Tenon's part, to see whether it is what crashes: PyTorch may have broken memory before."""
        made, memory, pairs = {}, Memory(), {}
        self.stage("PyTorch")
        if form_of(torch, self.call) is None:
            self.call.form = "overload"
        build = lambda v: self.built(v, made)  # noqa: E731
        args, kwargs = build(self.call.args), {k: build(v) for k, v in self.call.kwargs.items()}
        self.stage("Tenon")
        own = lambda v: self.owned(v, memory, pairs)  # noqa: E731
        try:
            form_of(self.subject.module, self.call)(*own(args), **{k: own(v) for k, v in kwargs.items()})
        except Exception as error:
            return "left out", str(error)
        return "left out", ""

    def fault(self, differs):
        text = str(differs)
        kind = getattr(differs, "kind", None)
        if kind is None:
            kind = "value" if differs.by_value else "strides" if "strides" in text else "result"
        return kind, text

    def differs(self, kind, text):
        error = Differs(text)
        error.kind = kind
        raise error

    def compared(self):
        call = self.call
        theirs, ours = form_of(torch, call), form_of(self.subject.module, call)
        if theirs is None:
            # Without this form in PyTorch it is the overload that is called.
            call.form = "overload"
            theirs, ours = form_of(torch, call), form_of(self.subject.module, call)
        if ours is None:
            why = rules.reason(rules.MISSING_FORMS, call)
            return ("left out", why) if why else ("refusal", f"there is no {call.form} of {call.base.name}")
        self.stage("PyTorch")
        made = {}
        try:
            build = lambda v: self.built(v, made)  # noqa: E731
            args, kwargs = build(call.args), {k: build(v) for k, v in call.kwargs.items()}
        except RuntimeError:
            return "left out", "no arguments"
        differentiable = call.form in ("function", "method", "overload") and call.leaves
        leaves = []
        if differentiable:
            for operand in {id(o): o for o in call.operands()}.values():
                t = operand.tensor(made)
                if operand.grad and not operand.view_of and t.dtype in ROUNDED:
                    leaves.append(t.requires_grad_())
        if call.form == "out":
            try:
                kwargs = {**kwargs, "out": self.outs(args, kwargs, theirs)}
            except Exception:
                return "left out", "PyTorch raises without out="
        memory = Memory()
        self.stage("Tenon")
        try:
            pairs = {}
            for t in rules.flat([kwargs.get("out", [])]):
                # Memory that may grow has one owner.
                if call.out in ("empty", "wrong size"):
                    pairs[id(t)] = (t, self.subject.module.ones(tuple(t.shape), dtype=self.subject.dtype(t.dtype)))
            own = lambda v: self.owned(v, memory, pairs)  # noqa: E731
            our_args, our_kwargs = own(args), {k: own(v) for k, v in kwargs.items()}
        except Unsupported as error:
            return "left out", str(error)
        self.stage("PyTorch")
        torch.default_generator.manual_seed(1)
        wanted = raised = None
        try:
            wanted = theirs(*args, **kwargs)
        except Exception as error:
            raised = error
        self.stage("Tenon")
        self.subject.module.manual_seed(1)
        try:
            got = ours(*our_args, **our_kwargs)
        except Exception as error:
            return self.ours_raised(raised, error)
        if raised is not None:
            why = rules.reason(rules.ERRORS_OF_PYTORCH, call, raised, str(raised))
            return ("left out", why) if why else ("missing error", first_line(raised))
        self.stage("PyTorch")
        return self.results(args, kwargs, wanted, got, memory, pairs, leaves)

    def ours_raised(self, raised, error):
        if raised is None:
            why = rules.reason(rules.ERRORS_OF_OURS, self.call, error, str(error))
            return ("left out", why) if why else ("refusal", first_line(error))
        classes = {c.__name__ for c in type(error).__mro__}
        if type(raised).__name__.removeprefix("_") in classes or rules.reason(
            rules.ERRORS_OF_PYTORCH, self.call, raised, str(raised)
        ):
            return "agree", ""
        if self.call.form == "overload" and isinstance(error, TypeError):
            return "agree", ""  # PyTorch's parser of overloads has other classes
        why = rules.reason(rules.OTHER_CLASSES, self.call)
        if why:
            return "left out", why
        return "class", f"{first_line(raised)}, got {first_line(error)}"

    def built(self, value, made):
        if isinstance(value, rules.Operand):
            return value.tensor(made)
        if isinstance(value, list):
            return [self.built(v, made) for v in value]
        return value

    def owned(self, value, memory, pairs):
        """The subject's arguments; one tensor given twice is one tensor there too."""
        if isinstance(value, torch.Tensor):
            if id(value) not in pairs:
                pairs[id(value)] = (value, self.subject.tensor(value, memory, True))
            return pairs[id(value)][1]
        if isinstance(value, (list, tuple)):
            return type(value)(self.owned(v, memory, pairs) for v in value)
        return self.subject.value(value, memory)

    def outs(self, args, kwargs, function):
        with torch.no_grad():
            torch.default_generator.manual_seed(1)
            results = function(*args, **kwargs)
        outs = [self.out(t.detach(), args, i) for i, t in enumerate(rules.tensors(results))]
        return outs[0] if isinstance(results, torch.Tensor) else tuple(outs)

    def out(self, result, args, number):
        how, dtype = self.call.out, result.dtype
        filled = lambda sizes, kind=dtype: torch.full(sizes, 1, dtype=kind)  # noqa: E731
        sizes = list(result.shape)
        given = [t for t in rules.flat(args) if isinstance(t, torch.Tensor)]
        if how == "empty":
            return filled([0])
        if how == "wrong size":
            return filled([*sizes, 2])
        if how == "other dtype":
            others = [torch.float64, torch.float32, torch.int64, torch.complex64, torch.bool, torch.float16]
            return filled(sizes, others[len(str(self.call)) % len(others)])
        if how == "reversed":
            return filled(sizes[::-1]).permute(*range(len(sizes))[::-1])
        if how == "argument" and given:
            return given[number % len(given)]
        if how == "overlapping" and given:
            flat = torch.empty(0, dtype=given[0].dtype).set_(given[0].untyped_storage())
            if 0 < result.numel() < len(flat):
                return flat[1 : 1 + result.numel()].view(sizes)
        if how == "expanded" and sizes and sizes[0] > 1:
            return filled([1, *sizes[1:]]).expand(sizes)
        return filled(sizes)

    def results(self, args, kwargs, wanted, got, memory, pairs, leaves):
        call = self.call
        wanted, got = dense(wanted), dense(got)
        if rules.overlapping(call):
            same(self.subject, wanted, got, None, values=False, strides=False)
            return "agree", ""
        try:
            if call.base.base.endswith("_backward") and not any(t.dtype in ROUNDED for t in call.operands()):
                return "left out", "integers reach no derivative"
            same(self.subject, wanted, got, None, values=False, strides=False)
            if rules.values_compared(call) and not identical(self.subject, wanted, got):
                same(self.subject, wanted, got, None, strides=False)
        except Differs as differs:
            if not differs.by_value:
                raise
            if not self.excused(args, kwargs, wanted, got):
                why = rules.reason(rules.OTHER_VALUES, call, wanted) or self.by_strides(args, kwargs, wanted)
                if why:
                    return "left out", why
                raise
            same(self.subject, wanted, got, None, values=False, strides=False)
        written = rules.changes_an_argument(call)
        if not (written or call.base.trusting):
            same_memory_of(memory, wanted, got)
        for theirs, ours in pairs.values():
            self.unchanged(theirs, ours, wanted)
        if leaves:
            self.gradients(args, kwargs, wanted, got, leaves, pairs)
        if not rules.reason(rules.OTHER_STRIDES, call):
            same(self.subject, wanted, got, None, values=False)
        return "agree", ""

    def unchanged(self, theirs, ours, wanted):
        """Arguments hold the same after the call. Results that are arguments have been compared."""
        if any(theirs is t for t in rules.tensors(wanted)) or not rules.values_compared(self.call):
            return
        if identical(self.subject, theirs, ours):
            return
        try:
            same(self.subject, theirs, ours, None, "an argument after the call", strides=False)
        except Differs as differs:
            if rules.reason(rules.OTHER_VALUES, self.call, wanted) or self.close(
                theirs.detach(), self.subject.torch(ours)
            ):
                return
            self.differs("argument", str(differs))

    # ---- rounding ----

    def excused(self, args, kwargs, wanted, got):
        """Whether the difference is one of rounding."""
        theirs, ours = rules.tensors(wanted), [self.subject.torch(t) for t in tensors_of(got)]
        if len(theirs) != len(ours) or not theirs:
            return False
        if self.call.base.base in rules.TIES:
            theirs, ours = theirs[:1], ours[:1]
            if self.call.base.base == "argsort":
                return True
        if rules.PHASES.search(self.call.base.base):
            theirs, ours = [t.abs() for t in theirs], [t.abs() for t in ours]
        try:
            true = rules.tensors(self.exactly(args, kwargs))
        except Exception:
            true = theirs
        if len(true) < len(theirs) or any(a.shape != b.shape for a, b in zip(true, theirs)):
            true = theirs
        if all(self.close(t, o, e) for t, o, e in zip(theirs, ours, true)):
            return True
        return self.call.base.family in rules.CONDITIONED and self.as_far_as_rounding(args, kwargs, theirs, ours)

    def close(self, theirs, ours, true=None):
        """Each element is the truth to its dtype's last places, or as close as PyTorch's furthest, or as PyTorch's."""
        if theirs.dtype not in ROUNDED:
            return torch.equal(theirs, ours)
        theirs, ours = theirs.detach().resolve_conj().resolve_neg(), ours
        wide = torch.complex128 if theirs.is_complex() else torch.float64
        limits = torch.finfo(theirs.dtype)
        t, o = theirs.to(wide), ours.to(wide)
        e = t if true is None else true.detach().resolve_conj().to(wide)
        finite = t.isfinite() & o.isfinite()
        rounded = e.to(theirs.dtype).to(wide)
        equal = (t == o) | (t.isnan() & o.isnan()) | (rounded == o) | (rounded.isnan() & o.isnan())
        if t.is_complex():  # which part of an infinite number is NaN is not promised
            equal |= ~t.isfinite() & ~o.isfinite()
        good = finite & e.isfinite()
        scale = e[good].abs().max() if good.any() else torch.zeros((), dtype=torch.float64)
        furthest = (t - e)[good].abs().max() if good.any() else scale
        allowed = torch.maximum(furthest, 4 * limits.eps * scale) + 4 * limits.smallest_normal * limits.eps
        near = o.isfinite() & e.isfinite() & ((o - e).abs() <= torch.maximum(allowed, 16 * limits.eps * e.abs()))
        return bool((equal | near).all())

    def exactly(self, args, kwargs, with_leaves=False):
        """PyTorch's result in double precision, and {id(tensor): the tensor in double precision}."""
        seen = {}

        def cast(value):
            if isinstance(value, torch.Tensor) and value.dtype in ROUNDED:
                if id(value) not in seen:
                    seen[id(value)] = doubled(value.detach())
                    seen[id(value)].requires_grad_(with_leaves and value.requires_grad)
                return seen[id(value)]
            if isinstance(value, torch.dtype) and value in ROUNDED:
                return torch.complex128 if value.is_complex else torch.float64
            if isinstance(value, (list, tuple)):
                return type(value)(cast(v) for v in value)
            return value

        if self.call.form == "in place" or self.call.base.base.endswith("_"):
            raise TypeError  # the arguments are not what they were
        function = form_of(torch, self.call)
        results = function(*cast(args), **{k: cast(v) for k, v in kwargs.items() if k != "out"})
        return (results, seen) if with_leaves else results

    def by_strides(self, args, kwargs, wanted):
        """The reason, if PyTorch itself has other values for the same arguments in contiguous memory."""
        if rules.changes_an_argument(self.call):
            return None

        def packed(value):
            if isinstance(value, torch.Tensor):
                return value.detach().clone(memory_format=torch.contiguous_format)
            return [packed(v) for v in value] if isinstance(value, (list, tuple)) else value

        torch.default_generator.manual_seed(1)
        try:
            again = form_of(torch, self.call)(*packed(args), **{k: packed(v) for k, v in kwargs.items()})
        except Exception:
            return None
        pairs = list(zip(rules.tensors(wanted), rules.tensors(again)))
        equal = all(t.shape == a.shape and self.close(t, a.detach()) for t, a in pairs)
        return None if equal else "PyTorch's values depend on strides"

    def as_far_as_rounding(self, args, kwargs, theirs, ours):
        """Whether PyTorch's result moves as far if its arguments are changed in their last place."""
        if "out" in kwargs or self.call.form == "in place" or self.call.base.base.endswith("_"):
            return True
        distance = [far(t, o) for t, o in zip(theirs, ours)]
        function, moved = form_of(torch, self.call), [0.0] * len(theirs)
        for seed in range(4):
            generator = torch.Generator().manual_seed(seed)

            def shaken(value):
                if isinstance(value, torch.Tensor) and value.dtype in ROUNDED:
                    sign = torch.randint(0, 2, value.shape, generator=generator) * 2 - 1
                    small = torch.finfo(value.dtype)
                    return (value.detach() * (1 + sign * small.eps) + sign * small.tiny).to(value.dtype)
                return [shaken(v) for v in value] if isinstance(value, list) else value

            try:
                again = rules.tensors(function(*shaken(args), **{k: shaken(v) for k, v in kwargs.items()}))
            except Exception:
                return True
            moved = [max(m, far(t, a)) for m, t, a in zip(moved, theirs, again)]
        return all(d <= 32 * m for d, m in zip(distance, moved))

    # ---- gradients ----

    def gradients(self, args, kwargs, wanted, got, leaves, pairs):
        roots = [(i, t) for i, t in enumerate(rules.tensors(wanted)) if t.requires_grad and t.dtype in ROUNDED]
        if self.call.base.base.startswith("_foreach_"):
            # PyTorch's lists require gradients all together.
            of_ours = tensors_of(got)
            roots = [(i, t) for i, t in roots if of_ours[i].requires_grad]
        if not roots or not rules.values_compared(self.call):
            return
        ups = [pattern(t) for _, t in roots]
        self.stage("PyTorch")
        try:
            expected = torch.autograd.grad([t for _, t in roots], leaves, ups, allow_unused=True)
        except Exception:
            return
        self.stage("Tenon")
        found, ours = tensors_of(got), [pairs[id(t)][1] for t in leaves if id(t) in pairs]
        if len(ours) != len(leaves):
            return
        if not all(found[i].requires_grad for i, _ in roots):
            self.differs("gradient", "a result requires no gradient")
        try:
            gradients = self.subject.grad(
                [found[i] for i, _ in roots], ours, [self.subject.value(u, Memory()) for u in ups]
            )
        except Exception as error:
            self.differs("gradient", first_line(error))
        self.stage("PyTorch")
        expected, gradients = dense(expected), dense(gradients)
        if all(e is not None and g is not None for e, g in zip(expected, gradients)):
            if all(e.shape == tuple(g.shape) and identical(self.subject, e, g) for e, g in zip(expected, gradients)):
                return
        try:
            same(self.subject, list(expected), list(gradients), None, "gradient", strides=False)
        except Differs as differs:
            if differs.by_value and rules.reason(rules.OTHER_GRADIENTS, self.call, wanted):
                return
            if differs.by_value and self.as_exact_gradients(args, kwargs, roots, ups, leaves, expected, gradients):
                return
            self.differs("gradient", str(differs))

    def as_exact_gradients(self, args, kwargs, roots, ups, leaves, expected, gradients):
        """Whether the gradients are as close to those in double precision as PyTorch's."""
        try:
            results, cast = self.exactly(args, kwargs, with_leaves=True)
            results = rules.tensors(results)
            true = torch.autograd.grad(
                [results[i] for i, _ in roots],
                [cast[id(t)] for t in leaves],
                [doubled(u) for u in ups],
                allow_unused=True,
            )
        except Exception:
            true, results = expected, [t.detach() for _, t in roots]
        # What leads to NaN has no gradient that is promised.
        nan = rules.tensors(results)[0].isnan() if len(rules.tensors(results)) == 1 else None
        for e, g, t in zip(expected, gradients, true):
            if e is None:
                continue
            e, g = e.detach(), self.subject.torch(g)
            if nan is not None and nan.shape == e.shape:
                e, g, t = (v.masked_fill(nan, 0) for v in (e, g, e if t is None else t))
            if not self.close(e, g, t):
                return False
        return True


def doubled(tensor):
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64, copy=True)


def dense(value):
    """Sparse results as dense tensors, which have memory to compare."""
    if isinstance(value, (list, tuple)):
        return [dense(v) for v in value]
    sparse = hasattr(value, "layout") and hasattr(value, "to_dense") and not str(value.layout).endswith("strided")
    return value.to_dense() if sparse else value


def identical(subject, wanted, got):
    """Whether the tensors of the results have the same elements, bit by bit, which is quick to see."""
    theirs, ours = rules.tensors(wanted), tensors_of(got)
    return (
        bool(theirs)
        and len(theirs) == len(ours)
        and all(
            t.shape == tuple(o.shape)
            and str(t.dtype).rpartition(".")[2] == str(o.dtype).rpartition(".")[2]
            and torch.equal(t, subject.torch(o))
            for t, o in zip(theirs, ours)
        )
    )


def far(one, other):
    if one.shape != other.shape:
        return float("inf")
    wide = torch.complex128 if one.is_complex() else torch.float64
    difference = (one.detach().to(wide) - other.detach().to(wide)).abs().nan_to_num(0, 1e300, 1e300)
    broken = (one.isfinite() != other.isfinite()).any() if one.dtype in ROUNDED else False
    return float("inf") if broken else difference.max().item() if difference.numel() else 0.0


def same_memory_of(memory, wanted, got):
    try:
        same_memory(memory, wanted, got)
    except Differs as differs:
        differs.kind = "memory"
        raise
