"""Groups and collectives."""

import atexit
import contextlib
import os
import pickle
import sys
import warnings

import tenon
from tenon import _distributed as _C
from tenon._distributed import DistBackendError, DistError, DistNetworkError, DistStoreError, ReduceOp, Work  # noqa: F401
from tenon.futures import Future, _Deferred

__all__ = [
    "Backend",
    "GroupMember",
    "P2POp",
    "ProcessGroupGloo",
    "all_gather",
    "all_gather_coalesced",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_backend",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_backend_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "is_ucc_available",
    "isend",
    "monitored_barrier",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
]


class GroupMember:
    """What new_group() gives to ranks that are not in the group."""

    NON_GROUP_MEMBER = object()


class _GroupNames(type):
    @property
    def WORLD(cls):
        return _default


class group(metaclass=_GroupNames):
    """group.WORLD: the default group; None before init_process_group()."""


class Backend(str):
    """A backend's name, in small letters."""

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    SINGLE = "single"
    backend_list = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, SINGLE]
    default_device_backend_map = {"cpu": GLOO}
    backend_capability = {GLOO: ["cpu"], SINGLE: ["cpu"]}

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, got {type(name).__name__}")
        return super().__new__(cls, name.lower())


_default = None
_groups = []  # all that are alive
_made = 0


def is_initialized():
    """Whether there is a default group."""
    return _default is not None


def is_backend_available(backend):
    """Whether there is one and, if it is in a library of its own as "mpi" is, that can be loaded."""
    return _C._is_backend_available(backend.lower())


def is_gloo_available():
    return is_backend_available("gloo")


def is_nccl_available():
    return is_backend_available("nccl")


def is_mpi_available():
    return is_backend_available("mpi")


def is_ucc_available():
    return is_backend_available("ucc")


def is_torchelastic_launched():
    """Whether `python -m tenon.distributed.run` or tenon-run has started this process."""
    return _C._is_launched()


def init_process_group(
    backend=None,
    init_method=None,
    timeout=None,
    world_size=-1,
    rank=-1,
    store=None,
    group_name="",
    pg_options=None,
    device_id=None,
    _ranks=None,
    enable_reconfigure=False,
):
    """Joins the run and makes the default group, of all ranks. Returns when all are there.

    backend: "gloo" where this build has it; "mpi" under mpirun, which then says who is who. init_method: env:// (the default but for
    "mpi"), tcp://HOST:PORT or file:///PATH; or a store, with rank and world_size. timeout: a timedelta, 30 minutes by default. An exception that ends the program is told to the other ranks, which fail with
    its text; a program that ends otherwise leaves the group.
    """
    global _default, _made
    if pg_options is not None or device_id is not None:
        raise ValueError("init_process_group: pg_options and device_id are for devices other than the CPU")
    if enable_reconfigure:
        raise NotImplementedError("init_process_group: enable_reconfigure")
    if store is not None and init_method is not None:
        raise ValueError("init_process_group: init_method and store exclude each other")
    if _default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    _default = _C._init(Backend(backend or ""), init_method or "", rank, world_size, store, timeout)
    _groups.append(_default)
    _made = 0
    _watch_the_end()


class _OfGloo(type):
    def __instancecheck__(cls, value):
        return isinstance(value, _C.ProcessGroup) and value.name() == "gloo"


class ProcessGroupGloo(metaclass=_OfGloo):
    """ProcessGroupGloo(store, rank, size, timeout=None): a group of all who use the store; without a default group, the default one.

    With a default group it has all of its ranks: NotImplementedError for others, which new_group() takes.
    """

    def __new__(cls, store, rank, size, timeout=None):
        if _default is None:
            init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=timeout)
            return _default
        if (rank, size) != (get_rank(), get_world_size()):
            raise NotImplementedError(
                f"ProcessGroupGloo: rank {rank} of {size} beside a default group where it is {get_rank()} of "
                f"{get_world_size()}; new_group() makes groups of some of its ranks"
            )
        return new_group(timeout=timeout, backend="gloo")


def destroy_process_group(group=None):
    """Leaves a group; without one, all."""
    global _default
    if not _is_member(group):
        return
    if _default is None:
        raise ValueError("destroy_process_group: there is no default process group")
    if group is not None and group not in _groups:
        raise ValueError("destroy_process_group: invalid process group")
    for one in reversed(_groups[:] if group is None or group is _default else [group]):
        _groups.remove(one)
        one._destroy()
    if not _groups or group is _default:
        _default = None


_watching = False


