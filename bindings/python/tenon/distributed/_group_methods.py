"""Methods of process groups and their options, as torch.distributed's. Each gives the Work of a collective that has begun."""

from datetime import timedelta

from tenon.distributed import distributed_c10d as dist
from tenon.distributed.distributed_c10d import ReduceOp


class _Options:
    """What a method is told besides its tensors; each object has values of its own."""

    def __init__(self):
        self.reduceOp, self.rootRank, self.rootTensor = ReduceOp.SUM, 0, 0
        self.timeout, self.asyncOp = timedelta(minutes=30), True


AllreduceOptions, AllgatherOptions, AllToAllOptions, BarrierOptions, BroadcastOptions = (
    type(f"{name}Options", (_Options,), {}) for name in ("Allreduce", "Allgather", "AllToAll", "Barrier", "Broadcast")
)
GatherOptions, ReduceOptions, ReduceScatterOptions, ScatterOptions = (
    type(f"{name}Options", (_Options,), {}) for name in ("Gather", "Reduce", "ReduceScatter", "Scatter")
)


def _one(method, values):
    """The tensor, or list, of a list that holds one for each device: here there is one."""
    if not isinstance(values, (list, tuple)):
        return values
    if len(values) != 1:
        raise ValueError(f"ProcessGroup.{method}: expected one element, for the CPU, got {len(values)}")
    return values[0]


def _chosen(given, kind, field, default):
    return getattr(given, field) if isinstance(given, kind) else default if given is None else given


def allreduce(self, tensors, opts=None, timeout=None):
    op = _chosen(opts, AllreduceOptions, "reduceOp", ReduceOp.SUM)
    return dist.all_reduce(_one("allreduce", tensors), op, group=self, async_op=True)


def broadcast(self, tensors, root=None, timeout=None):
    source = _chosen(root, BroadcastOptions, "rootRank", 0)
    return dist.broadcast(_one("broadcast", tensors), group=self, async_op=True, group_src=source)


def reduce(self, tensors, root=None, op=ReduceOp.SUM, timeout=None):
    if isinstance(root, ReduceOptions):
        op = root.reduceOp
    target = _chosen(root, ReduceOptions, "rootRank", 0)
    return dist.reduce(_one("reduce", tensors), op=op, group=self, async_op=True, group_dst=target)


def allgather(self, output_tensors, input_tensors, opts=None):
    outputs = output_tensors[0] if isinstance(output_tensors[0], (list, tuple)) else output_tensors
    return dist.all_gather(list(outputs), _one("allgather", input_tensors), group=self, async_op=True)


def gather(self, output_tensors, input_tensors, root=None, timeout=None):
    outputs = output_tensors[0] if output_tensors and isinstance(output_tensors[0], (list, tuple)) else output_tensors
    target = _chosen(root, GatherOptions, "rootRank", 0)
    outputs = list(outputs) if self.rank() == target else None
    return dist.gather(_one("gather", input_tensors), outputs, group=self, async_op=True, group_dst=target)


def scatter(self, output_tensors, input_tensors, root=None, timeout=None):
    inputs = input_tensors[0] if input_tensors and isinstance(input_tensors[0], (list, tuple)) else input_tensors
    source = _chosen(root, ScatterOptions, "rootRank", 0)
    inputs = list(inputs) if self.rank() == source else None
    return dist.scatter(_one("scatter", output_tensors), inputs, group=self, async_op=True, group_src=source)


def reduce_scatter(self, output_tensors, input_tensors, opts=None):
    inputs = input_tensors[0] if isinstance(input_tensors[0], (list, tuple)) else input_tensors
    op = _chosen(opts, ReduceScatterOptions, "reduceOp", ReduceOp.SUM)
    return dist.reduce_scatter(_one("reduce_scatter", output_tensors), list(inputs), op, group=self, async_op=True)


def alltoall(self, output_tensors, input_tensors, opts=None):
    return dist.all_to_all(list(output_tensors), list(input_tensors), group=self, async_op=True)


def barrier(self, opts=None, timeout=None):
    return dist.barrier(group=self, async_op=True)


def send(self, tensors, dst_rank, tag=0):
    return dist.isend(_one("send", tensors), group=self, tag=tag, group_dst=dst_rank)


def recv(self, tensors, src_rank, tag=0):
    return dist.irecv(_one("recv", tensors), group=self, tag=tag, group_src=src_rank)


def install(process_group):
    for method in (
        allreduce,
        broadcast,
        reduce,
        allgather,
        gather,
        scatter,
        reduce_scatter,
        alltoall,
        barrier,
        send,
        recv,
    ):
        setattr(process_group, method.__name__, method)
