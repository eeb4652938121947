"""__torch_function__: subclasses and classes that are no tensors take the calls that they are passed to."""

import pytest
import tenon
from tenon.overrides import DisableTorchFunctionSubclass, handle_torch_function, has_torch_function, is_tensor_like


class Logged(tenon.Tensor):
    calls = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls.append((func, types, args, kwargs))
        return super().__torch_function__(func, types, args, kwargs)


class Plain(tenon.Tensor):
    pass


class Duck:
    """Not a tensor; answers with what it was called."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


class Refusing(tenon.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


def logged(call):
    Logged.calls.clear()
    return call(), Logged.calls[0]


x = tenon.tensor([1.0, -2.0, 3.0]).as_subclass(Logged)
p = tenon.ones(3)


@pytest.mark.parametrize(
    ("call", "func", "args"),
    [
        (lambda: tenon.add(p, x, alpha=2), tenon.add, (p, x)),
        (lambda: tenon.cat([p, x]), tenon.cat, None),
        (lambda: tenon.add(p, p, out=tenon.empty(3).as_subclass(Logged)), tenon.add, (p, p)),
        (lambda: tenon.nn.functional.relu(x), tenon.nn.functional.relu, (x,)),
        (lambda: x.add(1), tenon.Tensor.add, (x, 1)),
        (lambda: p.add(x), tenon.Tensor.add, (p, x)),
        (lambda: x + p, tenon.Tensor.add, (x, p)),
        (lambda: p + x, tenon.Tensor.add, (p, x)),
        (lambda: 2.0 * x, tenon.Tensor.mul, (x, 2.0)),
        (lambda: 2.0 - x, tenon.Tensor.__rsub__, (x, 2.0)),
        (lambda: x / 2, tenon.Tensor.div, (x, 2)),
        (lambda: 2 / x, tenon.Tensor.__rtruediv__, (x, 2)),
        (lambda: 2**x, tenon.Tensor.__rpow__, (x, 2)),
        (lambda: x @ p, tenon.Tensor.matmul, (x, p)),
        (lambda: -x, tenon.Tensor.neg, (x,)),
        (lambda: x < 2, tenon.Tensor.lt, (x, 2)),
        (lambda: 2 < x, tenon.Tensor.gt, (x, 2)),
        (lambda: x[0], tenon.Tensor.__getitem__, (x, 0)),
        (lambda: x.detach(), tenon.Tensor.detach, (x,)),
        (lambda: x.to(tenon.float64), tenon.Tensor.to, (x, tenon.float64)),
        (lambda: x.data, tenon.Tensor.data.__get__, (x,)),
        (lambda: x.T, tenon.Tensor.T.__get__, (x,)),
    ],
)
def test_what_is_called(call, func, args):
    result, (called, types, given, keywords) = logged(call)
    assert called == func and types == (Logged,) and type(result) is Logged
    if args is not None:
        assert len(given) == len(args) and all(a is b or a == b for a, b in zip(given, args))
    assert isinstance(keywords, dict)


def test_results_that_are_no_tensors():
    for call, func, expected in [
        (lambda: x.shape, tenon.Tensor.shape.__get__, (3,)),
        (lambda: x.size(0), tenon.Tensor.size, 3),
        (lambda: x.dim(), tenon.Tensor.dim, 1),
        (lambda: len(x), tenon.Tensor.__len__, 3),
        (lambda: bool(x[0] > 0), tenon.Tensor.__getitem__, True),
        (lambda: 3.0 in x, tenon.Tensor.__contains__, True),
        (lambda: x.numpy().tolist(), tenon.Tensor.numpy, [1, -2, 3]),
        (lambda: x.requires_grad, tenon.Tensor.requires_grad.__get__, False),
    ]:
        result, (called, *_) = logged(call)
        assert called == func and result == expected


def test_attributes_that_are_set_and_in_place():
    y = tenon.ones(2).as_subclass(Logged)
    _, (called, _, args, _) = logged(lambda: setattr(y, "requires_grad", True))
    assert called == tenon.Tensor.requires_grad.__set__ and args[1] is True and y.requires_grad
    z = tenon.ones(2).as_subclass(Logged)
    kept = z
    z += 1
    assert z is kept and Logged.calls[-1][0] == tenon.Tensor.add_ and z.tolist() == [2, 2]
    _, (called, *_) = logged(lambda: z.__setitem__(0, 5))
    assert called == tenon.Tensor.__setitem__ and z.tolist() == [5, 2]
    assert all(type(row) is Logged for row in z)


def test_subclasses_without_one_of_their_own():
    a = tenon.ones(2, requires_grad=True).as_subclass(Plain)
    assert type(a + 1) is Plain and type(tenon.stack([a, a])) is Plain
    values, indices = tenon.max(a.unsqueeze(0), 1)
    assert type(values) is Plain and type(indices) is Plain
    assert tenon.max(a.unsqueeze(0), 1).values.tolist() == [1]
    leaf = tenon.Tensor._make_subclass(Plain, tenon.ones(2), True)
    (leaf * 3).sum().backward()
    assert leaf.grad.tolist() == [3, 3] and type(leaf.grad) is tenon.Tensor
    with DisableTorchFunctionSubclass():
        assert type(a + 1) is tenon.Tensor
    assert type(a + 1) is Plain
    assert type(tenon.nn.Parameter(tenon.ones(2)) * 2) is tenon.Tensor


def test_classes_that_are_no_tensors():
    duck = Duck()
    for call, func, args in [
        (lambda: tenon.add(duck, 1, alpha=2), tenon.add, (duck, 1)),
        (lambda: p + duck, tenon.Tensor.add, (p, duck)),
        (lambda: duck - p, tenon.Tensor.__rsub__, (p, duck)),
        (lambda: p[duck], tenon.Tensor.__getitem__, (p, duck)),
        (lambda: tenon.nn.functional.linear(p, duck), None, None),
        (lambda: tenon.stack([p, duck]), tenon.stack, None),
    ]:
        called, types, given, keywords = call()
        assert types == (Duck,)
        assert func is None or called == func
        assert args is None or all(a is b or a == b for a, b in zip(given, args))
    assert tenon.add(duck, 1, alpha=2)[3] == {"alpha": 2}
    assert is_tensor_like(duck) and is_tensor_like(p) and not is_tensor_like(3)


def test_who_is_asked():
    class Child(Logged):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return types

    child = tenon.ones(3).as_subclass(Child)
    assert tenon.add(x, child) == (Child, Logged)  # subclasses first
    assert tenon.add(child, Duck()) == (Child, Duck)
    # One that refuses leaves it to the next; if all do, it is an error that names the function.
    refusing = tenon.ones(3).as_subclass(Refusing)
    assert tenon.add(refusing, Duck())[1] == (Refusing, Duck)
    for call, name in [
        (lambda: tenon.add(refusing, 1), "'add'"),
        (lambda: refusing.add(1), "'Tensor.add'"),
        (lambda: refusing.shape, "'Tensor.shape.__get__'"),
        (lambda: refusing.backward(), "'Tensor.backward'"),
    ]:
        with pytest.raises(TypeError, match=f"no implementation found for {name}"):
            call()
    with pytest.raises(TypeError, match="unsupported operand"):
        refusing + 1


def test_errors_of_a_handler_arrive():
    class Failing(tenon.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError(func.__name__)

    failing = tenon.ones(1).as_subclass(Failing)
    for call in (
        lambda: failing + 1,
        lambda: tenon.relu(failing),
        lambda: failing.shape,
        lambda: failing[0],
        lambda: len(failing),
    ):
        with pytest.raises(KeyError):
            call()


def test_functions_of_ones_own():
    def double(a):
        if has_torch_function((a,)):
            return handle_torch_function(double, (a,), a)
        return a + a

    called, types, args, _ = double(Duck())
    assert called is double and types == (Duck,) and len(args) == 1
    assert double(p).tolist() == [2, 2, 2]
