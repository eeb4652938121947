"""Results that are not there yet."""

import logging
import threading
from typing import Generic, TypeVar

__all__ = ["Future", "collect_all", "wait_all"]

T = TypeVar("T")
_NAME = "tenon.futures.Future"
_logger = logging.getLogger(__name__)


class Future(Generic[T]):
    """A value, or an error, that somebody sets later."""

    def __init__(self, *, devices=None):
        self._changed = threading.Condition()
        self._done, self._value, self._error, self._callbacks = False, None, None, []

    def done(self):
        return self._done

    def wait(self):
        """Waits for the value; raises the error if there was one."""
        with self._changed:
            self._changed.wait_for(lambda: self._done)
        return self.value()

    def value(self):
        """The value of one that is done."""
        if not self._done:
            raise RuntimeError("Future.value(): it is not done; wait() waits for it")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result):
        self._finish(result, None)

    def set_exception(self, result):
        if not isinstance(result, BaseException):
            raise TypeError(f"Future.set_exception() expects an exception, got {type(result).__name__}")
        self._finish(None, result)

    def _finish(self, value, error):
        with self._changed:
            if self._done:
                raise RuntimeError("Future can only be marked completed once: it has a result already")
            self._done, self._value, self._error = True, value, error
            callbacks, self._callbacks = self._callbacks, []
            self._changed.notify_all()
        for callback in callbacks:
            self._call(callback)

    def _call(self, callback):
        # An error of it is no error of whoever sets the value, and keeps no other callback from being called.
        try:
            callback(self)
        except Exception:
            _logger.exception("Got the following error when running the callback:")

    def __reduce__(self):
        raise RuntimeError(f"Can not pickle {_NAME}")

    def add_done_callback(self, callback):
        """callback(self) when it is done: at once if it is already, else on the thread that sets it. Its errors are logged."""
        with self._changed:
            if not self._done:
                self._callbacks.append(callback)
                return
        self._call(callback)

    def then(self, callback):
        """A future of what callback(self) returns, called when this one is done."""
        following = Future()

        def run(self):
            try:
                result = callback(self)
            except BaseException as error:  # it is whoever waits that gets it
                following.set_exception(_of_callback(error))
            else:
                following.set_result(result)

        self.add_done_callback(run)
        return following


def _of_callback(error):
    """The error that a future has if its callback raises: RuntimeError, with the callback's error as its cause."""
    if not isinstance(error, Exception):
        return error
    following = RuntimeError(f"Got the following error when running the callback: {type(error).__name__}: {error}")
    following.__cause__ = error
    return following


class _Deferred(Future):
    """What is computed when somebody waits for it."""

    def __init__(self, compute):
        super().__init__()
        self._compute = compute

    def wait(self):
        if not self.done():
            try:
                result = self._compute()
            except BaseException as error:
                self.set_exception(error)
            else:
                self.set_result(result)
        return self.value()

    def then(self, callback):
        def compute():
            try:
                self.wait()
            except Exception:  # noqa: S110  callback(self) finds it
                pass
            try:
                return callback(self)
            except BaseException as error:
                raise _of_callback(error)  # noqa: B904  it has its cause

        return _Deferred(compute)


def collect_all(futures):
    """A future of the list of all, when they are done; of the first error if there was one."""
    futures, together = list(futures), Future()
    if any(future is None for future in futures):
        raise RuntimeError("Future can't be None")
    left, lock = [len(futures)], threading.Lock()

    def one_done(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            error = next((future._error for future in futures if future._error is not None), None)
            together._finish(futures, error)

    if not futures:
        together.set_result([])
    for future in futures:
        future.add_done_callback(one_done)
    return together


def wait_all(futures):
    """The values of all."""
    return [future.wait() for future in collect_all(futures).wait()]
