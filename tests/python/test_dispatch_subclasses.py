"""Classes with __torch_dispatch__ whose tensors have no memory."""

import pytest


def test_no_use_of_a_wrapper_without_its_class_crashes():
    import tenon
    from tenon.utils._mode_utils import no_dispatch

    class Wrapper(tenon.Tensor):
        @staticmethod
        def __new__(cls):
            return tenon.Tensor._make_wrapper_subclass(cls, (3, 3))

        @classmethod
        def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
            raise AssertionError(func)

    w, plain = Wrapper(), tenon.ones(3, 3)
    uses = [
        lambda: w + 1,
        lambda: w @ w,
        lambda: w.add_(1),
        lambda: tenon.add(plain, 1, out=w),
        lambda: w.view(9),
        lambda: w.softmax(1),
        lambda: w.sort(),
        lambda: w.fill_(1),
        lambda: plain.copy_(w),
        lambda: w.to(tenon.float64),
        lambda: w.untyped_storage()[0],
        lambda: w.untyped_storage().data_ptr(),
        lambda: tenon.empty(0).set_(w.untyped_storage()),
        lambda: memoryview(w),
        lambda: w.resize_(20),
        lambda: w.cumsum(0),
        lambda: tenon.nn.functional.embedding(tenon.tensor([0]), w),
        lambda: tenon.nn.functional.binary_cross_entropy_with_logits(w, plain),
    ]
    for use in uses:
        with no_dispatch(), pytest.raises(RuntimeError, match="data pointer"):
            use()
