"""The checks of one entry: vmap over rows of its samples, beside a loop over them, both computed by Tenon."""

import ctypes
import os
import re
import sys
import tempfile
import time
import warnings
from pathlib import Path

import torch
from conformance.checks import EMPTY, RANDOM, brief, is_unsupported
from conformance.compare import tensors_of
from conformance.subject import Memory, Unsupported, short

from . import rows

CHECKS = ("values", "gradient", "cotangents", "tangents", "inplace", "nested")
DTYPES = (torch.float64, torch.float32, torch.complex128, torch.int64, torch.bool)
# What vmap refuses by its nature, as PyTorch's does.
REFUSED = re.compile(
    r"shape depends on the data|data-dependent control flow|selects another number|which is not batched|out=\) is not supported|"
    r"does not support same randomness|never batched|memory of a batched tensor"
)
# What sees the memory of a tensor: a row of a batch behind the last dimension has another one than a copy.
BY_MEMORY = ("as_strided", "view_as_complex")
# Elements that differ by so much, relative to the largest or to 1, are equal.
TOLERANCE = {torch.float64: 1e-6, torch.complex128: 1e-6, torch.float32: 2e-4, torch.complex64: 2e-4}
SEED = 7


class Differs(Exception):
    pass


def first_line(error):
    return f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]


def warn_always():
    """Warnings that come once come each time. It is C++'s switch, which Python's module does not have."""
    libraries = {
        line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "/libtenon.so" in line
    }
    ctypes.CDLL(libraries.pop())._ZN5tenon12WarningUtils14set_warnAlwaysEb(ctypes.c_bool(True))


class Looped:
    """Whether an operator was computed row by row, for want of a rule: a warning, or standard error, says so."""

    file = None  # of the process

    def __enter__(self):
        self.caught = warnings.catch_warnings(record=True)
        self.found = self.caught.__enter__()
        warnings.simplefilter("always")
        sys.stderr.flush()
        Looped.file = self.file or tempfile.TemporaryFile(buffering=0)
        self.file.seek(0)
        self.file.truncate()
        self.kept = os.dup(2)
        os.dup2(self.file.fileno(), 2)
        return self

    def __exit__(self, *exception):
        os.dup2(self.kept, 2)
        os.close(self.kept)
        self.caught.__exit__(*exception)

    def texts(self):
        self.file.seek(0)
        lines = [str(w.message).splitlines()[0] for w in self.found] + self.file.read().decode(
            errors="replace"
        ).splitlines()
        return [line.removeprefix("tenon: warning: ") for line in lines if "batching rule" in line]


