"""Which operators a program runs, how long they take, and with how much memory.

Example:

    with tenon.profiler.profile(record_shapes=True) as prof:
        model(x).sum().backward()
    print(prof.key_averages().table(sort_by="cpu_time_total", row_limit=10))
    prof.export_chrome_trace("trace.json")
"""

import enum

from tenon import _C
from tenon.autograd.grad_mode import _Mode

__all__ = [
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

_SORT = {"self_cpu_time_total": 0, "cpu_time_total": 1, "count": 2, "cpu_memory_usage": 3}


class _Averages(list):
    """Events of one name, or of one name and shapes, together."""

    def __init__(self, profile, by_shapes):
        super().__init__(profile.averages(by_shapes))
        self._profile, self._by_shapes = profile, by_shapes

    def table(
        self, sort_by=None, row_limit=100, max_src_column_width=75, max_name_column_width=55, max_shapes_column_width=80,
        header=None, top_level_events_only=False,
    ):  # fmt: skip
        """As text; sort_by: self_cpu_time_total (or None), cpu_time_total, count, cpu_memory_usage. header: a line before it.
        Columns are as wide as their texts."""
        _refuse("table", top_level_events_only=top_level_events_only)
        if sort_by not in _SORT and sort_by is not None:
            raise ValueError(f"sort_by must be one of {', '.join(_SORT)}, got {sort_by!r}")
        rows = row_limit if row_limit >= 0 else 2**63
        text = self._profile.table(_SORT.get(sort_by, 0), rows, self._by_shapes)
        return text if header is None else f"{header}\n{text}"


class ProfilerActivity(enum.Enum):
    """What can be profiled: operators as the CPU runs or starts them, and the work of GPUs."""

    CPU = 0
    XPU = 1
    MTIA = 2
    CUDA = 3


class ProfilerAction(enum.Enum):
    """What a step is for: see schedule()."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3


def supported_activities():
    """What profile() records: operators, on the CPU's clock."""
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from the number of a step to its ProfilerAction: after skip_first steps cycles of `wait`, `warmup` and `active` ones,
    `repeat` of them, or without end. With skip_first_wait the first cycle does not wait."""

    def action_of(step):
        if step < 0:
            raise AssertionError(f"a step's number is 0 or more, got {step}")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat > 0 and step // length >= repeat:
            return ProfilerAction.NONE
        place = step % length
        if place < wait:
            return ProfilerAction.NONE
        if place < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action_of


def _refuse(function, **options):
    """NotImplementedError for options that are given."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"{function}: {name}")


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False, use_python_export=False):
    """A function for on_trace_ready: it writes a trace into the folder, under a name of its own. use_python_export: any."""
    _refuse("tensorboard_trace_handler", use_gzip=use_gzip)

    def write(profiled):
        import os
        import socket
        import time

        os.makedirs(dir_name, exist_ok=True)
        name = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        profiled.export_chrome_trace(os.path.join(dir_name, f"{name}.{time.time_ns()}.pt.trace.json"))

    return write


class profile:
    """Profiles this thread from __enter__ or start() to __exit__ or stop().

    activities: those of supported_activities() are recorded.
    schedule: a function from the number of a step to its ProfilerAction; step() ends a step. What is recorded begins anew with each
        cycle; without a schedule it is everything.
    on_trace_ready: called with the profile when a cycle, or everything, is recorded.
    """

    def __init__(
        self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False, profile_memory=False, with_stack=False,
        with_flops=False, with_modules=False, experimental_config=None, execution_trace_observer=None, acc_events=False,
        custom_trace_id_callback=None, post_processing_timeout_s=None,
    ):  # fmt: skip
        _refuse(
            "profile", with_stack=with_stack, with_modules=with_modules, experimental_config=experimental_config,
            execution_trace_observer=execution_trace_observer, acc_events=acc_events,
            custom_trace_id_callback=custom_trace_id_callback, post_processing_timeout_s=post_processing_timeout_s,
        )  # fmt: skip
        chosen = supported_activities() if activities is None else set(activities)
        if not chosen:
            raise AssertionError("No valid profiler activities found")
        self.activities, self.schedule, self.on_trace_ready = chosen, schedule, on_trace_ready
        self._options = (record_shapes, profile_memory, with_flops)
        self._profile, self._is_running, self.step_num = None, False, 0
        self.current_action = ProfilerAction.RECORD_AND_SAVE if schedule is None else schedule(0)

    def _begin(self):
        if not self._is_running:
            self._profile, self._is_running = _C._Profile(*self._options), True

    def _end(self):
        if self._is_running:
            self._profile.stop()
            self._is_running = False
            if self.on_trace_ready is not None:
                self.on_trace_ready(self)

    def _records(self):
        return self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def start(self):
        if self._records():
            self._begin()

    def stop(self):
        self._end()

    def step(self):
        """Ends a step: by the schedule, what follows is recorded or not."""
        if self.schedule is None:
            return
        if self.current_action == ProfilerAction.RECORD_AND_SAVE:
            self._end()
        self.step_num += 1
        self.current_action = self.schedule(self.step_num)
        self.start()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exception):
        self.stop()

    def _recorded(self):
        if self._profile is None:
            raise RuntimeError("profile: nothing was recorded; use it in a `with` statement")
        return self._profile

    def events(self):
        return self._recorded().events()

    def key_averages(
        self,
        group_by_input_shape=False,
        group_by_stack_n=0,
        group_by_overload_name=False,
        include_python_functions=False,
    ):
        """Events of one name together; with group_by_input_shape of one name and shapes."""
        _refuse(
            "key_averages", group_by_stack_n=group_by_stack_n, group_by_overload_name=group_by_overload_name,
            include_python_functions=include_python_functions,
        )  # fmt: skip
        return _Averages(self._recorded(), group_by_input_shape)

    def export_chrome_trace(
        self, path, use_python_export=False, cuda_graph_annotations=None, graph_lanes="none", default_stream=7
    ):
        """Writes a trace for chrome://tracing. use_python_export: any. There are no graphs of GPUs, which the last three are about."""
        _refuse("export_chrome_trace", cuda_graph_annotations=cuda_graph_annotations)
        self._recorded().export_chrome_trace(str(path))

    def export_svg(self, path):
        """A picture for a browser: events along the time, those within others beneath them, and the memory."""
        self._recorded().export_svg(str(path))


class record_function(_Mode):
    """A named range of the program: a context manager and decorator. args: a text that the program may read."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args
        self._ranges = []

    def __enter__(self):
        self._ranges.append(_C._record_function(self.name))
        return self

    def __exit__(self, *exception):
        self._ranges.pop()

    def clone(self):
        return self.__class__(self.name, self.args)
