"""The checks of one OpInfo: its samples for every dtype, its error inputs, its forms."""

import re
import warnings

import torch
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.opinfo.core import DecorateInfo

from .compare import PARTS, Differs, parts_of, same, same_memory, tensors_of
from .subject import Memory, Unsupported, short

FORM_SAMPLES = 8  # samples of a dtype that out=, in-place and method forms are compared on
# Whose results are uninitialised memory.
EMPTY = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}
RANDOM = {
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "normal",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "uniform",
    "nn.functional.dropout",
    "nn.functional.dropout1d",
    "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.alpha_dropout",
    "nn.functional.feature_alpha_dropout",
    "nn.functional.rrelu",
}
ROUNDED = (torch.float16, torch.bfloat16, torch.float32, torch.complex64)
CHECKS = ("values", "memory", "gradient", "out", "inplace", "method", "errors", "messages")


def full_name(op):
    return f"{op.name} ({op.variant_test_name})" if op.variant_test_name else op.name


def tolerance(op, dtype):
    """What the entry asks for in PyTorch's own tests on a CPU."""
    found = [
        (override.d[dtype].rtol, override.d[dtype].atol)
        for info in op.decorators
        if isinstance(info, DecorateInfo) and info.device_type in (None, "cpu")
        for override in info.decorators
        if isinstance(override, toleranceOverride) and dtype in override.d
    ]
    if not found:
        return None
    # Never closer than what assert_close takes by itself for the dtype.
    rtol, atol = torch.testing._comparison.default_tolerances(dtype)
    return {"rtol": max([rtol] + [r for r, _ in found]), "atol": max([atol] + [a for _, a in found])}


def of_exception(error):
    first = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {first}"[:240]


# What the argument parser, and Python for what is written in it, says of a form that the subject lacks.
LACKS = re.compile(
    "invalid combination of arguments|there is no argument|unexpected keyword argument|argument '.*' (must be|is missing)|"
    "missing .* required positional|has no attribute|is not implemented for"
)


def is_unsupported(error):
    return isinstance(error, (Unsupported, NotImplementedError)) or bool(LACKS.search(str(error)))


# Which of equal elements comes first is nobody's promise: what the indices choose is compared.
TIES = {"argsort": 0, "kthvalue": 1, "mode": 0, "sort": 0, "topk": 1}  # the place of `dim` among the arguments


def chosen(op, sample, results):
    place = TIES[op.name]
    dim = sample.kwargs.get(
        "dim", sample.args[place] if len(sample.args) > place and type(sample.args[place]) is int else -1
    )
    several = isinstance(results, tuple)
    indices = results[1] if several else results
    values = sample.input.detach()
    if values.dim() == 0:
        found = values
    elif indices.dim() < values.dim():
        found = values.gather(dim, indices.unsqueeze(dim)).squeeze(dim)
    else:
        found = values.gather(dim, indices)
    return (results[0], found) if several else found


# Singular vectors and eigenvectors may be multiplied by numbers of size 1: compared is what does not depend on them.
SINGULAR_VECTORS = {"linalg.svd", "svd", "svd_lowrank", "pca_lowrank"}
EIGENVECTORS = {"linalg.eig", "linalg.eigh"}


def without_phases(op, results):
    """The singular values, the products of U's columns with one another, and U S V^H; the eigenvalues, the sizes of the
    eigenvectors' elements, and V L V^H."""
    if op.name in EIGENVECTORS:
        L, V = results
        return L, V.abs(), (V * L.unsqueeze(-2)) @ V.mH
    U, S, V = results
    Vh = V if op.name == "linalg.svd" else V.mH
    k = S.shape[-1]
    return S, U.mH @ U, (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :]


