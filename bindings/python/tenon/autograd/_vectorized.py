"""jacobian() and hessian() with vectorize=True: all rows in one pass, by vmap."""

from tenon import _C
from tenon.autograd.grad_mode import enable_grad


def _rows_of_reverse_mode(function, inputs, create_graph):
    from tenon.autograd import grad
    from tenon.func._jacobians import unit_vectors

    with enable_grad():
        given = [
            x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
            for x in inputs
        ]  # fmt: skip
        outputs = function(*given)
        outputs = (outputs,) if isinstance(outputs, _C.Tensor) else tuple(outputs)
        roots = [output for output in outputs if output.requires_grad]
        count = sum(root.numel() for root in roots)
        grads = [None] * len(given)
        if count:
            vectors = unit_vectors(roots)
            grads = grad(roots, given, vectors, None, create_graph, allow_unused=True, is_grads_batched=True)
        rows, first = [], 0
        for output in outputs:
            size = output.numel() if output.requires_grad else 0
            row = []
            for x, of_all in zip(given, grads, strict=True):
                sizes = (*output.shape, *x.shape)
                if of_all is None or not size:
                    row.append(_C.zeros(sizes, dtype=x.dtype, device=x.device))
                else:
                    block = of_all.narrow(0, first, size).reshape(sizes)
                    row.append(block if create_graph else block.detach())
            rows.append(row)
            first += size
    return rows


def _rows_of_forward_mode(function, inputs):
    from tenon.func import jacfwd

    rows = jacfwd(function, argnums=tuple(range(len(inputs))))(*(x.detach() for x in inputs))
    return [rows] if function.single else list(rows)


def jacobian(function, inputs, create_graph, forward):
    """For each output the derivatives with respect to all inputs; None if an operator refuses batches."""
    if forward and any(x.is_complex() for x in inputs):
        return None
    try:
        return (
            _rows_of_forward_mode(function, inputs)
            if forward
            else _rows_of_reverse_mode(function, inputs, create_graph)
        )
    except RuntimeError as error:
        if not str(error).startswith("vmap:"):
            raise
        return None


def hessian(function, inputs, create_graph, forward):
    """For each input the derivatives of its gradient; None if an operator refuses batches."""
    from tenon.func import grad

    def checked(*args):
        output = function(*args)
        if not isinstance(output, _C.Tensor):
            raise RuntimeError("The function given to hessian should return a single Tensor")
        if output.numel() != 1:
            raise RuntimeError(
                "The Tensor returned by the function given to hessian should contain a single element, "
                f"got sizes {list(output.shape)}"
            )
        return output.reshape(())

    class Gradient:
        single = False

        def __call__(self, *args):
            return grad(checked, argnums=tuple(range(len(args))))(*args)

    return jacobian(Gradient(), inputs, create_graph, forward)
