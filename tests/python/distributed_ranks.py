"""What the ranks of test_distributed.py run: distributed_ranks.py LIBRARY CASE FOLDER. Each writes what the case returns, as JSON.

The cases named in BOTH are the same program for Tenon and for PyTorch.
"""

import datetime
import importlib
import json
import os
import pathlib
import signal
import sys
import threading
import time

BOTH, CASES = [], {}
lib = dist = rank = size = folder = None


def both(case):
    BOTH.append(case.__name__)
    CASES[case.__name__] = case
    return case


def case(function):
    CASES[function.__name__] = function
    return function


def numbers(*shape, seed=0):
    """The same on every rank and in both libraries."""
    count = 1
    for n in shape:
        count *= n
    state, values = 12345 + 7919 * seed, []
    for _ in range(count):
        state = (state * 1103515245 + 12345) % 2**31
        values.append(state / 2**31 - 0.5)
    return lib.tensor(values, dtype=lib.float64).reshape(shape)


def raised(f, *args, **kwargs):
    try:
        f(*args, **kwargs)
    except Exception as error:  # noqa: BLE001
        return [type(error).__name__, str(error)]
    return None


@both
def meshes():
    mesh_of = importlib.import_module(f"{lib.__name__}.distributed.device_mesh")
    line = mesh_of.init_device_mesh("cpu", (size,), mesh_dim_names=("dp",))
    out = [
        [repr(line), line.ndim, list(line.shape), line.size(), line.size(0), line.get_local_rank("dp")],
        [line.get_group() is dist.group.WORLD, line.get_coordinate()[0], line.mesh.tolist()],
    ]
    column = mesh_of.init_device_mesh("cpu", (size, 1), mesh_dim_names=("a", "b"))
    t = lib.ones(2) * (rank + 1)
    dist.all_reduce(t, group=column.get_group("a"))
    part = column["b"]
    out.append([t.tolist(), list(column.get_coordinate()), part.mesh.tolist(), part.get_local_rank()])
    out.append(dist.get_process_group_ranks(column.get_group(1)))
    for wrong in (
        lambda: column.get_group(),
        lambda: column["c"],
        lambda: mesh_of.init_device_mesh("cpu", (size,), mesh_dim_names=("a", "b")),
        lambda: mesh_of.init_device_mesh("cpu", (size * 2,)),
    ):
        error = raised(wrong)
        out.append([error[0], error[1].splitlines()[0]])
    return out


@both
def methods_of_groups():
    group, out = dist.distributed_c10d._get_default_group() if lib.__name__ == "torch" else dist.group.WORLD, []
    t = numbers(3, seed=rank)
    group.allreduce([t]).wait()
    out.append(t.tolist())
    options = dist.AllreduceOptions()
    options.reduceOp = dist.ReduceOp.MAX
    t = numbers(3, seed=rank)
    group.allreduce([t], options).wait()
    out.append(t.tolist())
    t = numbers(3, seed=rank)
    group.broadcast(t, 1).wait()
    out.append(t.tolist())
    parts = [lib.zeros(3, dtype=lib.float64) for _ in range(size)]
    group.allgather([parts], [numbers(3, seed=rank)]).wait()
    out.append([p.tolist() for p in parts])
    if rank == 0:
        group.send([numbers(2, seed=5)], 1, 0).wait()
    elif rank == 1:
        t = lib.zeros(2, dtype=lib.float64)
        group.recv([t], 0, 0).wait()
        out.append(t.tolist())
    group.barrier().wait()
    store, one, all_ = next(dist.rendezvous(f"file://{folder}/rendezvous_{lib.__name__}?rank={rank}&world_size={size}"))
    own = dist.ProcessGroupGloo(store, one, all_, datetime.timedelta(seconds=60))
    t = numbers(3, seed=rank)
    own.allreduce([t]).wait()
    out.append([t.tolist(), own.rank(), own.size(), isinstance(own, dist.ProcessGroupGloo)])
    return out


