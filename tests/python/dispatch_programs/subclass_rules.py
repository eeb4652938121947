"""Which class is asked, what NotImplemented does, and errors."""

import torch


class A(torch.Tensor):
    @staticmethod
    def __new__(cls):
        return torch.Tensor._make_wrapper_subclass(cls, (2,))

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print("A", [t.__name__ for t in types])
        return NotImplemented


class B(A):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print("B", [t.__name__ for t in types])
        return NotImplemented


class C(A):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        print("C", [t.__name__ for t in types], len(args), kwargs)
        return torch.zeros(1)


class Text(A):
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        return "no tensor"


class Plain(torch.Tensor):
    pass


def attempt(function):
    try:
        print(function())
    except Exception as error:
        print(type(error).__name__, str(error).splitlines())


attempt(lambda: torch.add(A(), C(), alpha=2))
attempt(lambda: torch.cat([A(), B(), C()]))
attempt(lambda: torch.add(A(), B()))
attempt(lambda: A() + 1)
attempt(lambda: A().numpy())
attempt(lambda: A().tolist())
attempt(lambda: torch.Tensor._make_wrapper_subclass(Plain, (2,)))
attempt(lambda: A().data_ptr())
attempt(
    lambda: (
        A().shape,
        A().dtype,
        A().device,
        A().stride(),
        A().is_leaf,
        A().requires_grad,
        A().untyped_storage().nbytes(),
    )
)
for function in (lambda: Text() + 1, lambda: Text().split(1)):
    try:
        function()
    except RuntimeError as error:
        print("Unable to cast" in str(error))
