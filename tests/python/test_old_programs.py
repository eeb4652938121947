"""What programs for older PyTorch do and PyTorch 2.15 still takes."""

import copy
import pickle
import re

import pytest


def test_types_of_sparse_tensors(lib):
    indices, values = lib.tensor([[0, 1], [1, 0]]), lib.tensor([1.0, 2.0])
    made = lib.sparse.FloatTensor(indices, values, lib.Size([2, 3]))
    assert made.layout == lib.sparse_coo and made.to_dense().tolist() == [[0, 1, 0], [2, 0, 0]]
    assert isinstance(made, lib.sparse.FloatTensor) and not isinstance(values, lib.sparse.FloatTensor)
    assert not isinstance(made, lib.sparse.DoubleTensor)
    assert lib.sparse.FloatTensor(indices, values).shape == (2, 2)
    empty = lib.sparse.DoubleTensor(2, 3)
    assert (empty.shape, empty.dtype, empty._nnz()) == ((2, 3), lib.float64, 0) and lib.sparse.FloatTensor().shape == (
        0,
    )
    assert made.type().endswith(".sparse.FloatTensor") and lib.typename(made) == made.type()
    with pytest.raises(RuntimeError, match="expected scalar type Long but found Float"):
        lib.sparse.FloatTensor(indices.float(), values)