@both
def collectives():
    out = {}
    for op in ("SUM", "PRODUCT", "MIN", "MAX"):
        t = numbers(3, 2, seed=rank)
        assert dist.all_reduce(t, op=getattr(dist.ReduceOp, op)) is None
        out[op] = t.tolist()
    t = lib.tensor([5 + rank, 6])
    dist.all_reduce(t, dist.ReduceOp.BXOR)
    out["BXOR"] = t.tolist()
    t = lib.full((2,), float(rank))
    dist.broadcast(t, src=1)
    out["broadcast"] = t.tolist()
    t = lib.full((2,), float(rank + 1))
    dist.reduce(t, dst=0)
    out["reduce"] = t.tolist() if rank == 0 else None
    parts = [lib.zeros(2) for _ in range(size)]
    dist.all_gather(parts, lib.full((2,), float(rank)))
    out["all_gather"] = [p.tolist() for p in parts]
    whole = lib.zeros(size * 2)
    dist.all_gather_into_tensor(whole, lib.full((2,), float(rank)))
    out["all_gather_into_tensor"] = whole.tolist()
    parts = [lib.zeros(2) for _ in range(size)] if rank == 0 else None
    dist.gather(lib.full((2,), float(rank + 3)), parts, dst=0)
    out["gather"] = [p.tolist() for p in parts or []]
    t = lib.zeros(2)
    dist.scatter(t, [lib.full((2,), float(i)) for i in range(size)] if rank == 1 else None, src=1)
    out["scatter"] = t.tolist()
    t = lib.zeros(2)
    dist.all_to_all_single(t, lib.arange(2.0) + 10 * rank)
    out["all_to_all_single"] = t.tolist()
    t = lib.zeros(3) if rank == 0 else lib.zeros(1)
    dist.all_to_all_single(
        t, lib.arange(2.0) + 10 * rank, [1, 2] if rank == 0 else [1, 0], [1, 1] if rank == 0 else [2, 0]
    )
    out["all_to_all_single with sizes"] = t.tolist()
    if rank == 0:
        dist.send(lib.tensor([1.5, 2.5]), dst=1, tag=3)
        out["recv"] = None
    else:
        t = lib.zeros(2)
        source = dist.recv(t, src=0, tag=3)
        out["recv"] = [source, t.tolist()]
    works = [dist.all_reduce(numbers(4, seed=i + rank), async_op=True) for i in range(3)]
    for work in reversed(works):
        work.wait()
    t = numbers(4, seed=rank)
    work = dist.all_reduce(t, async_op=True)
    assert work.wait() is True or lib.__name__ == "torch"
    out["async"] = [t.tolist(), work.is_completed()]
    future = dist.all_reduce(lib.ones(2), async_op=True).get_future().then(lambda f: f.value()[0] * 2)
    out["future"] = future.wait().tolist()
    received = dist.irecv(lib.zeros(2), src=1 - rank) if lib.__name__ == "tenon" else None
    if received is not None:
        # A message is received by who waits, for whatever follows from it.
        future = received.get_future().then(lambda f: f.value()[0] + 1)
        dist.send(lib.full((2,), rank + 0.5), dst=1 - rank)
        assert not future.done() and future.wait().tolist() == [2.5 - rank] * 2 and received.is_completed()
    if lib.__name__ == "tenon":
        lists = [[lib.zeros(2), lib.zeros(1)] for _ in range(size)]
        dist.all_gather_coalesced(lists, [lib.full((2,), float(rank)), lib.full((1,), rank + 5.0)])
        assert [[t.tolist() for t in tensors] for tensors in lists] == [[[0, 0], [5]], [[1, 1], [6]]]
        tensors = [lib.full((2,), float(rank + i)) for i in range(3)]
        with dist.distributed_c10d._coalescing_manager(async_ops=True) as manager:
            assert [dist.all_reduce(t) for t in tensors] == [None] * 3
        manager.wait()
        work = dist.all_reduce_coalesced(tensors, async_op=True)
        work.wait()
        assert [t.tolist() for t in tensors] == [[2 * (1 + 2 * i)] * 2 for i in range(3)]
        tensors = [lib.full((2,), float(rank)), lib.full((), rank + 3)]
        dist._broadcast_coalesced(dist.group.WORLD, tensors, src=1)
        assert [t.tolist() for t in tensors] == [[1, 1], 4]
    dist.barrier()
    dist.monitored_barrier(timeout=datetime.timedelta(seconds=100))
    return out


@both
def objects():
    everything = [None] * size
    dist.all_gather_object(everything, {"rank": rank, "long": "x" * (70000 * rank)})
    gathered = [None] * size if rank == 1 else None
    dist.gather_object(("from", rank), gathered, dst=1)
    replaced = [1, "two", [3.0]] if rank == 0 else [None] * 3
    dist.broadcast_object_list(replaced, src=0)
    mine = [None]
    dist.scatter_object_list(mine, [{"for": i} for i in range(size)] if rank == 0 else None, src=0)
    if rank == 0:
        dist.send_object_list([1, {"a": 2}], dst=1)
        sent = None
    else:
        sent = [None, None]
        dist.recv_object_list(sent, src=0)
    return [[[e["rank"], len(e["long"])] for e in everything], gathered, replaced, mine, sent]