class Entry:
    """One OpInfo, checked on the subject; every outcome goes to `report(dtype, check, outcome, detail)`."""

    checks, dtypes, budget = CHECKS, DTYPES, 120.0

    def __init__(self, op, subject, report):
        self.op, self.subject, self.report = op, subject, report
        self.tenon = subject.module
        self.compares = op.name not in EMPTY
        self.is_random = op.name in RANDOM or op.has_nondeterministic_output

    # ---- samples ----

    def run(self, start=lambda *_: True, max_samples=None):
        warn_always()
        self.began = time.monotonic()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                function = self.subject.function(self.op)
            except Unsupported:
                return
            supported = self.op.supported_dtypes("cpu")
            for dtype in self.dtypes:
                if dtype in supported:
                    self.run_dtype(function, dtype, start, max_samples)

    def run_dtype(self, function, dtype, start, max_samples):
        torch.manual_seed(0)
        differentiated = self.op.supports_autograd and dtype in self.op.supported_backward_dtypes("cpu")
        differentiated = differentiated and dtype in (torch.float64, torch.complex128)
        for i, sample in enumerate(self.op.sample_inputs("cpu", dtype, requires_grad=differentiated)):
            if max_samples and i >= max_samples:
                break
            if time.monotonic() - self.began > self.budget:
                self.report(
                    short(dtype), "values", "cut", f"not within {self.budget:.0f} s: sample {i} and those after it"
                )
                break
            self.sample(function, sample, i, dtype, differentiated, start)

    def sample(self, function, sample, number, dtype, differentiated, start):
        memory = Memory()
        try:
            value = [
                self.subject.value(v, memory, True) for v in (sample.input, tuple(sample.args), dict(sample.kwargs))
            ]
        except Unsupported:
            return
        tensors, rebuilt = rows.leaves_of(value, lambda v: isinstance(v, self.subject.Tensor))
        wants = [t.requires_grad for t in tensors]
        tensors = [t.detach() for t in tensors]

        def call(leaves, target=function):
            first, args, kwargs = rebuilt(iter(leaves))
            return target(first, *args, **kwargs)

        def run(check, dtype_, variant, body):
            if check not in self.checks or not start(dtype_, check, f"{number}: {variant}"):
                return
            self.check(dtype_, check, body, f"{variant} of {brief(sample)}")

        name = short(dtype)
        for variant in rows.variants(len(tensors)):
            if self.op.name.startswith(BY_MEMORY) and rows.BACK in variant.values():
                continue
            batch = self.batch(call, tensors, variant)
            if batch is None:
                continue
            text = rows.text(variant)
            run("values", name, text, lambda b=batch: self.values(call, b))
            if differentiated and any(wants):
                run("gradient", name, text, lambda b=batch: self.gradient(call, b, wants))
                if len(variant) == len(tensors) or len(variant) == 1 and rows.FRONT in variant.values():
                    run("tangents", name, text, lambda b=batch: self.tangents(call, b, wants))
            if 0 in variant and isinstance(sample.input, torch.Tensor) and not sample.broadcasts_input:
                run("inplace", name, text, lambda b=batch: self.inplace(call, b))
        if differentiated and any(wants):
            run("cotangents", name, "the gradient", lambda: self.cotangents(call, tensors, wants))

        if tensors:
            run("nested", name, "two levels", lambda: self.nested(call, tensors))

    def check(self, dtype, check, body, what):
        """body() gives False if there is nothing to check, and raises Differs if vmap and the loop differ."""
        with Looped() as looped:
            try:
                outcome, detail = ("agree", "") if body() is not False else (None, "")
            except Differs as error:
                outcome, detail = "differ", f"{error} for {what}"
            except Exception as error:
                refused = REFUSED.search(str(error)) is not None
                outcome = "refused" if refused else "unsupported" if is_unsupported(error) else "error"
                detail = f"{first_line(error)} for {what}"
            texts = looped.texts()
        if outcome == "agree" and texts:
            outcome, detail = "looped", texts[0][:200]
        if outcome:
            self.report(dtype, check, outcome, detail)

    # ---- the loop ----

    def outputs(self, result):
        return [t for t in tensors_of(result) if isinstance(t, self.subject.Tensor)]

    def one(self, call, leaves):
        self.tenon.manual_seed(SEED)
        return self.outputs(call(leaves))

    def batch(self, call, tensors, variant):
        """(places of the batched tensors, their dimensions, leaves with the batch, results of the loop), or None."""
        places = sorted(variant)
        for _, differing in rows.candidates(self.tenon, [tensors[i] for i in places]):
            results = []
            try:
                for row in differing:
                    leaves = [t.clone() if i in variant else t for i, t in enumerate(tensors)]
                    for i, t in zip(places, row, strict=True):
                        leaves[i] = t.clone()
                    results.append(self.one(call, leaves))
            except Exception:
                continue
            shapes = {tuple((tuple(t.shape), t.dtype) for t in row) for row in results}
            if len(shapes) > 1 or not results[0]:
                continue
            leaves, dims = list(tensors), [None] * len(tensors)
            for k, i in enumerate(places):
                dims[i] = 0 if variant[i] == rows.FRONT else tensors[i].dim()
                leaves[i] = self.tenon.stack([row[k] for row in differing], dims[i])
            return places, dims, leaves, results
        return None

    def row(self, leaves, dims, i):
        # A copy has memory of its own, which as_strided() sees.
        return [t if dim is None else t.select(dim, i).clone() for t, dim in zip(leaves, dims, strict=True)]

    def vmapped(self, function, leaves, dims):
        """The results of function(leaves) under vmap, the batch in front."""
        self.tenon.manual_seed(SEED)
        mapped = self.tenon.vmap(lambda *given: tuple(function(list(given))), tuple(dims), randomness="same")
        return list(mapped(*leaves))

    def stacked(self, results):
        return [self.tenon.stack(list(one)) for one in zip(*results)]

    # ---- the checks ----

    def same(self, wanted, got, what):
        if len(wanted) != len(got):
            raise Differs(f"{what}: {len(wanted)} tensors, got {len(got)}")
        for i, (one, other) in enumerate(zip(wanted, got, strict=True)):
            if one is None or other is None:
                present = other if one is None else one
                if present is not None and bool((present != 0).any()):
                    raise Differs(
                        f"{what} {i}: {'no' if one is None else 'a'} gradient, got {'one' if one is None else 'none'}"
                    )
                continue
            if one.dtype != other.dtype or tuple(one.shape) != tuple(other.shape):
                raise Differs(
                    f"{what} {i}: {short(one.dtype)}{list(one.shape)}, got {short(other.dtype)}{list(other.shape)}"
                )
            if self.compares:
                self.same_values(one.detach(), other.detach(), f"{what} {i}")

    def same_values(self, one, other, what):
        one, other = self.subject.torch(one), self.subject.torch(other)
        if torch.equal(one, other):
            return
        tolerance = TOLERANCE.get(one.dtype, 1e-2 if one.is_floating_point() else 0)
        finite = one[one.isfinite()]
        scale = float(finite.abs().max()) if finite.numel() and tolerance else 0.0
        try:
            torch.testing.assert_close(other, one, rtol=tolerance, atol=tolerance * max(scale, 1.0), equal_nan=True)
        except AssertionError as error:
            raise Differs(f"{what}: {' '.join(str(error).split())[:160]}") from None

    def values(self, call, batch):
        _, dims, leaves, results = batch
        got = self.vmapped(lambda given: self.outputs(call(given)), leaves, dims)
        self.same(self.stacked(results), got, "result")

    def gradient(self, call, batch, wants):
        _, dims, leaves, _ = batch
        leaves = [t.detach().requires_grad_() if want else t for t, want in zip(leaves, wants, strict=True)]
        inputs = [t for t, want in zip(leaves, wants, strict=True) if want]

        def gradients(outputs):
            roots = [t for t in outputs if t.requires_grad]
            weights = [self.weights(t) for t in roots]
            grads = (
                self.tenon.autograd.grad(roots, inputs, weights, allow_unused=True) if roots else [None] * len(inputs)
            )
            return list(grads)

        try:
            wanted = gradients(self.stacked([self.one(call, self.row(leaves, dims, i)) for i in range(rows.ROWS)]))
        except Exception:
            return False  # there is no gradient
        got = gradients(self.vmapped(lambda given: self.outputs(call(given)), leaves, dims))
        # A result that requires grad in one of them alone adds zeros to it.
        self.same(wanted, got, "gradient")
        return True

    def cotangents(self, call, tensors, wants):
        """Several cotangents at once, as for a Jacobian."""
        leaves = [t.detach().requires_grad_() if want else t for t, want in zip(tensors, wants, strict=True)]
        inputs = [t for t, want in zip(leaves, wants, strict=True) if want]
        try:
            roots = [t for t in self.one(call, leaves) if t.requires_grad]
            weights = [self.tenon.stack([self.weights(t, row) for row in range(rows.ROWS)]) for t in roots]
            wanted = [
                self.tenon.autograd.grad(roots, inputs, [w[i] for w in weights], retain_graph=True, allow_unused=True)
                for i in range(rows.ROWS)
            ]
        except Exception:
            return False
        if not roots:
            return False
        wanted = [None if one[0] is None else self.tenon.stack(list(one)) for one in zip(*wanted)]

        def backward(given):
            return self.tenon._C._func.gradients(roots, inputs, given, retain_graph=True)

        self.same(wanted, self.vmapped(backward, weights, [0] * len(weights)), "gradient")
        return True

    def tangents(self, call, batch, wants):
        """Forward mode under vmap."""
        _, dims, leaves, _ = batch
        places = [i for i, want in enumerate(wants) if want]
        directions = [self.weights(leaves[i], 1) for i in places]

        def pushed(given):
            values, vectors = given[: len(leaves)], given[len(leaves) :]

            def function(*primals):
                full = list(values)
                for i, primal in zip(places, primals, strict=True):
                    full[i] = primal
                return tuple(t for t in self.outputs(call(full)) if t.is_floating_point() or t.is_complex())

            _, tangents = self.tenon.func.jvp(function, tuple(values[i] for i in places), tuple(vectors))
            return tangents

        all_dims, all_leaves = [*dims, *(dims[i] for i in places)], [*leaves, *directions]
        try:
            results = []
            for i in range(rows.ROWS):
                self.tenon.manual_seed(SEED)
                results.append(pushed(self.row(all_leaves, all_dims, i)))
            wanted = self.stacked(results)
        except Exception:
            return False  # no forward mode
        if not wanted:
            return False
        self.same(wanted, self.vmapped(pushed, all_leaves, all_dims), "tangent")
        return True

    def inplace(self, call, batch):
        variant = self.op.inplace_variant
        if not hasattr(variant, "__name__"):
            return False
        _, dims, leaves, _ = batch
        try:
            method = self.subject.method(variant)
        except Unsupported:
            return False

        def changed(given):
            target = given[0].clone()
            result = call([target, *given[1:]], method)
            if result is not target:
                raise Differs("in place: another tensor is returned")
            return [target]

        try:
            results = []
            for i in range(rows.ROWS):
                self.tenon.manual_seed(SEED)
                results.append(changed(self.row(leaves, dims, i)))
            wanted = self.stacked(results)
        except Differs:
            return False
        except Exception:
            return False  # the operator refuses
        self.same(wanted, self.vmapped(changed, leaves, dims), "changed tensor")
        return True

    def nested(self, call, tensors):
        """vmap in vmap: the first tensor is batched by the outer one, the last by the inner one, which may be the same."""
        last = len(tensors) - 1
        outer = self.batch(call, tensors, {0: rows.FRONT})
        inner = self.batch(call, tensors, {last: rows.FRONT})
        if outer is None or inner is None:
            return False
        first_rows, last_rows = outer[2][0], inner[2][last]
        if not last:
            first_rows = last_rows = self.tenon.stack([first_rows, first_rows.flip(0)], 1)

        def leaves_of(one, other):
            return [other, *tensors[1:]] if not last else [one, *tensors[1:-1], other]

        try:
            results = []
            for i in range(rows.ROWS):
                others = last_rows[i] if not last else last_rows
                row = [self.one(call, [t.clone() for t in leaves_of(first_rows[i], other)]) for other in others]
                results.append(self.stacked(row))
            wanted = self.stacked(results)
        except Exception:
            return False  # rows that do not go together

        def within(given):
            of_inner = [given[0] if not last else last_rows]
            mapped = self.tenon.vmap(
                lambda other: tuple(self.outputs(call(leaves_of(given[0], other)))), randomness="same"
            )
            return mapped(*of_inner)

        self.same(wanted, self.vmapped(within, [first_rows], [0]), "result")
        return True

    def weights(self, t, row=0):
        """A gradient of many values that is the same in every run, in the tensor's dtype."""
        flat = self.tenon.arange(t.numel(), dtype=self.tenon.float64).mul(0.7).add(row).sin()
        if t.is_complex():
            flat = self.tenon.complex(flat, flat.flip(0))
        return flat.to(t.dtype).reshape(t.shape)
