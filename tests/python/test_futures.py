"""Futures: errors of what is called when they are done."""

import pytest


def _raising(future):
    raise ValueError("of a callback")


def test_errors_of_callbacks_are_of_who_waits(lib):
    Future = lib.futures.Future
    first = Future()
    second, third = first.then(_raising), first.then(lambda: 1)
    first.set_result(1)
    with pytest.raises(RuntimeError, match="of a callback"):
        second.wait()
    with pytest.raises(RuntimeError, match="takes 0 positional arguments but 1 was given"):
        third.wait()
    with pytest.raises(RuntimeError, match="of a callback"):
        lib.futures.wait_all([first, second])
    with pytest.raises(RuntimeError, match="Future can only be marked completed once"):
        first.set_result(2)


def test_an_error_that_is_set_stays_as_it_is(lib):
    future = lib.futures.Future()
    future.set_exception(ValueError("mine"))
    with pytest.raises(ValueError, match="mine"):
        future.wait()
    with pytest.raises(RuntimeError, match="Future can't be None"):
        lib.futures.wait_all((None,))