@both
def groups():
    out = [dist.is_initialized(), dist.get_rank(), dist.get_world_size(), dist.get_backend(), dist.is_available()]
    alone = dist.new_group([1])
    t = lib.ones(1) * (rank + 1)
    if rank == 1:
        dist.all_reduce(t, group=alone)
        out += [dist.get_process_group_ranks(alone), dist.get_global_rank(alone, 0), dist.get_group_rank(alone, 1)]
    out += [dist.get_rank(alone), dist.get_world_size(alone), t.tolist()]
    everybody = dist.new_group()
    dist.broadcast(t, group_src=1, group=everybody)
    out += [t.tolist(), dist.get_world_size(everybody), dist.get_world_size(dist.group.WORLD)]
    if rank == 1:
        dist.destroy_process_group(alone)
    return out


@both
def training():
    """SGD of two ranks, with uneven buckets and accumulation; batch norm's buffers are rank 0's."""
    out = {}
    for options in (
        {},
        {"bucket_cap_mb": 0.0001, "gradient_as_bucket_view": True},
        {"find_unused_parameters": True},
        {"static_graph": True},
    ):
        model = lib.nn.Sequential(
            lib.nn.Linear(3, 5), lib.nn.BatchNorm1d(5), lib.nn.Tanh(), lib.nn.Linear(5, 2)
        ).double()
        with lib.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(numbers(*p.shape, seed=i + 50 * rank))  # rank 0's count
        ddp = lib.nn.parallel.DistributedDataParallel(model, **options)
        optimizer = lib.optim.SGD(ddp.parameters(), lr=0.1)
        for step in range(4):
            optimizer.zero_grad()
            if step == 2 and "static_graph" not in options:
                with ddp.no_sync():
                    ddp(numbers(4, 3, seed=200 + rank)).pow(2).sum().backward()
            ddp(numbers(4, 3, seed=100 + 10 * step + rank)).pow(2).mean().backward()
            optimizer.step()
        out[str(options)] = [v.tolist() for v in ddp.state_dict().values()] if rank == 0 else None
        everything = [None] * size
        dist.all_gather_object(everything, [p.tolist() for p in model.parameters()])
        assert everything[0] == everything[1]
    out["keys"] = list(ddp.state_dict())
    return out


@both
def passes():
    """Backward passes other than one for each forward call; expected is what one process has of all ranks' inputs."""

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c = (lib.nn.Linear(3, 3, bias=False) for _ in range(3))
            with lib.no_grad():
                for i, p in enumerate(self.parameters()):
                    p.copy_(numbers(3, 3, seed=i))

        def forward(self, x, branch="a"):
            return lib.tanh(self.c(lib.tanh((self.a if branch == "a" else self.b)(x))))

    def inputs(r, seed=0):
        return numbers(4, 3, seed=10 * seed + r).float().requires_grad_()

    def gradient(model, x, create_graph=False):
        return lib.autograd.grad(model(x).sum(), x, create_graph=create_graph)[0]

    def adversarial(model, r):
        x = inputs(r)
        return model((x + 0.5 * gradient(model, x).sign()).detach()).sum()

    def penalty_and_loss(model, r):
        x = inputs(r)
        return model(x).sum() + (gradient(model, x, True) ** 2).sum()

    def penalty(model, r):
        return (gradient(model, inputs(r), True) ** 2).sum()

    def twice(model, r):
        return (model(inputs(r)) * model(inputs(r, 1))).sum()

    def branches(model, r):
        return (model(inputs(r)) * model(inputs(r, 1), "b")).sum()

    def without_sync(model, r):
        model.together(lambda: model(inputs(r), "a").sum().backward())
        return model(inputs(r, 1), "b").sum()

    def without_sync_on_one(model, r):
        model.together(lambda: model(inputs(r), "ab"[r]).sum().backward())
        return model(inputs(r, 1), "b").sum()

    def compared(loss, branch_b=True, **options):
        net, alone = Net(), Net()
        if not branch_b:
            net.b = alone.b = None
        ddp = lib.nn.parallel.DistributedDataParallel(net, **options)

        def without(f):
            with ddp.no_sync():
                f()

        ddp.together, alone.together = without, lambda f: f()
        for _ in range(2):
            ddp.zero_grad()
            alone.zero_grad()
            loss(ddp, rank).backward()
            for r in range(size):
                loss(alone, r).backward()
        for (name, p), q in zip(net.named_parameters(), alone.parameters()):
            assert (p.grad is None) == (q.grad is None), (loss.__name__, name)
            assert q.grad is None or (p.grad - q.grad / size).abs().max().item() < 1e-5, (loss.__name__, options, name)
        return [p.grad is not None and p.grad.tolist() for p in net.parameters()]

    out = [
        compared(loss, False, **options)
        for loss in (adversarial, penalty_and_loss, penalty, twice)
        for options in ({}, {"gradient_as_bucket_view": True})
    ]
    # PyTorch's static_graph takes no grad() into account.
    out += [
        compared(twice, False, static_graph=True),
        compared(adversarial, find_unused_parameters=True),
        compared(branches),
    ]
    return out + [compared(loss, find_unused_parameters=True) for loss in (without_sync, without_sync_on_one)]