def exact(op, sample, dtype, gradient_of=None):
    """The result in double precision; with gradient_of, {number of a result: its gradient}, the arguments' gradients."""
    wide, leaves = torch.complex128 if dtype.is_complex else torch.float64, []

    def cast(value):
        if isinstance(value, torch.Tensor):
            cast_ = value.detach().to(wide) if value.dtype == dtype else value.detach()
            if gradient_of and value.requires_grad:
                leaves.append(cast_.requires_grad_())
            return cast_
        if isinstance(value, torch.dtype):
            return wide if value == dtype else value
        if isinstance(value, torch.nn.LinearCrossEntropyOptions):
            return None  # the batch at once
        if isinstance(value, (list, tuple)):
            return type(value)(cast(v) for v in value)
        return value

    results = op.op(cast(sample.input), *cast(tuple(sample.args)), **{k: cast(v) for k, v in sample.kwargs.items()})
    if not gradient_of:
        return results
    roots = tensors_of(sample.output_process_fn_grad(results))
    return torch.autograd.grad(
        [roots[i] for i in gradient_of], leaves, [cast(g) for g in gradient_of.values()], allow_unused=True
    )


def as_exact(true, ours):
    """Which elements are the truth within one unit in the last place of their dtype."""
    limits = torch.finfo(ours.dtype)
    rounded = true.to(ours.dtype).to(true.dtype)
    near = (ours.to(true.dtype) - true).abs() <= limits.eps * true.abs() + limits.smallest_normal * limits.eps
    # Infinities and NaN, and what rounds to them, must be just that.
    same_ = (ours.to(true.dtype) == rounded) | (ours.isnan() & rounded.isnan())
    return same_ | (near & rounded.isfinite() & ours.isfinite())


# Entries whose samples are ill-conditioned, so that the rounding of each library is as good as random: over random matrices
# the errors have the same size (the geometric mean of ours to PyTorch's is 0.8 to 1.05), in one sample either may be this
# many times the other.
ILL_CONDITIONED = {
    "linalg.cond": 3,
    "linalg.lstsq": 2,
    "linalg.svd": 3,
    "matrix_exp": 1.5,
    "nn.functional.linear_cross_entropy": 1.5,  # logits in bfloat16
    "nn.functional.multi_head_attention_forward": 2.5,  # a softmax of scores in the hundreds
    "svd": 3,
    "torch.ops.aten._scaled_dot_product_flash_attention_for_cpu": 3,  # the same
}


def no_further(op, truth, wanted, got):
    """Whether each result is as exact as its dtype allows, or no further from the truth than PyTorch's, by its furthest
    element, or than four units in the last place of its largest: in which order a product of matrices adds up is the processor's."""
    allowed = ILL_CONDITIONED.get(op.name, 1)
    for true, theirs, ours in zip(tensors_of(truth), tensors_of(wanted), tensors_of(got)):
        if true.shape != ours.shape:
            return False
        if not (ours.is_floating_point() or ours.is_complex()):
            if not torch.equal(theirs, ours):
                return False
            continue
        # What overflows in one library alone is right where it is the truth; the rest is judged by its furthest element.
        rest = ~as_exact(true, ours)
        if not (true.isfinite() & ours.isfinite())[rest].all():
            return False
        finite = true.isfinite() & theirs.isfinite()
        furthest = max(
            (abs((theirs.to(true.dtype) - true)[finite]).amax().item() if finite.any() else 0.0),
            4 * torch.finfo(ours.dtype).eps * abs(true[true.isfinite()]).amax().item()
            if true.isfinite().any()
            else 0.0,
        )
        if (abs(ours.to(true.dtype) - true)[rest] > allowed * furthest).any():
            return False
    return True