def test_objects_of_functions(lib):
    class Twice(lib.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            with pytest.warns(DeprecationWarning, match="saved_variables"):
                assert len(ctx.saved_variables) == 1
            return grad * 2

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        twice = Twice()
    x = lib.ones(2, requires_grad=True)
    twice.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        twice(x)
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        assert lib.autograd.function.InplaceFunction(True).inplace is True


def test_instance_norm_of_other_channels(lib):
    x = lib.arange(12.0).view(1, 3, 4)
    with pytest.warns(UserWarning, match="does not match num_features"):
        result = lib.nn.InstanceNorm1d(2)(x)
    assert lib.allclose(result, lib.nn.InstanceNorm1d(3)(x))
    with pytest.raises(ValueError, match="to match num_features \\(2\\), but got: 3"):
        lib.nn.InstanceNorm1d(2, affine=True)(x)


def test_tensors_that_forward_assigns(lib):
    class Counts(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", lib.zeros(()))

        def forward(self, x):
            self.count = self.count + 1
            return x + self.count

    tensors, module = {"count": lib.tensor(5.0)}, Counts()
    assert lib.func.functional_call(module, tensors, lib.ones(())) == 7
    assert module.count == 0 and tensors["count"] == 6


def test_texts_of_parameters_of_subclasses(lib):
    class Mine(lib.Tensor):
        pass

    class MyParameter(lib.nn.Parameter):
        pass

    x = lib.ones(2)
    assert repr(lib.nn.Parameter(x.as_subclass(Mine))) == "Parameter(Mine([1., 1.], requires_grad=True))"
    assert repr(MyParameter(x)) == "Parameter containing:\nParameter(MyParameter([1., 1.], requires_grad=True))"
    assert repr(x.as_subclass(Mine)) == "Mine([1., 1.])"


def test_futures_are_not_pickled(lib):
    future = lib.futures.Future()
    with pytest.raises(RuntimeError, match="Can not pickle"):
        pickle.dumps(future)
    future.set_exception(ValueError("first"))
    with pytest.raises(RuntimeError, match="Got the following error when running the callback: ValueError: first"):
        future.then(lambda f: f.value()).wait()


@pytest.mark.parametrize("layout", ["coo", "csr", "csc", "bsr", "bsc"])
def test_differences_of_sparse_tensors(lib, layout):
    def made(rows, options=(1, 1)):
        dense = lib.tensor(rows)
        return getattr(dense, f"to_sparse_{layout}")(*([options] if layout.startswith("b") else []))

    def text(actual, expected):
        with pytest.raises(AssertionError) as error:
            lib.testing.assert_close(made(actual), made(expected))
        return re.sub(r"\s+", " ", str(error.value))

    kind = layout.upper()
    assert text([[1.0, 0], [0, 2]], [[1.0, 0], [0, 3]]).startswith(f"Sparse {kind} values are not close!")
    assert f"Sparse {kind} " in text([[1.0, 0], [0, 2]], [[0.0, 1], [2, 0]])
    assert text([[1.0, 0], [0, 2]], [[1.0, 1], [0, 2]]) == (
        f"The number of specified values in sparse {kind} tensors does not match: 2 != 3"
    )


def test_copies_of_views_without_elements(lib):
    x = lib.zeros(0, 4, 3)[:, 2]
    other = copy.deepcopy(x)
    assert other.shape == (0, 3) and other.dtype == x.dtype


def test_copies_of_subclasses_on_meta(lib):
    class Wrapper(lib.Tensor):
        @staticmethod
        def __new__(cls, inner):
            made = lib.Tensor._make_subclass(cls, inner.to("meta"), False)
            made.inner = inner
            return made

        def clone(self):
            return type(self)(self.inner.clone())

    wrapper = Wrapper(lib.ones(2))
    wrapper.word = ["a"]
    other = copy.deepcopy(wrapper)
    assert type(other) is Wrapper and other.inner.tolist() == [1, 1] and other.inner is not wrapper.inner
    assert other.word == ["a"] and other.word is not wrapper.word


def test_gradcheck_of_outputs_that_depend_on_requires_grad(lib):
    x, y = (lib.rand(3, dtype=lib.float64, requires_grad=True) for _ in range(2))

    def function(x, y):
        parts = [x * y, x + 0.5 * y]
        return tuple(part for part in parts if part.requires_grad)

    assert lib.autograd.gradcheck(function, (x, y)) and lib.autograd.gradcheck(function, (x, y), fast_mode=True)

    # An optimizer's step is differentiated so.
    def step(p, grad, buffer):
        p = p.clone()
        p.grad = grad
        optimizer = lib.optim.SGD([p], lr=0.9, momentum=0.5, differentiable=True)
        optimizer.state[p]["momentum_buffer"] = buffer.clone()
        optimizer.step()
        return (p, *(t for t in (optimizer.state[p]["momentum_buffer"],) if t.requires_grad))

    p, grad, buffer = (lib.rand(3, dtype=lib.float64, requires_grad=True) for _ in range(3))
    assert lib.autograd.gradcheck(step, (p, grad, buffer))


def test_words_of_errors(lib):
    x, inf = lib.ones(4), lib.nn.functional
    for call, words in (
        (
            lambda: lib.autograd.functional.vjp(lambda x: x, x, lib.ones(2)),
            r"v has invalid size: should be \w+\.Size\(\[4\]\)",
        ),
        (lambda: "a" in x, r"you passed in a <class 'str'>"),
        (lambda: lib.tensor_split(x, lib.tensor([1.5])), "to have dtype of long, but got Float"),
        (lambda: lib.empty(2**61, dtype=lib.float64), "Storage size calculation overflowed"),
        (lambda: lib.einsum("..a", x), "found '.' for operand 0 that is not part of any ellipsis"),
        (lambda: lib.einsum("a->..", x), "found '.' for output"),
        (lambda: inf.max_pool2d(lib.ones(1, 2, 2), 1, 0), "stride should not be zero"),
        (lambda: inf.avg_pool3d(lib.ones(1, 2, 2, 2), 1, 0), "stride should not be zero"),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()


def test_layers_without_a_shape(lib):
    layer = lib.nn.LazyLinear(3)
    with pytest.raises(ValueError, match="uninitialized parameters"):
        lib.nn.utils.spectral_norm(layer)
    with pytest.raises(RuntimeError, match="share memory on an uninitialized"):
        layer.share_memory()
    other = lib.nn.LazyLinear(3)
    other.load_state_dict(layer.state_dict())
    assert other.has_uninitialized_params()


def test_deterministic_algorithms_take_bools(lib):
    for call, name in (
        (lambda: lib.use_deterministic_algorithms(1), "'mode' \\(position 1\\)"),
        (lambda: lib.use_deterministic_algorithms(False, warn_only=1), "'warn_only'"),
    ):
        with pytest.raises(TypeError, match=f"argument {name} must be bool, not int"):
            call()


def test_storages_of_elements_over_files(lib, tmp_path):
    path = str(tmp_path / "floats")
    first = lib.FloatTensor(lib.FloatStorage.from_file(path, True, 4))
    first.fill_(2)
    assert lib.FloatTensor(lib.FloatStorage.from_file(path, True, 4)).tolist() == [2, 2, 2, 2]


def test_tables_of_profiles(lib):
    with lib.profiler.profile(activities=[lib.profiler.ProfilerActivity.CPU]) as profile:
        lib.ones(2).sin()
    averages = profile.key_averages()
    table = averages.table(sort_by="cpu_time_total", row_limit=5, header="Mine", max_name_column_width=40)
    assert "Mine" in table and "aten::sin" in table and table.splitlines()[0] != averages.table().splitlines()[0]