@case
def unused_outputs():
    """Parameters of an output that is not used: no gradients with find_unused_parameters, else an error that names them."""

    class Net(lib.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = lib.nn.Linear(2, 2), lib.nn.Linear(2, 2)

        def forward(self, x):
            return self.a(x), self.b(x)

    out = []
    for static in (False, True):
        ddp = lib.nn.parallel.DistributedDataParallel(Net(), find_unused_parameters=True, static_graph=static)
        for _ in range(2):
            ddp(lib.ones(1, 2))[0].sum().backward()
            out.append([p.grad is None for p in ddp.parameters()])
        ddp = lib.nn.parallel.DistributedDataParallel(Net(), static_graph=static)
        out.append(raised(lambda: ddp(lib.ones(1, 2))[0].sum().backward()))  # noqa: B023
    return out


@both
def joining():
    model = lib.nn.Linear(3, 2).double()
    with lib.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_(numbers(*p.shape, seed=i))
    ddp = lib.nn.parallel.DistributedDataParallel(model)
    optimizer = lib.optim.SGD(ddp.parameters(), lr=0.1)
    with ddp.join():
        for step in range(2 + 2 * rank):
            optimizer.zero_grad()
            ddp(numbers(4, 3, seed=10 * step + rank)).pow(2).mean().backward()
            optimizer.step()
    return [p.tolist() for p in model.parameters()]


@both
def join_context():
    """A model and an object of one's own in one loop, of 2 and of 4 iterations."""
    join = importlib.import_module(f"{lib.__name__}.distributed.algorithms.join")

    class Counter(join.Joinable):
        def __init__(self):
            super().__init__()
            self.seen = []

        def __call__(self):
            join.Join.notify_join_context(self)
            t = lib.ones(1)
            dist.all_reduce(t)
            self.seen.append(t.item())

        def join_hook(self, **kwargs):
            assert kwargs == {"divide_by_initial_world_size": False}
            counter = self

            class Hook(join.JoinHook):
                def main_hook(self):
                    t = lib.zeros(1)
                    dist.all_reduce(t)
                    counter.seen.append(-t.item())

                def post_hook(self, is_last_joiner):
                    counter.seen.append(is_last_joiner)

            return Hook()

        @property
        def join_device(self):
            return lib.device("cpu")

        @property
        def join_process_group(self):
            return dist.group.WORLD

    def run(**options):
        model = lib.nn.Linear(3, 2).double()
        with lib.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(numbers(*p.shape, seed=i))
        ddp, counter = lib.nn.parallel.DistributedDataParallel(model), Counter()
        optimizer = lib.optim.SGD(ddp.parameters(), lr=0.1)
        with join.Join([ddp, counter], divide_by_initial_world_size=False, **options):
            for step in range(2 + 2 * rank):
                optimizer.zero_grad()
                ddp(numbers(4, 3, seed=10 * step + rank)).pow(2).mean().backward()
                counter()
                optimizer.step()
        return [[p.tolist() for p in model.parameters()], counter.seen]

    error = raised(run, throw_on_early_termination=True)
    assert "exhausted" in error[1]
    return [run(), error[0], raised(join.Join, [])[0]]


@both
def hooks():
    out = []
    default_hooks = importlib.import_module(f"{lib.__name__}.distributed.algorithms.ddp_comm_hooks.default_hooks")

    def own(state, bucket):
        state.append(bucket.index())
        assert len(bucket.gradients()) == len(bucket.parameters()) and bucket.is_last()
        work = dist.all_reduce(bucket.buffer(), async_op=True)
        return work.get_future().then(lambda future: future.value()[0] / (2 * size))

    def wrapped(state, bucket):
        return default_hooks.allreduce_hook(None, bucket).then(lambda future: future.value() * 3)

    seen = []
    for state, hook in (
        (None, default_hooks.allreduce_hook),
        (None, default_hooks.fp16_compress_hook),
        (None, default_hooks.bf16_compress_hook),
        (seen, own),
        (None, wrapped),
        (None, default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)),
        (None, default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook)),
    ):
        model = lib.nn.Linear(3, 2)
        with lib.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(numbers(*p.shape, seed=i))
        ddp = lib.nn.parallel.DistributedDataParallel(model)
        ddp.register_comm_hook(state, hook)
        ddp(numbers(4, 3, seed=rank).float()).pow(2).mean().backward()
        out.append([p.grad.tolist() for p in model.parameters()])
        assert raised(ddp.register_comm_hook, state, hook)
    return [out, seen]


