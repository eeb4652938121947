"""Gradients against finite differences."""

import warnings

from tenon import _C


class GradcheckError(RuntimeError):
    """The gradients of a function are not those that finite differences give."""


def _split(func, inputs):
    """A function of the tensors among the inputs, and these."""
    inputs = (inputs,) if isinstance(inputs, _C.Tensor) else tuple(inputs)
    places = [i for i, value in enumerate(inputs) if isinstance(value, _C.Tensor)]

    def function(*tensors):
        args = list(inputs)
        for i, tensor in zip(places, tensors):
            args[i] = tensor
        result = func(*args)
        results = (result,) if isinstance(result, _C.Tensor) else tuple(result)
        return tuple(r for r in results if isinstance(r, _C.Tensor))

    for i in places:
        if inputs[i].requires_grad and inputs[i].dtype not in (_C.float64, _C.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or complex. This check will "
                "likely fail: differences of so few digits need a larger eps and atol.",
                stacklevel=3,
            )
    return function, [inputs[i] for i in places]


def _is_differentiable(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def _non_contiguous(like):
    """Random elements in every second place of the memory."""
    return _C.randn([*like.shape, 2], dtype=like.dtype, device=like.device)[..., 0].requires_grad_()


def _check_tangents_in_batches(function, tensors):
    """Tangents of two directions at once, by vmap, are those of one after the other."""
    from tenon.func import jvp, vmap

    places = [i for i, tensor in enumerate(tensors) if tensor.requires_grad]
    fixed = [tensor.detach() for tensor in tensors]

    def of_places(*values):
        args = list(fixed)
        for i, value in zip(places, values):
            args[i] = value
        return tuple(output for output in function(*args) if _is_differentiable(output))

    primals = tuple(fixed[i] for i in places)

    def tangents(*directions):
        return jvp(of_places, primals, directions)[1]

    directions = [_C.randn([2, *primal.shape], dtype=primal.dtype, device=primal.device) for primal in primals]
    together = vmap(tangents)(*directions)
    alone = [tangents(*(direction[i] for direction in directions)) for i in range(2)]
    for k, batch in enumerate(together):
        for i in range(2):
            if not _C.allclose(batch[i], alone[i][k], equal_nan=True):
                raise RuntimeError(
                    f"gradcheck: while computing tangents in batches, got {batch[i]} for output {k}, and {alone[i][k]} without "
                    "batches"
                )


def _run(check, raise_exception):
    try:
        return check()
    except (ValueError, TypeError, NotImplementedError):
        raise
    except RuntimeError as error:
        if raise_exception:
            raise GradcheckError(str(error)) from None
        return False


def gradcheck(
    func, inputs, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0, check_undefined_grad=True,
    check_grad_dtypes=False, check_batched_grad=False, check_batched_forward_grad=False, check_forward_ad=False,
    check_backward_ad=True, fast_mode=False, masked=None,
):  # fmt: skip
    """Compares the gradients of func at the inputs, which had best be float64 or complex128, with central differences.

    check_forward_ad: the tangents of forward mode, too. check_batched_grad: gradients in batches, too.
    fast_mode: one projection of each Jacobian instead of all elements.
    check_batched_forward_grad: tangents in batches, too.
    check_grad_dtypes: a gradient always has its input's dtype. There are no sparse tensors, which masked is about.
    """
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    if masked:
        raise NotImplementedError("gradcheck: masked is not supported")
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    function, tensors = _split(func, inputs)

    def check():
        good = _C._gradcheck(
            function, tensors, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception, nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad, check_batched_grad=check_batched_grad,
            check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad, fast_mode=fast_mode,
        )  # fmt: skip
        if good and check_batched_forward_grad:
            _check_tangents_in_batches(function, tensors)
        return good

    return _run(check, raise_exception)


def gradgradcheck(
    func, inputs, grad_outputs=None, *, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, nondet_tol=0.0,
    check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False, check_fwd_over_rev=False,
    check_rev_over_rev=True, fast_mode=False, masked=False, gen_non_contig_grad_outputs=False,
):  # fmt: skip
    """gradcheck() of the gradients. check_fwd_over_rev: their tangents, too.

    grad_outputs: by default random ones; with gen_non_contig_grad_outputs they are not contiguous.
    """
    if masked:
        raise NotImplementedError("gradgradcheck: masked is not supported")
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    function, tensors = _split(func, inputs)
    if grad_outputs is None and gen_non_contig_grad_outputs:
        grad_outputs = [_non_contiguous(output) for output in function(*tensors) if _is_differentiable(output)]
    grads = (
        [] if grad_outputs is None else [grad_outputs] if isinstance(grad_outputs, _C.Tensor) else list(grad_outputs)
    )
    return _run(
        lambda: _C._gradgradcheck(
            function, tensors, grads, eps=eps, atol=atol, rtol=rtol, raise_exception=raise_exception,
            nondet_tol=nondet_tol, check_undefined_grad=check_undefined_grad, check_batched_grad=check_batched_grad,
            check_forward_ad=check_fwd_over_rev, check_backward_ad=check_rev_over_rev, fast_mode=fast_mode,
        ),
        raise_exception,
    )  # fmt: skip
