"""Warnings of C++ come by Python's `warnings`."""

import threading
import warnings

import pytest
import tenon


def grad_of_a_result():
    y = tenon.ones(2, requires_grad=True) * 2
    return y.grad


def test_a_warning_is_a_user_warning_at_the_callers_line():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert grad_of_a_result() is None
    (one,) = caught
    assert one.category is UserWarning
    assert "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed" in str(one.message)
    assert one.filename == __file__


def test_a_filter_can_make_an_error_of_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="not a leaf Tensor"):
            grad_of_a_result()
        x = tenon.arange(3)
        with pytest.raises(UserWarning, match="uint8 is now deprecated"):
            x[tenon.tensor([1, 0, 1], dtype=tenon.uint8)]
    assert x.tolist() == [0, 1, 2]


def test_warnings_of_another_thread():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        thread = threading.Thread(target=grad_of_a_result)
        thread.start()
        thread.join()
    assert len(caught) == 1


def test_a_warning_while_an_error_is_raised():
    """What anomaly mode says of a node does not replace the error."""
    with tenon.autograd.detect_anomaly(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        x = tenon.zeros(1, requires_grad=True)
        with pytest.raises(RuntimeError, match="returned nan values"):
            (x.sqrt() * 0).backward()
    assert any("Error detected in" in str(one.message) for one in caught)