@both
def power_sgd():
    """One example on each of two ranks: the mean gradient has rank 2, which is sent whole."""
    module = importlib.import_module(f"{lib.__name__}.distributed.algorithms.ddp_comm_hooks.powerSGD_hook")
    default_hooks = importlib.import_module(f"{lib.__name__}.distributed.algorithms.ddp_comm_hooks.default_hooks")
    out = []
    for wrap in (lambda hook: hook, default_hooks.fp16_compress_wrapper):
        model = lib.nn.Linear(8, 6).double()
        with lib.no_grad():
            for i, p in enumerate(model.parameters()):
                p.copy_(numbers(*p.shape, seed=i))
        ddp = lib.nn.parallel.DistributedDataParallel(model)
        state = module.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2, min_compression_rate=1)
        ddp.register_comm_hook(state, wrap(module.powerSGD_hook))
        for step in range(4):
            ddp.zero_grad()
            ddp(numbers(1, 8, seed=10 * step + rank)).pow(2).sum().backward()
            grads = [p.grad.tolist() for p in model.parameters()]
            if len(out) < 4:
                out.append(grads)
            else:  # through half precision
                assert all(abs(a - b) < 0.02 for one, other in zip(out[step][0], grads[0]) for a, b in zip(one, other))
        assert state.iter == 4
        assert state.compression_stats()[1:] == (108, 68) or lib.__name__ == "torch", state.compression_stats()
    return out


@case
def work_and_errors():
    names = lambda error: [k.__name__ for k in error.__mro__]  # noqa: E731
    out = {"classes": [names(k) for k in (dist.DistBackendError, dist.DistStoreError, dist.DistNetworkError)]}
    # The ranks call different things: both are told, and the group goes on.
    try:
        dist.all_reduce(lib.ones(2)) if rank == 0 else dist.broadcast(lib.ones(3), src=0)
    except dist.DistBackendError as error:
        out["mismatch"] = str(error)
    work = dist.all_reduce(lib.ones(2 + rank), async_op=True)
    out["async error"] = raised(work.wait)
    error = work.exception()
    out["exception"] = [type(error).__name__, str(error)]
    out["success"] = work.is_success()
    out["dtype"] = raised(dist.all_reduce, lib.ones(2, dtype=lib.complex64), dist.ReduceOp.MAX)
    out["barrier"] = None
    if rank == 0:
        out["barrier"] = raised(dist.monitored_barrier, timeout=datetime.timedelta(milliseconds=200))
    return out


@case
def differing_models():
    model = lib.nn.Linear(3, 2 + rank)
    return raised(lib.nn.parallel.DistributedDataParallel, model)


@case
def temporaries():
    """The graph keeps what it needs of a DDP object that is gone; unused parameters are an error at the end of the same pass."""
    model = lib.nn.Linear(3, 2)
    lib.nn.parallel.DistributedDataParallel(model)(lib.ones(2, 3) * (rank + 1)).sum().backward()
    out = [model.weight.grad.tolist()]
    model = lib.nn.ModuleDict({"used": lib.nn.Linear(3, 2), "unused": lib.nn.Linear(3, 2)})
    model.forward = lambda x: {"y": [model["used"](x), (x, "text")]}
    ddp = lib.nn.parallel.DistributedDataParallel(model)
    result = ddp(lib.ones(2, 3))
    out.append(raised(result["y"][0].sum().backward))
    out.append(result["y"][1][1])
    timeline = ddp.timeline()
    out += [timeline.bucket_bytes, len(timeline.launched), sorted(sum(ddp.buckets(), []))]
    failing = lib.nn.parallel.DistributedDataParallel(lib.nn.Linear(3, 2))
    failing.register_comm_hook(None, lambda state, bucket: 3)
    out.append(raised(failing(lib.ones(2, 3)).sum().backward)[0])
    return out