def _watch_the_end():
    """An exception that ends the program ends the groups with its text, and the end of the program leaves them."""
    global _watching
    if _watching:
        return
    _watching = True
    before = sys.excepthook

    def on_exception(kind, error, traceback):
        text = f"{kind.__name__}: {error}" if str(error) else kind.__name__
        for one in _groups:
            one.abort(text)
        if _groups and "TENON_RUN_ERROR_FILE" in os.environ:
            with open(os.environ["TENON_RUN_ERROR_FILE"], "w") as file:
                file.write(text)
        before(kind, error, traceback)

    sys.excepthook = on_exception
    atexit.register(lambda: destroy_process_group() if _default is not None else None)


def new_group(
    ranks=None,
    timeout=None,
    backend=None,
    pg_options=None,
    use_local_synchronization=False,
    group_desc=None,
    device_id=None,
    sort_ranks=True,
):
    """A group of some ranks, GroupMember.NON_GROUP_MEMBER on the others. All ranks of the run must call it, in the same order."""
    global _made
    if pg_options is not None or device_id is not None:
        raise ValueError("new_group: pg_options and device_id are for devices other than the CPU")
    if use_local_synchronization:
        raise NotImplementedError("new_group: use_local_synchronization; all ranks must call it")
    if not sort_ranks and ranks is not None and list(ranks) != sorted(ranks):
        raise NotImplementedError(f"new_group: sort_ranks=False of ranks that are not in order, got {list(ranks)}")
    everybody = get_process_group_ranks(None)
    _made += 1
    made = _C._new_group(
        list(everybody if ranks is None else ranks), timeout, Backend(backend or ""), group_desc or f"group {_made}"
    )
    if made is None:
        return GroupMember.NON_GROUP_MEMBER
    _groups.append(made)
    return made


def _is_member(group):
    return group is not GroupMember.NON_GROUP_MEMBER


def _resolved(group):
    if group is None:
        if _default is None:
            raise ValueError(
                "Default process group has not been initialized, please make sure to call init_process_group."
            )
        return _default
    if not isinstance(group, _C.ProcessGroup):
        raise TypeError(f"expected a ProcessGroup, got {type(group).__name__}")
    return group


def get_rank(group=None):
    """This process's rank in the group; -1 if it is no member."""
    return _resolved(group).rank() if _is_member(group) else -1


def get_world_size(group=None):
    return _resolved(group).size() if _is_member(group) else -1


def get_backend(group=None):
    if not _is_member(group):
        raise ValueError("Invalid process group specified")
    return Backend(_resolved(group).name())


def get_process_group_ranks(group):
    """The members, as ranks of the run."""
    return _resolved(group)._global_ranks()


def get_group_rank(group, global_rank):
    return _resolved(group)._group_rank(global_rank)


def get_global_rank(group, group_rank):
    ranks = get_process_group_ranks(group)
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_node_local_rank(fallback_rank=None):
    """The number of this process on its machine, from the launcher."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow `get_node_local_rank` to work"
    )


def _peer(group, rank, group_rank, what, default=None):
    """The rank of the run that either of the two arguments names."""
    if group_rank is not None:
        if rank is not None:
            raise ValueError(f"Can't specify both group_{what} and {what}")
        return get_global_rank(group, group_rank)
    if rank is None:
        if default is None:
            raise ValueError(f"Must specify {what} or group_{what}")
        return default
    return rank


def _collective(function, *args, group, async_op):
    """The Work if async_op, else None when it is done. Ranks outside of the group do nothing. A tuple is what _peer() takes."""
    if not _is_member(group):
        warnings.warn(
            f"Running {function.__name__.strip('_')} on global rank {get_rank()} which does not belong to the given group.",
            stacklevel=3,
        )
        return None
    args = (_peer(group, *arg) if isinstance(arg, tuple) else arg for arg in args)
    manager = _coalescing.get(id(_resolved(group)))
    work = function(*args, _resolved(group), async_op or manager is not None)
    if manager is not None:
        manager.append(work)
        return None
    return work if async_op else None


_coalescing = {}  # by the group's id: the manager in whose block its collectives are


class _CoalescingManager:
    """The Works of collectives that have begun together."""

    def __init__(self):
        self.works = []

    def append(self, work):
        self.works.append(work)

    def wait(self):
        for work in self.works:
            work.wait()
        self.works = []


@contextlib.contextmanager
def _coalescing_manager(group=None, device=None, async_ops=False):
    """Collectives of the group within it only begin; they are done at its end or, with async_ops, when wait() of what it gives returns."""
    if not _is_member(group):
        yield _CoalescingManager()
        return
    key = id(_resolved(group))
    if key in _coalescing:
        raise ValueError(
            "ProcessGroup has non-empty op list at the start of coalescing: managers of one group do not nest"
        )
    manager = _coalescing[key] = _CoalescingManager()
    try:
        yield manager
    finally:
        del _coalescing[key]
    if not async_ops:
        manager.wait()


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """The tensor of rank src goes to all."""
    return _collective(_C._broadcast, tensor, (src, group_src, "src"), group=group, async_op=async_op)


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """All get the reduction of all, in place."""
    return _collective(_C._all_reduce, tensor, op, group=group, async_op=async_op)


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    return _collective(_C._all_reduce_coalesced, list(tensors), op, group=group, async_op=async_op)


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """Rank dst gets the reduction of all."""
    return _collective(_C._reduce, tensor, (dst, group_dst, "dst"), op, group=group, async_op=async_op)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """tensor_list[r] gets the tensor of rank r."""
    return _collective(_C._all_gather, list(tensor_list), tensor, group=group, async_op=async_op)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """output_tensor, [size * n, ...] or [size, n, ...], gets the ranks' tensors one after another."""
    return _collective(_C._all_gather_into_tensor, output_tensor, input_tensor, group=group, async_op=async_op)