class Entry:
    """One OpInfo, checked on the subject; every outcome goes to `report(dtype, check, outcome, detail)`."""

    def __init__(self, op, subject, report):
        self.op, self.subject, self.report = op, subject, report
        self.values = not (op.name in EMPTY or op.name in RANDOM or op.has_nondeterministic_output)

    def run(self, start=lambda *_: True, max_samples=None):
        """start(dtype, kind, number) says whether to run a sample: one that has crashed before is left out."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for dtype in sorted(self.op.supported_dtypes("cpu"), key=str):
                self.run_dtype(dtype, start, max_samples)
            self.run_errors(start)

    def run_dtype(self, dtype, start, max_samples):
        op, name = self.op, short(dtype)
        torch.manual_seed(0)
        try:
            function = self.subject.function(op)
        except Unsupported as error:
            for _ in op.sample_inputs("cpu", dtype):
                self.report(name, "values", "unsupported", str(error))
            return
        try:
            self.subject.dtype(dtype)
        except Unsupported as error:
            # Counted apart: it is the subject's dtypes that this is about, and not this operator.
            for _ in op.sample_inputs("cpu", dtype):
                self.report(name, "lacking", "unsupported", str(error))
            return
        for i, sample in enumerate(op.sample_inputs("cpu", dtype)):
            if max_samples and i >= max_samples:
                break
            if start(name, "sample", i):
                self.sample(function, sample, dtype, forms=i < FORM_SAMPLES)
        if op.supports_autograd and dtype in op.supported_backward_dtypes("cpu"):
            torch.manual_seed(0)
            for i, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=True)):
                if max_samples and i >= max_samples:
                    break
                if start(name, "gradient", i):
                    self.check(name, "gradient", sample, lambda s=sample: self.gradient(function, s, dtype))

    def check(self, dtype, check, sample, body):
        """body() returns False where there is nothing to check, raises Differs where they differ."""
        try:
            if body() is not False:
                self.report(dtype, check, "agree", "")
        except Differs as error:
            self.report(dtype, check, "differ", f"{error} for {brief(sample)}")
        except Exception as error:
            outcome = "unsupported" if is_unsupported(error) else "differ"
            self.report(dtype, check, outcome, f"{of_exception(error)} for {brief(sample)}")

    def arguments(self, sample, requires_grad=False):
        memory = Memory()
        value = lambda v: self.subject.value(v, memory, requires_grad)  # noqa: E731
        return memory, value(sample.input), value(tuple(sample.args)), value(dict(sample.kwargs))

    def sample(self, function, sample, dtype, forms):
        op, name, kept = self.op, short(dtype), {}
        try:
            # First, as an operator may change its argument.
            memory, first, args, kwargs = self.arguments(sample)
        except Unsupported as error:
            self.report(name, "values", "unsupported", f"{error} for {brief(sample)}")
            return
        try:
            wanted = op.op(sample.input, *sample.args, **sample.kwargs)
        except Exception:
            return  # not for this build of PyTorch

        def values():
            kept["got"] = got = function(first, *args, **kwargs)
            if op.name in TIES and not sample.kwargs.get("stable"):
                same(self.subject, wanted, got, None, values=False)
                torch.testing.assert_close(
                    chosen(op, sample, self.as_torch(got)), chosen(op, sample, wanted), equal_nan=True
                )
                return
            if op.name in SINGULAR_VECTORS | EIGENVECTORS:
                same(self.subject, wanted, got, None, values=False)
                torch.testing.assert_close(
                    without_phases(op, self.as_torch(got)), without_phases(op, wanted), rtol=1e-4, atol=1e-4
                )
                return
            try:
                same(self.subject, wanted, got, tolerance(op, dtype), values=self.compares(sample), bits=True)
            except Differs as error:
                # Rounding on another way: agreement too, where it is closer to the truth.
                if not error.by_value or dtype not in ROUNDED:
                    raise
                if not no_further(op, exact(op, sample, dtype), wanted, self.as_torch(got)):
                    raise
                same(self.subject, wanted, got, None, values=False)

        self.check(name, "values", sample, values)
        if "got" not in kept:
            return
        self.check(name, "memory", sample, lambda: same_memory(memory, wanted, kept["got"]))
        if not forms or not self.compares(sample):
            return
        self.check(name, "method", sample, lambda: self.method(sample, kept["got"]))
        self.check(name, "inplace", sample, lambda: self.inplace(sample, dtype))
        self.check(name, "out", sample, lambda: self.out(function, sample, kept["got"]))

    def compares(self, sample):
        """Whether the values are PyTorch's choice alone, and not chance's."""
        drops = sample.kwargs.get("dropout_p")
        if self.op.name == "nn.functional.multi_head_attention_forward":
            drops = sample.args[9]
        return self.values and not drops

    def as_torch(self, got):
        """The subject's results as PyTorch's, to compare the subject with itself."""
        if isinstance(got, self.subject.Tensor):
            return self.subject.torch(got)
        return tuple(self.as_torch(g) for g in got) if isinstance(got, (list, tuple)) else got

    def method(self, sample, got):
        variant = self.op.method_variant
        if not hasattr(variant, "__name__") or not isinstance(sample.input, torch.Tensor):
            return False
        method = self.subject.method(variant)
        _, first, args, kwargs = self.arguments(sample)
        again = method(first, *args, **kwargs)
        if isinstance(got, self.subject.Tensor) and short(got.layout) in PARTS:
            got, again = parts_of(got), parts_of(again)
        same(self.subject, self.as_torch(got), again, {"rtol": 0, "atol": 0}, "method")
        return True

    def inplace(self, sample, dtype):
        variant = self.op.inplace_variant
        if not hasattr(variant, "__name__") or not isinstance(sample.input, torch.Tensor) or sample.broadcasts_input:
            return False
        method = self.subject.method(variant)
        _, first, args, kwargs = self.arguments(sample)
        changed = with_own_memory(sample.input)
        try:
            wanted = variant(changed, *sample.args, **sample.kwargs)
        except Exception as error:
            try:
                method(first, *args, **kwargs)
            except Exception:
                return True
            raise Differs(f"in place: {of_exception(error)}, got none") from None
        got = method(first, *args, **kwargs)
        if got is not first and got.data_ptr() != first.data_ptr():
            raise Differs("in place: another tensor is returned")
        try:
            same(self.subject, wanted, got, tolerance(self.op, dtype), "in place", strides=False)
        except Differs as error:
            if not error.by_value or dtype not in ROUNDED:
                raise
            if not no_further(self.op, exact(self.op, sample, dtype), wanted, self.as_torch(got)):
                raise
        return True

    def out(self, function, sample, got):
        results = tensors_of(got)
        if not self.op.supports_out or not results or not isinstance(got, (tuple, list, self.subject.Tensor)):
            return False
        single = isinstance(got, self.subject.Tensor)
        takes_out = True
        try:
            theirs = [torch.empty((0,), dtype=getattr(torch, short(r.dtype))) for r in results]
            self.op.op(sample.input, *sample.args, **sample.kwargs, out=theirs[0] if single else tuple(theirs))
        except Exception:
            takes_out = False  # PyTorch has none for these arguments
        for shape in ("same", "empty"):
            _, first, args, kwargs = self.arguments(sample)
            outs = []
            for result in results:
                sizes = tuple(result.shape) if shape == "same" else (0,)
                outs.append(self.subject.module.empty(sizes, dtype=result.dtype))
            try:
                function(first, *args, **kwargs, out=outs[0] if single else tuple(outs))
            except Exception:
                if takes_out:
                    raise
                return True
            if not takes_out:
                raise Differs("out=: PyTorch raises, got none")
            same(
                self.subject,
                [self.as_torch(r) for r in results],
                outs,
                {"rtol": 0, "atol": 0},
                f"out= ({shape} size)",
                strides=False,
            )
        return True

    def gradient(self, function, sample, dtype):
        try:
            outputs = sample.output_process_fn_grad(self.op.op(sample.input, *sample.args, **sample.kwargs))
            roots = [(i, t) for i, t in enumerate(tensors_of(outputs)) if t.requires_grad]
            leaves = [t for t in tensors_of([sample.input, *sample.args, *sample.kwargs.values()]) if t.requires_grad]
            if not roots or not leaves:
                return False
            gradients = [pattern(t) for _, t in roots]
            wanted = torch.autograd.grad([t for _, t in roots], leaves, gradients, allow_unused=True)
        except Exception:
            return False  # PyTorch has no gradient of this sample
        memory, first, args, kwargs = self.arguments(sample, requires_grad=True)
        got = tensors_of(sample.output_process_fn_grad(function(first, *args, **kwargs)))
        ours = [t for t in tensors_of([first, *args, *kwargs.values()]) if t.requires_grad]
        for i, _ in roots:
            if i >= len(got) or not got[i].requires_grad:
                raise Differs(f"gradient: result {i} requires none")
        found = self.subject.grad(
            [got[i] for i, _ in roots], ours, [self.subject.value(g, Memory()) for g in gradients]
        )
        # Equal elements of another order have their gradients in another order.
        compared = self.compares(sample) and not (self.op.name in TIES and dtype in (torch.float16, torch.bfloat16))
        try:
            same(
                self.subject, list(wanted), list(found), tolerance(self.op, dtype), "gradient", compared, strides=False
            )
        except Differs as error:
            if not error.by_value or dtype not in ROUNDED:
                raise
            truth = exact(self.op, sample, dtype, {i: g for (i, _), g in zip(roots, gradients)})
            if not no_further(self.op, truth, wanted, self.as_torch(found)):
                raise
        return True

    def run_errors(self, start):
        if self.op.error_inputs_func is None:
            return
        try:
            function = self.subject.function(self.op)
        except Unsupported:
            return
        torch.manual_seed(0)
        for i, error in enumerate(self.op.error_inputs("cpu")):
            if not start("any", "error", i):
                continue
            sample = error.sample_input
            try:
                self.op.op(sample.input, *sample.args, **sample.kwargs)
                continue  # no error in PyTorch any more
            except Exception:
                pass
            try:
                _, first, args, kwargs = self.arguments(sample)
            except Exception as reason:
                self.report("any", "errors", "unsupported", of_exception(reason))
                continue
            try:
                function(first, *args, **kwargs)
            except Exception as ours:
                kind = error.error_type.__name__
                self.report("any", "errors", "agree", "")
                fits = says(error.error_regex, str(ours)) and kind in [c.__name__ for c in type(ours).__mro__]
                self.report(
                    "any",
                    "messages",
                    "agree" if fits else "differ",
                    "" if fits else f"{kind}: {error.error_regex[:120]}, got {of_exception(ours)}",
                )
            else:
                self.report("any", "errors", "differ", f"{error.error_type.__name__}, got none for {brief(sample)}")


def says(regex, message):
    """Whether a message says what PyTorch's does: `[op] text` stands for `op(): text`, `op: text` and `op : text`, and
    `tenon.float32` for `torch.float32`."""
    message = re.sub(r"\btenon\.(?=\w)", "torch.", message)
    named = re.match(r"\[(\w+)[^\]]*\] ", message)
    forms = (
        [message] + [f"{named[1]}{after}{message[named.end() :]}" for after in ("(): ", ": ", " : ")]
        if named
        else [message]
    )
    return any(re.search(regex, form) for form in forms)


def with_own_memory(t):
    """A copy of t with all of the storage that it is a part of."""
    plain = t.detach().resolve_conj().resolve_neg()
    flat = torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage().clone())
    return flat.as_strided(plain.shape, plain.stride(), plain.storage_offset())


def pattern(t):
    """A gradient of many values that is the same in every run."""
    flat = torch.arange(t.numel(), dtype=torch.float64).mul(0.7).sin()
    if t.is_complex():
        flat = torch.complex(flat, flat.flip(0))
    return flat.reshape(t.shape).to(t.dtype)


def brief(sample):
    def one(value):
        if isinstance(value, torch.Tensor):
            return f"{short(value.dtype)}{list(value.shape)}" + ("" if value.is_contiguous() else f"/{value.stride()}")
        if isinstance(value, (list, tuple)):
            return f"[{', '.join(map(one, value))}]"
        return repr(value)

    parts = [one(sample.input), *map(one, sample.args), *(f"{k}={one(v)}" for k, v in sample.kwargs.items())]
    return f"({', '.join(parts)})"[:200]