@case
def sync_batch_norm():
    """Batches of 3 and 5 rows as one of 8."""

    def make():
        net = lib.nn.Sequential(
            lib.nn.Conv1d(2, 3, 1), lib.nn.BatchNorm1d(3), lib.nn.Flatten(), lib.nn.Linear(6, 1)
        ).double()
        with lib.no_grad():
            for i, p in enumerate(net.parameters()):
                p.copy_(numbers(*p.shape, seed=i))
        return net

    alone, net = make(), lib.nn.SyncBatchNorm.convert_sync_batchnorm(make())
    assert isinstance(net[1], lib.nn.SyncBatchNorm)
    ddp = lib.nn.parallel.DistributedDataParallel(net)
    x = numbers(8, 2, 2, seed=9)
    (alone(x).pow(2).sum() / size).backward()
    ddp(x[:3] if rank == 0 else x[3:]).pow(2).sum().backward()
    for (name, a), b in zip(alone.named_parameters(), net.parameters()):
        assert (a.grad - b.grad).abs().max() < 1e-11, (name, a.grad, b.grad)
    for a, b in zip(alone.buffers(), net.buffers()):
        assert (a - b).abs().max() < 1e-11
    return list(net.state_dict()) == list(alone.state_dict())


@case
def checkpoints():
    """Saves with two ranks; a save of which rank 1's part fails leaves the older one."""
    checkpoint = importlib.import_module("tenon.distributed.checkpoint")
    state = {"net": lib.nn.Linear(3, 5).state_dict(), "steps": lib.tensor(7), "empty": lib.zeros(0, 2)}
    for value in state["net"].values():
        value.copy_(numbers(*value.shape, seed=3))
    path = pathlib.Path(folder) / "checkpoint"
    checkpoint.save(state, checkpoint_id=path)
    there = path.exists() and sorted(checkpoint.ShardedReader(path).shapes())
    dist.barrier()
    if rank == 1:
        from tenon import _C

        _C._write_share = lambda *args: (_ for _ in ()).throw(OSError("no space left"))
    return [there, raised(checkpoint.save, {"other": lib.ones(4)}, checkpoint_id=path)]


@case
def exception_ends_the_others():
    if rank == 1:
        raise ValueError("rank 1 has had enough")
    return raised(dist.all_reduce, lib.ones(2))


@case
def interrupt():
    """Ctrl-C while rank 1 does not come: a collective, a backward pass, a store."""

    def later():
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    out = []
    if rank == 0:
        ddp_like = [
            lambda: dist.all_reduce(lib.ones(2)),
            lambda: dist.HashStore().get("never"),
            lambda: dist.TCPStore("127.0.0.1", 0, world_size=2, is_master=True),
            lambda: dist.recv(lib.ones(2), src=1),
        ]
        for wait in ddp_like:
            threading.Thread(target=later).start()
            try:
                wait()
                out.append("came back")
            except KeyboardInterrupt:
                out.append("interrupted")
        (pathlib.Path(folder) / "go on").touch()
    else:
        while not (pathlib.Path(folder) / "go on").exists():
            time.sleep(0.01)
        dist.all_reduce(lib.ones(2))
    # What was interrupted has gone on: the group is as it was.
    t = lib.ones(1)
    dist.all_reduce(t)
    return [out, t.item()]


def main():
    global lib, dist, rank, size, folder
    library, name, folder = sys.argv[1:]
    lib = importlib.import_module(library)
    dist = importlib.import_module(library + ".distributed")
    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=size,
        timeout=datetime.timedelta(seconds=400),
    )
    result = CASES[name]()
    (pathlib.Path(folder) / f"result_{rank}").write_text(json.dumps(result))
    if library == "torch":
        # PyTorch's threads may end a process that ends in order ("terminate called without an active exception"): this
        # one ends at once, when no other rank needs it.
        while not all((pathlib.Path(folder) / f"result_{r}").exists() for r in range(size)):
            time.sleep(0.01)
        os._exit(0)


if __name__ == "__main__":
    main()