def all_gather_coalesced(output_tensor_lists, input_tensor_list, group=None, async_op=False):
    """output_tensor_lists[r][i] gets input_tensor_list[i] of rank r. With async_op something to wait() for."""
    for outputs in output_tensor_lists:
        if len(outputs) != len(input_tensor_list):
            raise ValueError(
                f"all_gather_coalesced: {len(input_tensor_list)} inputs, a rank's list has {len(outputs)} outputs"
            )
    with _coalescing_manager(group, async_ops=async_op) as manager:
        for i, tensor in enumerate(input_tensor_list):
            all_gather([outputs[i] for outputs in output_tensor_lists], tensor, group)
    return manager if async_op and _is_member(group) else None


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """gather_list[r] of rank dst, 0 by default, gets the tensor of rank r."""
    return _collective(
        _C._gather, tensor, list(gather_list or ()), (dst, group_dst, "dst", 0), group=group, async_op=async_op
    )


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Rank r gets scatter_list[r] of rank src, 0 by default."""
    return _collective(
        _C._scatter, tensor, list(scatter_list or ()), (src, group_src, "src", 0), group=group, async_op=async_op
    )


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Rank r gets the reduction of all ranks' input_list[r]."""
    return _collective(_C._reduce_scatter, output, list(input_list), op, group=group, async_op=async_op)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    return _collective(_C._reduce_scatter_tensor, output, input, op, group=group, async_op=async_op)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """output_tensor_list[r] gets rank r's input_tensor_list[own rank]."""
    return _collective(
        _C._all_to_all, list(output_tensor_list), list(input_tensor_list), group=group, async_op=async_op
    )


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """Rows of input, input_split_sizes[r] of them to rank r, or equal parts."""
    return _collective(
        _C._all_to_all_single,
        output,
        input,
        list(output_split_sizes or ()),
        list(input_split_sizes or ()),
        group=group,
        async_op=async_op,
    )


def barrier(group=None, async_op=False, device_ids=None, timeout=None):
    """Nobody returns before all have called it; with a timeout the error names all ranks that did not come."""
    if device_ids is not None:
        raise ValueError("barrier: device_ids are for devices other than the CPU")
    if timeout is not None and not async_op:
        return monitored_barrier(group, timeout)
    return _collective(_C._barrier, group=group, async_op=async_op)


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """A barrier with a timeout of its own: DistBackendError that names all ranks that did not come."""
    if not _is_member(group):
        return
    _C._monitored_barrier(_resolved(group), timeout)


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    if not _is_member(group):
        return None
    return _C._isend(tensor, _peer(group, dst, group_dst, "dst"), _resolved(group), tag)


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """Of any rank if neither src nor group_src is given."""
    if not _is_member(group):
        return None
    return _C._irecv(tensor, _peer(group, src, group_src, "src", -1), _resolved(group), tag)


def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Returns when the message is on its way: the other rank keeps it until it asks."""
    work = isend(tensor, dst, group, tag, group_dst)
    if work is not None:
        work.wait()


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Waits for a message of src, or of any rank: the rank that it came from; -1 if this one is not in the group."""
    work = irecv(tensor, src, group, tag, group_src)
    if work is None:
        return -1
    work.wait()
    return get_global_rank(group, work._source_rank())


