"""Processes that load batches: each has a connection, on which it is told what to load and gives what it loaded, in order."""

import collections
import io
import itertools
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import random
import sys
import threading
import time
import traceback
import weakref
from multiprocessing.reduction import ForkingPickler

import tenon
from tenon.utils.data.fetch import End

WorkerInfo = collections.namedtuple("WorkerInfo", ["id", "num_workers", "seed", "dataset"])
_info = None


def get_worker_info():
    """In a process of a DataLoader its WorkerInfo, elsewhere None."""
    return _info


class _Message(str):
    """A text that KeyError shows as it is."""

    __repr__ = str.__str__


def _failure(number):
    """The exception that is being handled, as the program that waits for the batch raises it."""
    kind, _, _ = sys.exc_info()
    text = f"Caught {kind.__name__} in DataLoader worker process {number}.\nOriginal {traceback.format_exc()}"
    return "error", (kind, text)


def _raise(kind, text):
    try:
        error = kind(_Message(text) if issubclass(kind, KeyError) else text)
    except Exception:  # its constructor takes something else
        error = RuntimeError(text)
    raise error


def _listen(connection, tasks, parent):
    """Tasks are taken at once, so that who sends them never waits for a worker that itself waits to give a batch."""
    try:
        while True:
            while not connection.poll(2):
                if os.getppid() != parent:
                    return
            tasks.put(connection.recv())
    except (EOFError, OSError):
        pass
    finally:
        tasks.put(None)


def _seed(seed):
    random.seed(seed)
    tenon.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)


def _work(*args):
    try:
        _load(*args)
    except KeyboardInterrupt:  # the program that waits for the batches has it too, and says so
        pass


class _BatchPickler(ForkingPickler):
    """Of a view it takes the elements alone: a sample may be a small part of a storage that holds the whole data set."""

    def reducer_override(self, obj):
        if (
            type(obj) is not tenon.Tensor
            or obj.is_meta
            or not obj.is_leaf
            or obj.untyped_storage().nbytes() <= obj.nbytes
        ):
            return NotImplemented
        return obj.detach().clone().requires_grad_(obj.requires_grad).__reduce_ex__(2)


def _send_batch(connection, message):
    buffer = io.BytesIO()
    _BatchPickler(buffer).dump(message)
    connection.send_bytes(buffer.getbuffer())


def _load(connection, number, count, seed, dataset, make_fetcher, init, parent):
    global _info
    tenon.set_num_threads(1)
    tasks, fetcher, failed = queue.SimpleQueue(), None, None
    threading.Thread(target=_listen, args=(connection, tasks, parent), daemon=True).start()
    try:
        _seed(seed + number)
        _info = WorkerInfo(number, count, seed + number, dataset)
        if init is not None:
            init(number)
    except Exception:
        failed = _failure(number)
    while (task := tasks.get()) is not None:
        epoch, kind, chosen = task
        try:
            if failed is None:
                if kind == "begin":
                    fetcher = make_fetcher()
                    continue
                batch = fetcher.fetch(chosen)
                answer = ("end", None) if isinstance(batch, End) else ("batch", batch)
            else:
                answer = failed
        except Exception:
            answer = _failure(number)
            if kind == "begin":
                failed = answer  # each batch says so
                continue
        try:
            _send_batch(connection, (epoch, *answer))
        except (BrokenPipeError, ConnectionError):
            return
        except Exception:  # what cannot be pickled: nothing has been written yet
            connection.send((epoch, *_failure(number)))


def _stop(processes, connections):
    for connection in connections:
        connection.close()
    end = time.monotonic() + 0.5
    for process in processes:
        process.join(max(0, end - time.monotonic()))
        if process.is_alive():
            process.terminate()
            process.join()


class Workers:
    """`count` processes; make_fetcher() makes what loads in each, anew for each epoch."""

    def __init__(self, count, dataset, make_fetcher, seed, init, context, timeout):
        context = context if hasattr(context, "Process") else multiprocessing.get_context(context)
        self.connections, self.processes, self.timeout, self.epoch = [], [], timeout or None, 0
        self.is_broken = False
        self._end = weakref.finalize(self, _stop, self.processes, self.connections)
        for number in range(count):
            mine, theirs = context.Pipe()
            process = context.Process(
                target=_work,
                daemon=True,
                name=f"DataLoader worker {number}",
                args=(theirs, number, count, seed, dataset, make_fetcher, init, os.getpid()),
            )
            process.start()
            theirs.close()
            self.connections.append(mine)
            self.processes.append(process)

    def close(self):
        self._end()

    def _send(self, number, kind, chosen=None):
        try:
            self.connections[number].send((self.epoch, kind, chosen))
        except (BrokenPipeError, ConnectionError):
            self._gone(number)

    def _break(self):
        """What the processes will give is not known any more."""
        self.is_broken = True
        self.close()

    def _gone(self, number):
        process = self.processes[number]
        process.join(5)
        self._break()
        raise RuntimeError(
            f"DataLoader worker {number} (pid {process.pid}) exited unexpectedly with exit code {process.exitcode}. "
            "Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )

    def _bytes(self, number):
        """What a worker sends next, pickled."""
        connection = self.connections[number]
        # A worker that ends closes its side, which is as good as an answer.
        if not multiprocessing.connection.wait([connection, self.processes[number].sentinel], self.timeout):
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        try:
            if connection.poll():
                return connection.recv_bytes()
        except (EOFError, ConnectionError):
            pass
        except BaseException:  # interrupted, maybe in the middle of a message
            self._break()
            raise
        return self._gone(number)

    def _receive(self, number):
        """The next answer of this epoch; what an earlier one left is dropped."""
        while True:
            epoch, kind, value = pickle.loads(self._bytes(number))  # noqa: S301  of a process of this program
            if epoch == self.epoch:
                return kind, value

    def _first_ready(self):
        """A worker that waits to give an answer, or has ended."""
        sources = {}
        for number in self._waiting:
            sources.setdefault(self.connections[number], number)
            sources.setdefault(self.processes[number].sentinel, number)
        ready = multiprocessing.connection.wait(list(sources), self.timeout)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds")
        return sources[ready[0]]

    def begin(self, tasks, ahead, in_order):
        """From here on what these tasks load is given, with `ahead` of them at each worker: in their order, or as it is ready."""
        self.epoch += 1
        self._tasks, self._in_order, self._waiting, self._ended = tasks, in_order, collections.deque(), set()
        self._turns = itertools.cycle(range(len(self.processes)))
        for number in range(len(self.processes)):
            self._send(number, "begin")
        for _ in range(ahead * len(self.processes)):
            self._give_out()

    def _give_out(self):
        active = [number for number in range(len(self.processes)) if number not in self._ended]
        for chosen in itertools.islice(self._tasks, 1 if active else 0):
            number = (
                next(n for n in self._turns if n in active) if self._in_order else min(active, key=self._waiting.count)
            )
            self._send(number, "load", chosen)
            self._waiting.append(number)

    def next(self):
        """The next batch, or the error that there was instead of it. StopIteration after the last one."""
        if self.is_broken:
            raise RuntimeError(
                "DataLoader: the workers of this iterator have ended after an error; make a new one with iter()"
            )
        while self._waiting:
            number = self._waiting[0] if self._in_order else self._first_ready()
            kind, value = self._receive(number)
            self._waiting.remove(number)
            if kind == "end":
                self._ended.add(number)
            self._give_out()
            if kind == "batch":
                return value
            if kind == "error":
                _raise(*value)
        raise StopIteration
