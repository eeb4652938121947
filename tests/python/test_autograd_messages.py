"""The texts of errors that users search for: the same in both libraries, where PyTorch is installed."""

import importlib

import pytest


def leaf(lib):
    return lib.tensor([1.0, 2.0, 3.0], requires_grad=True)


def inference(lib):
    with lib.inference_mode():
        return lib.ones(3)


def complex_root(lib):
    lib.tensor([1 + 2j], requires_grad=True).sum().backward()


def twice(lib):
    x = leaf(lib)
    y = (x * x).sum()
    y.backward()
    y.backward()


def modified(lib):
    y = leaf(lib) + 0
    z = y * y
    y.add_(1)
    z.sum().backward()


def view_of_no_grad(lib):
    y = leaf(lib) * 1
    with lib.no_grad():
        view = y.view(3)
    view.add_(1)


def view_after_change_of_the_base(lib):
    y = leaf(lib) * 1
    part = y.unbind()[0]
    y.mul_(2)
    part * 2


def function(lib, backward):
    members = {"forward": staticmethod(lambda ctx, x: x * 1), "backward": staticmethod(backward)}
    return type("Mine", (lib.autograd.Function,), members)


def saving(lib, *values):
    class Mine(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(*values)
            return x * 1

    return Mine.apply(leaf(lib))


def overlapping(lib):
    a = lib.ones(4)
    a[1:].add_(a[:3])


UNBOUND = (
    " This view is the output of a function that returns multiple views. Such functions do not allow the output views to be "
    "modified inplace. You should replace the inplace operation by an out-of-place one."
)
CLONE = " Please clone() the tensor before performing the operation."

# The whole text, or where it ends with an ellipsis its beginning.
MESSAGES = [
    (lambda lib: (leaf(lib) * 2).backward(), "grad can be implicitly created only for scalar outputs"),
    (complex_root, "grad can be implicitly created only for real scalar outputs but got torch.complex64"),
    (lambda lib: lib.ones(1).backward(), "element 0 of tensors does not require grad and does not have a grad_fn"),
    (
        twice,
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
        "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
        "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
        "after calling backward.",
    ),
    (
        modified,
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [3]], which is output 0 of Add, is at version 1; expected version 0 instead. Hint: ...",
    ),
    (lambda lib: leaf(lib).add_(1), "a leaf Variable that requires grad is being used in an in-place operation."),
    (
        lambda lib: leaf(lib).view(3).add_(1),
        "a view of a leaf Variable that requires grad is being used in an in-place operation.",
    ),
    (
        lambda lib: (leaf(lib) * 1).unbind()[0].add_(1),
        "Output 0 of Unbind is a view and is being modified inplace." + UNBOUND,
    ),
    (
        view_after_change_of_the_base,
        "Output 0 of Unbind is a view and its base or another view of its base has been modified inplace." + UNBOUND,
    ),
    (
        view_of_no_grad,
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is "
        "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace either "
        "both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you want the inplace "
        "to be tracked).",
    ),
    (
        lambda lib: leaf(lib) * inference(lib),
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in computation "
        "tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in autograd, or use "
        "`LIBRARY.no_grad()` instead of `LIBRARY.inference_mode()`.",
    ),
    (
        lambda lib: inference(lib).add_(1),
        "Inplace update to inference tensor outside InferenceMode is not allowed....",
    ),
    (
        lambda lib: lib.autograd.grad(leaf(lib).sum(), leaf(lib)),
        "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this is the "
        "desired behavior.",
    ),
    (
        lambda lib: lib.autograd.grad(leaf(lib).sum(), lib.ones(1)),
        "One of the differentiated Tensors does not require grad",
    ),
    (
        lambda lib: lib.autograd.grad(leaf(lib) * 2, leaf(lib), lib.ones(2)),
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a shape of torch.Size([3]).",
    ),
    (
        lambda lib: lib.mul(leaf(lib), 2, out=lib.ones(3)),
        "mul(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
        "grad.",
    ),
    (
        lambda lib: function(lib, lambda ctx, g: (g, g)).apply(leaf(lib)).sum().backward(),
        "function MineBackward returned an incorrect number of gradients (expected 1, got 2)",
    ),
    (
        lambda lib: function(lib, lambda ctx, g: lib.ones(7)).apply(leaf(lib)).sum().backward(),
        "Function MineBackward returned an invalid gradient at index 0 - got [7] but expected shape compatible with [3]",
    ),
    (
        lambda lib: saving(lib, lib.ones(2), 3),
        "save_for_backward can only save variables, but argument 1 is of type int",
    ),
    (
        lambda lib: setattr(leaf(lib), "data", lib.ones(3, dtype=lib.int64)),
        "data set to a tensor that requires gradients must be floating point or complex dtype...",
    ),
    (lambda lib: leaf(lib).sum().backward(inputs=[]), "`inputs` argument to `backward()` cannot be empty."),
    (
        lambda lib: leaf(lib).numpy(),
        "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
    ),
    (
        lambda lib: lib.ones(2) + lib.ones(3),
        "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 0",
    ),
    (lambda lib: lib.ones(3).add_(lib.ones(2, 3)), "output with shape [3] doesn't match the broadcast shape [2, 3]"),
    (
        lambda lib: lib.ones(3, dtype=lib.int64).add_(1.5),
        "result type Float can't be cast to the desired output type Long",
    ),
    (
        lambda lib: lib.ones(2, 3).t().view(6),
        "view size is not compatible with input tensor's size and stride (at least one dimension spans across two contiguous "
        "subspaces). Use .reshape(...) instead.",
    ),
    (lambda lib: lib.ones(6).view(7), "shape '[7]' is invalid for input of size 6"),
    (lambda lib: lib.ones(2, 3).mm(lib.ones(2, 3)), "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)"),
    (
        lambda lib: lib.ones(1).expand(3).add_(1),
        "unsupported operation: more than one element of the written-to tensor refers to a single memory location."
        + CLONE,
    ),
    (
        overlapping,
        "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
        "location." + CLONE,
    ),
    (lambda lib: lib.ones(2).sum(2), "Dimension out of range (expected to be in range of [-1, 0], but got 2)"),
    (lambda lib: lib.ones(3)[5], "index 5 is out of bounds for dimension 0 with size 3"),
]