class P2POp:
    """An isend or irecv to come, for batch_isend_irecv()."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0, group_peer=None):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``tenon.distributed.isend`` or ``tenon.distributed.irecv``."
            )
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.peer = _peer(group, peer, group_peer, "peer")


def batch_isend_irecv(p2p_op_list):
    """The Works of all of them."""
    if not p2p_op_list or not all(isinstance(op, P2POp) for op in p2p_op_list):
        raise ValueError("p2p_op_list must be a list of P2POp, and not empty")
    # Sends first: a message is kept until somebody asks for it.
    works = {
        i: op.op(op.tensor, op.peer, op.group, op.tag)
        for i, op in sorted(enumerate(p2p_op_list), key=lambda pair: pair[1].op is irecv)
    }
    return [works[i] for i in range(len(p2p_op_list))]


# ---- objects, through pickle: unpickling executes what the other rank says, which is trusted as the program itself is ----


def _refuse_weights_only(function, weights_only):
    if weights_only:
        raise NotImplementedError(f"{function}: weights_only; ranks trust each other")


def all_gather_object(object_list, obj, group=None, weights_only=False):
    """object_list[r] becomes the object of rank r."""
    _refuse_weights_only("all_gather_object", weights_only)
    if _is_member(group):
        object_list[:] = [pickle.loads(b) for b in _C._all_gather_object(pickle.dumps(obj), _resolved(group))]


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None, weights_only=False):
    _refuse_weights_only("gather_object", weights_only)
    if not _is_member(group):
        return
    dst = _peer(group, dst, group_dst, "dst", 0)
    gathered = _C._gather_object(pickle.dumps(obj), dst, _resolved(group))
    if gathered:
        if object_gather_list is None:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        object_gather_list[:] = [pickle.loads(b) for b in gathered]


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None, weights_only=False):
    """The list of rank src replaces the elements of the others' lists, which must have its length."""
    _refuse_weights_only("broadcast_object_list", weights_only)
    if not _is_member(group):
        return
    src = _peer(group, src, group_src, "src", 0)
    own = get_rank() == src
    pickled = _C._broadcast_object_list([pickle.dumps(o) if own else b"" for o in object_list], src, _resolved(group))
    if not own:
        object_list[:] = [pickle.loads(b) for b in pickled]


def scatter_object_list(
    scatter_object_output_list, scatter_object_input_list=None, src=None, group=None, group_src=None, weights_only=False
):
    """scatter_object_output_list[0] becomes element `rank` of the list of rank src."""
    _refuse_weights_only("scatter_object_list", weights_only)
    if not _is_member(group):
        return
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    src = _peer(group, src, group_src, "src", 0)
    given = [pickle.dumps(o) for o in scatter_object_input_list or ()] if get_rank() == src else []
    scatter_object_output_list[0] = pickle.loads(_C._scatter_object_list(given, src, _resolved(group)))


def _as_bytes(obj):
    return tenon.frombuffer(bytearray(pickle.dumps(obj)), dtype=tenon.uint8)


def send_object_list(
    object_list, dst=None, group=None, device=None, group_dst=None, use_batch=False, weights_only=False
):
    if not object_list:
        raise ValueError("send_object_list: expected at least one object")
    parts = [_as_bytes(o) for o in object_list]
    send(tenon.tensor([part.numel() for part in parts]), dst, group, group_dst=group_dst)
    send(tenon.cat(parts), dst, group, group_dst=group_dst)


def recv_object_list(
    object_list, src=None, group=None, device=None, group_src=None, use_batch=False, weights_only=False
):
    """Replaces the elements by those that the other rank sends: the rank that they came from."""
    _refuse_weights_only("recv_object_list", weights_only)
    sizes = tenon.zeros(len(object_list), dtype=tenon.int64)
    source = recv(sizes, src, group, group_src=group_src)
    if source < 0:
        return source
    data = tenon.zeros(int(sizes.sum()), dtype=tenon.uint8)
    recv(data, source, group)
    at = 0
    for i, size in enumerate(sizes.tolist()):
        object_list[i] = pickle.loads(bytes(data[at : at + size].tolist()))
        at += size
    return source


def _broadcast_coalesced(process_group, tensors, buffer_size=0, src=0):
    """All tensors of one rank to the others, the small ones joined to few messages."""
    _C._broadcast_coalesced(list(tensors), get_global_rank(process_group, src), process_group)


def _get_future(self):
    """A Future of the list of tensors that the collective writes. One of irecv is done when somebody has waited: that receives the message."""
    if self._is_receive:

        def receive():
            self.wait()
            return self.result()

        return _Deferred(receive)
    future = Future()

    def finished():
        error = self.exception()
        future.set_result(self.result()) if error is None else future.set_exception(error)

    self._then(finished)
    return future


Work.get_future = _get_future
