"""GPUs: devices, streams, events and memory. Without CUDA in the build, or without a GPU, is_available() is False, questions about
memory and seeds answer for no device, and what needs a GPU raises RuntimeError.
"""

from tenon import _C
from tenon._C import device as _device

from . import amp as amp

_cuda = getattr(_C, "_cuda", None)


def _gpus():
    if device_count() == 0:
        raise RuntimeError(
            "this build of Tenon has no CUDA: build with the preset `cuda` (docs/building.md)"
            if _cuda is None
            else "Found no NVIDIA driver on your system, or no GPU that it serves."
        )
    return _cuda


def _index(device, optional=True):
    """The number of a device; -1, which is the current one, of None where that may be."""
    if device is None and optional:
        return -1
    if isinstance(device, int) and not isinstance(device, bool):
        return device
    named = _device(device)
    if named.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {device}")
    return -1 if named.index is None else named.index


# ---- devices ----


def is_available():
    """Whether there is a GPU that this build can use."""
    return device_count() > 0


def device_count():
    """How many GPUs there are."""
    return 0 if _cuda is None else _cuda.device_count()


def is_initialized():
    """Whether a GPU can be used already: nothing is to be prepared."""
    return is_available()


def init():
    """Nothing: GPUs need no preparation. RuntimeError where there is none."""
    _gpus()


def current_device():
    """The number of the GPU that this thread works on."""
    return _gpus().current_device()


def set_device(device):
    """Has this thread work on another GPU; a negative number changes nothing."""
    index = _index(device, optional=False)
    if index >= 0:
        _gpus().set_device(index)


def synchronize(device=None):
    """Waits for all work that the GPU has been given."""
    _gpus().synchronize(_index(device))


class device:
    """Within, the thread works on this GPU. None and negative numbers change nothing."""

    def __init__(self, device):
        self.idx = -1 if device is None else _index(device)

    def __enter__(self):
        self._before = -1
        if self.idx >= 0:
            self._before = current_device()
            set_device(self.idx)

    def __exit__(self, *exception):
        set_device(self._before)


class device_of(device):
    """Within, the thread works on the tensor's GPU; a tensor of another device changes nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class _Properties:
    """What a GPU is: name, major, minor, total_memory, multi_processor_count and others."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __repr__(self):
        return (
            f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
            f"total_memory={self.total_memory // 2**20}MB, multi_processor_count={self.multi_processor_count})"
        )


def get_device_properties(device=None):
    """What the GPU is: an object with `name`, `major`, `minor`, `total_memory`, `multi_processor_count`."""
    gpus, index = _gpus(), _index(device)
    return _Properties(gpus.properties(gpus.current_device() if index < 0 else index))


def get_device_name(device=None):
    """The name of the GPU."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The GPU's compute capability, as (8, 0)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def is_bf16_supported(including_emulation=True):
    """Whether there is a GPU that computes in bfloat16."""
    return is_available() and (including_emulation or get_device_capability()[0] >= 8)


# ---- memory: bytes ----


def memory_stats(device=None):
    """Counts by name, as "allocated_bytes.all.current"; nothing without a GPU."""
    return dict(_cuda.memory_stats(_index(device))) if is_available() else {}


def memory_allocated(device=None):
    """What tensors occupy."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device=None):
    """The most that tensors have occupied, since the start or reset_peak_memory_stats()."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device=None):
    """What tensors occupy and what is kept for the next ones."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device=None):
    """The most that memory_reserved() has been."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device=None):
    """Has max_memory_allocated() begin anew."""
    _gpus().reset_peak_memory_stats(_index(device))


def empty_cache():
    """Gives back to the driver what is kept for the next tensors."""
    if is_available():
        _cuda.empty_cache()


# ---- random numbers ----


def manual_seed(seed):
    """Seeds the current GPU's generator; without a GPU nothing."""
    if is_available():
        _cuda.default_generator(current_device()).manual_seed(int(seed))


def manual_seed_all(seed):
    """Seeds the generators of all GPUs; without a GPU nothing."""
    for index in range(device_count()):
        _cuda.default_generator(index).manual_seed(int(seed))


def get_rng_state(device="cuda"):
    """The state of a GPU's generator, as a tensor of bytes."""
    gpus, index = _gpus(), _index(device)
    return gpus.default_generator(gpus.current_device() if index < 0 else index).get_state()


def get_rng_state_all():
    """The states of all GPUs' generators."""
    return [get_rng_state(index) for index in range(device_count())]


def set_rng_state(new_state, device="cuda"):
    """Sets what get_rng_state() has given; without a GPU nothing."""
    if is_available():
        index = _index(device)
        _cuda.default_generator(current_device() if index < 0 else index).set_state(new_state)


def set_rng_state_all(new_states):
    """Sets what get_rng_state_all() has given."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


# ---- streams and events ----


class Stream:
    """A queue of work on a GPU, one of those kept for programs. priority: a negative one goes first."""

    def __init__(self, device=None, priority=0, *, _stream=None):
        self._stream = _gpus().stream_from_pool(priority < 0, _index(device)) if _stream is None else _stream

    device = property(lambda self: self._stream.device)
    cuda_stream = property(lambda self: self._stream.cuda_stream)

    def synchronize(self):
        """Waits until the work that was given so far is done."""
        self._stream.synchronize()

    def query(self):
        """Whether it is done."""
        return self._stream.query()

    def record_event(self, event=None):
        """Marks the place in the queue; gives the event."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """What is given from now on waits for the event."""
        event.wait(self)

    def wait_stream(self, stream):
        """What is given from now on waits for what the other stream was given so far."""
        self.wait_event(stream.record_event())

    def __eq__(self, other):
        return isinstance(other, Stream) and self._stream == other._stream

    def __hash__(self):
        return hash(self._stream)

    def __repr__(self):
        return f"<tenon.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


class Event:
    """A mark in a stream's queue. enable_timing: elapsed_time() may be asked."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False):
        if interprocess:
            raise RuntimeError("cuda.Event: events of several processes are not supported")
        self._event = _gpus().Event(bool(enable_timing))

    def record(self, stream=None):
        self._event.record((current_stream() if stream is None else stream)._stream)

    def wait(self, stream=None):
        self._event.wait((current_stream() if stream is None else stream)._stream)

    def query(self):
        return self._event.query()

    def synchronize(self):
        self._event.synchronize()

    def elapsed_time(self, end_event):
        """Milliseconds from this mark to the other."""
        return self._event.elapsed_time(end_event._event)


def current_stream(device=None):
    """The stream that this thread's operators use."""
    return Stream(_stream=_gpus().current_stream(_index(device)))


def default_stream(device=None):
    """The GPU's first stream."""
    return Stream(_stream=_gpus().default_stream(_index(device)))


def set_stream(stream):
    """Has this thread's operators use the stream; None changes nothing."""
    if stream is not None:
        _gpus().set_stream(stream._stream)


class StreamContext:
    """Within, this thread's operators use the stream. None changes nothing."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is not None:
            self._before = current_stream(self.stream.device)
            set_stream(self.stream)

    def __exit__(self, *exception):
        if self.stream is not None:
            set_stream(self._before)


def stream(stream):
    """StreamContext(stream)."""
    return StreamContext(stream)


def __getattr__(name):
    from tenon import _tensor_types

    found = _tensor_types.tensor_type(name, "cuda")
    if found is None:
        raise AttributeError(f"module 'tenon.cuda' has no attribute '{name}'")
    return found
