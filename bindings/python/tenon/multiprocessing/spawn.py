"""A function in several processes. If one fails, the others are stopped and its error is raised here."""

import multiprocessing
import multiprocessing.connection
import pickle
import signal
import sys
import traceback
import warnings


class ProcessException(Exception):
    """A process failed. error_index: which; pid: its number."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process ended with an exception, whose text this one has."""

    def __init__(self, msg, error_index, error_pid):
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended by a signal or an exit code."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self):
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(function, index, args, errors):
    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass  # the one who waits has it as well
    except Exception:
        errors.send_bytes(pickle.dumps(traceback.format_exc()))
        sys.exit(1)


class ProcessContext:
    """Processes that run; join() waits for them."""

    def __init__(self, processes, error_files):
        self.processes, self.error_files = processes, error_files
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self):
        """Their numbers."""
        return [int(process.pid) for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits until one has ended, at most `timeout` seconds; True if all have. ProcessException if one failed: the others are stopped,
        and after grace_period seconds killed."""
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(self.sentinels, timeout=timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(30 if grace_period is None else grace_period)
            if process.is_alive():
                process.kill()
                process.join()
        self._raise(failed)

    def _raise(self, index):
        process, errors = self.processes[index], self.error_files[index]
        try:
            text = pickle.loads(errors.recv_bytes()) if errors.poll() else None  # noqa: S301  of a process of this program
        except EOFError:
            text = None
        if text is not None:
            start = f"\n\n-- Process {index} terminated with the following error:\n"
            raise ProcessRaisedException(start + text, index, process.pid)
        code = process.exitcode
        if code < 0:
            name = signal.Signals(-code).name
            raise ProcessExitedException(
                f"process {index} terminated with signal {name}", index, process.pid, code, name
            )
        raise ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)


class SpawnContext(ProcessContext):
    """The same, of spawn()."""


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Runs fn(i, *args) in process i of nprocs, which Python's `start_method` makes. Gives a ProcessContext unless it joins."""
    context = multiprocessing.get_context(start_method)
    processes, errors = [], []
    for index in range(nprocs):
        mine, theirs = context.Pipe(duplex=False)
        process = context.Process(target=_run, args=(fn, index, args, theirs), daemon=daemon)
        process.start()
        theirs.close()
        processes.append(process)
        errors.append(mine)
    started = (SpawnContext if start_method == "spawn" else ProcessContext)(processes, errors)
    if not join:
        return started
    while not started.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """start_processes() with Python's start method `spawn`."""
    if start_method != "spawn":
        warnings.warn(
            f"This method only supports start_method=spawn (got: {start_method}).\nTo use a different start_method use:\n\t\t"
            " torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, "spawn")