def checkpoint_of(lib):
    return importlib.import_module(f"{lib.__name__}.utils.checkpoint")


def checkpointed(lib, f=lambda x: x * x, **options):
    return checkpoint_of(lib).checkpoint(f, leaf(lib), **{"use_reentrant": False, **options})


def differing(lib, first, second):
    calls = []

    def f(x):
        calls.append(1)
        return (first if len(calls) == 1 else second)(x)

    with checkpoint_of(lib).set_checkpoint_early_stop(False):
        y = checkpointed(lib, f).sum()
    y.backward()


def gradient_of_reentrant(lib):
    x = leaf(lib)
    y = checkpoint_of(lib).checkpoint(lambda x: x * x, x, use_reentrant=True)
    lib.autograd.grad(y.sum(), x)


CHECKPOINT_MESSAGES = [
    (
        lambda lib: checkpointed(lib, lambda x: x.detach(), use_reentrant=True).sum().backward(),
        "none of output has requires_grad=True, this checkpoint() is not necessary",
    ),
    (
        gradient_of_reentrant,
        "When use_reentrant=True, checkpoint is incompatible with .grad() or passing an `inputs` parameter to .backward(). To "
        "resolve this error, you can either set use_reentrant=False, or call .backward() without passing the `inputs` argument.",
    ),
    (
        lambda lib: differing(lib, lambda x: x.sin().exp().sin(), lambda x: x.sin()),
        "A different number of tensors was saved during the original forward and recomputation.\nNumber of tensors saved during "
        "forward: 3\nNumber of tensors saved during recomputation: 1....",
    ),
    (
        lambda lib: differing(lib, lambda x: x.sin(), lambda x: x.sin().exp().sin()),
        "trying to save more tensors during recomputation than during the original forward pass....",
    ),
    (
        lambda lib: differing(lib, lambda x: x.sin().exp(), lambda x: x[:1].sin().exp()),
        "Recomputed values for the following tensors have different metadata than during the forward pass.\ntensor at position "
        "0:\nsaved metadata: ...",
    ),
    (
        lambda lib: checkpointed(lib, determinism_check="bad").sum().backward(),
        "determinism_check should be one of ['default', 'none'], but got bad",
    ),
    (
        lambda lib: checkpointed(lib, debug=True, context_fn=lambda: (None, None)),
        "debug=True is incompatible with non-default context_fn",
    ),
]


@pytest.mark.parametrize(
    ("run", "text"), CHECKPOINT_MESSAGES, ids=lambda value: value[:40] if isinstance(value, str) else ""
)
def test_text_of_checkpoint(lib, run, text):
    with pytest.raises((RuntimeError, ValueError)) as error:
        run(lib)
    found = (
        str(error.value).replace("torch.utils.checkpoint: ", "").replace("torch.utils.checkpoint is", "checkpoint is")
    )
    if text.endswith("..."):
        assert found.startswith(text.removesuffix("..."))
    else:
        assert found == text


def test_warnings_of_checkpoint(lib):
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None"):
        y = checkpoint_of(lib).checkpoint(lambda x: x * 2, lib.ones(3), use_reentrant=True)
    assert y.tolist() == [2, 2, 2] and not y.requires_grad
    with pytest.warns(UserWarning, match="the use_reentrant parameter should be passed explicitly"):
        x = leaf(lib)
        checkpoint_of(lib).checkpoint(lambda x: x * 2, x).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize(("run", "text"), MESSAGES, ids=lambda value: value[:40] if isinstance(value, str) else "")
def test_text(lib, run, text):
    kind = IndexError if "range" in text or "bounds" in text else (RuntimeError, TypeError)
    with pytest.raises(kind) as error:
        run(lib)
    found = str(error.value)
    for operator in ("[view] ", "[mm] ", "mm: ", "[select] "):  # who complains, of which the text itself says nothing
        found = found.removeprefix(operator)
    expected = text.replace("LIBRARY", lib.__name__)
    if expected.endswith("..."):
        assert found.startswith(expected.removesuffix("..."))
    else:
        assert found == expected
