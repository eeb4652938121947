"""tenon.distributed with processes: distributed_ranks.py holds what they run, the same program for PyTorch where that is installed."""

import copy
import datetime
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys

import distributed_ranks
import pytest
import tenon
import tenon.distributed as dist

try:
    import torch
except ImportError:
    torch = None

if not dist.is_available() or not dist.is_gloo_available():
    pytest.skip("this build is without tenon.distributed or Gloo", allow_module_level=True)

SCRIPT = pathlib.Path(distributed_ranks.__file__)


def start(case, folder, library="tenon", ranks=2):
    """Runs the case on all ranks: (exit status, result, what it printed) of each."""
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "WORLD_SIZE": str(ranks), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment.pop("TENON_RUN_STORE", None)
    processes = [
        subprocess.Popen(
            [sys.executable, str(SCRIPT), library, case, str(folder)],
            env={**environment, "RANK": str(r)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for r in range(ranks)
    ]
    try:
        # To end what hangs: on a busy machine the imports alone have taken minutes.
        outputs = [p.communicate(timeout=500)[0] for p in processes]
    finally:
        for p in processes:
            p.kill()
    results = [folder / f"result_{r}" for r in range(ranks)]
    return [
        (p.returncode, json.loads(r.read_text()) if r.exists() else None, o)
        for p, r, o in zip(processes, results, outputs)
    ]


def results(case, folder, library="tenon"):
    ended = start(case, folder, library)
    assert all(status == 0 for status, _, _ in ended), "\n".join(output for _, _, output in ended)
    return [result for _, result, _ in ended]


def close(a, b):
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(close(x, y) for x, y in zip(a, b))
    if isinstance(a, float) and isinstance(b, (int, float)):
        return abs(a - b) <= 1e-6 * max(1, abs(a))
    return a == b


@pytest.mark.parametrize("case", distributed_ranks.BOTH)
def test_as_pytorch(case, tmp_path):
    """Without PyTorch these check that the program runs, and what the cases themselves assert."""
    ours = results(case, tmp_path / "tenon")
    if torch is None:
        return
    theirs = results(case, tmp_path / "torch", "torch")
    for one, other in zip(ours, theirs):
        assert close(one, other), (one, other)


def test_collectives_have_the_expected_values(tmp_path):
    for rank, result in enumerate(results("collectives", tmp_path)):
        assert result["BXOR"] == [5 ^ 6, 0] and result["broadcast"] == [1, 1]
        assert result["all_gather"] == [[0, 0], [1, 1]] and result["all_gather_into_tensor"] == [0, 0, 1, 1]
        assert result["scatter"] == [rank, rank] and result["all_to_all_single"] == [[0, 10], [1, 11]][rank]
        assert result["all_to_all_single with sizes"] == [[0, 10, 11], [1]][rank]
        assert result["gather"] == ([[3, 3], [4, 4]] if rank == 0 else []) and result["future"] == [4, 4]
        assert result["recv"] == ([0, [1.5, 2.5]] if rank else None)


def test_errors_keep_class_and_text(tmp_path):
    for result in results("work_and_errors", tmp_path):
        assert [c[1:3] for c in result["classes"]] == [["DistError", "RuntimeError"]] * 3
        assert (
            "rank 0 calls all_reduce(SUM) of Float [2], rank 1 calls broadcast from rank 0 of Float [3]"
            in result["mismatch"]
        )
        assert result["async error"][0] == "DistBackendError" and "of Float [3]" in result["async error"][1]
        assert result["exception"] == result["async error"] and result["success"] is False
        assert result["dtype"][0] == "NotImplementedError" and "ComplexFloat" in result["dtype"][1]
    kind, text = results("work_and_errors", tmp_path / "again")[0]["barrier"]
    assert kind == "DistBackendError" and re.search(r"200 ms for rank 1|rank 1 .*has left", text), text


def test_models_that_differ_are_named(tmp_path):
    for kind, text in results("differing_models", tmp_path):
        assert kind == "DistBackendError"
        assert (
            "rank 0 has parameter weight: Float [2, 3], strides [3, 1]; rank 1 has parameter weight: Float [3, 3]"
            in text
        )


def test_ddp_objects(tmp_path):
    for result in results("temporaries", tmp_path):
        assert result[0] == [[3.0, 3.0, 3.0]] * 2  # the mean of 2 and 4
        assert result[1][0] == "DistBackendError" and "unused.weight (number 2), unused.bias (number 3)" in result[1][1]
        assert result[2] == "text" and result[3] == [64] and result[4] == 0 and result[5] == [0, 1, 2, 3]
        assert result[6] == "TypeError"


def test_outputs_that_are_not_used(tmp_path):
    for result in results("unused_outputs", tmp_path):
        for without, again, error in (result[:3], result[3:]):
            assert without == again == [False, False, True, True]
            assert error[0] == "DistBackendError" and "b.weight (number 2), b.bias (number 3)" in error[1]


def test_sync_batch_norm(tmp_path):
    assert results("sync_batch_norm", tmp_path) == [True, True]
    norm = tenon.nn.SyncBatchNorm(2)  # without a group: as ordinary batch normalisation
    x = tenon.randn(4, 2, 3)
    assert tenon.equal(norm(x), tenon.nn.BatchNorm1d(2)(x))
    with pytest.raises(ValueError, match="expected at least 2D input"):
        norm(x[0, 0])


def test_an_exception_reaches_the_other_ranks_at_once(tmp_path):
    (first, seen, _), (second, _, printed) = start("exception_ends_the_others", tmp_path)
    assert first == 0 and second == 1 and "ValueError: rank 1 has had enough" in printed
    assert seen[0] == "DistBackendError" and "rank 1" in seen[1] and "ValueError: rank 1 has had enough" in seen[1]


def test_keyboard_interrupt(tmp_path):
    (out, total), (_, other) = results("interrupt", tmp_path)
    assert out == ["interrupted"] * 4 and total == other == 2


def test_stores(tmp_path):
    second = datetime.timedelta(seconds=1)
    for store in (
        dist.HashStore(),
        dist.FileStore(str(tmp_path / "file"), 1),
        dist.TCPStore("127.0.0.1", 0, 1, True),
        dist.PrefixStore("part", dist.HashStore()),
    ):
        store.set("text", "value")
        store.set("bytes", b"\0\xff")
        assert store.get("text") == b"value" and store.get("bytes") == b"\0\xff"
        assert store.add("count", 3) == 3 and store.add("count", -5) == -2
        assert (
            store.compare_set("text", "other", "new") == b"value"
            and store.compare_set("text", "value", "new") == b"new"
        )
        assert store.check(["text", "bytes"]) and not store.check(["text", "nothing"])
        store.append("text", "er")
        assert store.multi_get(["text", "count"]) == [b"newer", b"-2"]
        store.multi_set(["a", "b"], ["1", b"2"])
        assert store.get("b") == b"2" and store.delete_key("a") and not store.delete_key("a")
        assert store.num_keys() == (5 if isinstance(store, dist.TCPStore) else 4)  # the count of its workers
        store.set_timeout(second)
        assert store.timeout == second
        with pytest.raises(dist.DistStoreError, match="timed out after 20 ms waiting for keys: .*nothing"):
            store.wait(["text", "nothing"], datetime.timedelta(milliseconds=20))
        with pytest.raises(TypeError, match="str or bytes"):
            store.set("text", 3)
    with pytest.raises(dist.DistNetworkError, match="cannot connect to 127.0.0.1"):
        dist.TCPStore("127.0.0.1", 1, timeout=datetime.timedelta(milliseconds=50))


def test_before_and_after_the_default_group(tmp_path):
    assert not dist.is_initialized() and dist.group.WORLD is None
    for f in (
        lambda: dist.all_reduce(tenon.ones(1)),
        dist.get_rank,
        dist.new_group,
        lambda: tenon.nn.parallel.DistributedDataParallel(tenon.nn.Linear(1, 1)),
    ):
        with pytest.raises(ValueError, match="call init_process_group"):
            f()
    with pytest.raises(ValueError, match="no backend 'nccl' in this build"):
        dist.init_process_group("nccl", init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    with pytest.raises(ValueError, match="environment variable (RANK|WORLD_SIZE) expected, but not set"):
        dist.init_process_group("gloo")
    dist.init_process_group(init_method=f"file://{tmp_path}/store2", rank=0, world_size=1)
    group = dist.group.WORLD
    assert "rank 0 of 1" in repr(group)
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group(init_method=f"file://{tmp_path}/store3", rank=0, world_size=1)
    with pytest.raises(ValueError, match="expected a rank from 0 to 0|rank 1 is not in the group"):
        dist.broadcast(tenon.ones(1), src=1)
    with pytest.raises(ValueError, match="Can't specify both group_src and src"):
        dist.broadcast(tenon.ones(1), src=0, group_src=0)
    for options, kind, text in (
        ({"device_ids": [0]}, ValueError, "only work with .*GPU modules"),
        ({"output_device": 0}, ValueError, "output_device 0"),
        ({"device_ids": [0, 1]}, ValueError, "None or contain a single element"),
        ({"mixed_precision": 1}, NotImplementedError, "mixed_precision"),
        ({"bucket_cap_mb": 0}, ValueError, "bucket_cap_mb"),
    ):
        with pytest.raises(kind, match=text):
            tenon.nn.parallel.DistributedDataParallel(tenon.nn.Linear(1, 1), **options)
    on_meta = tenon.nn.Linear(1, 1, device="meta")
    with pytest.raises(NotImplementedError, match="parameter weight is on meta"):
        tenon.nn.parallel.DistributedDataParallel(on_meta)
    mixed = tenon.nn.Sequential(on_meta, tenon.nn.Linear(1, 1))
    with pytest.raises(ValueError, match="must be on the same type of devices"):
        tenon.nn.parallel.DistributedDataParallel(mixed)
    dist.destroy_process_group()
    assert not dist.is_initialized()
    with pytest.raises(RuntimeError, match="has been destroyed"):
        dist.all_reduce(tenon.ones(1), group=group)


def test_checkpoints(tmp_path):
    from tenon.distributed import checkpoint

    for rank, (names, failure) in enumerate(results("checkpoints", tmp_path)):
        assert names == ["empty", "net.bias", "net.weight", "steps"]
        assert failure[0] == ("OSError" if rank == 1 else "DistBackendError") and "no space left" in failure[1]
    path = tmp_path / "checkpoint"
    # One process reads what two wrote: all of it into tensors, and a part.
    state = {"net": tenon.nn.Linear(3, 5).state_dict(), "steps": tenon.tensor(0)}
    checkpoint.load(state, checkpoint_id=path)
    distributed_ranks.lib = tenon
    assert state["steps"].item() == 7 and tenon.equal(
        state["net"]["weight"], distributed_ranks.numbers(5, 3, seed=3).float()
    )
    reader = checkpoint.ShardedReader(path)
    reader.verify()
    assert tenon.equal(reader.tensor("net.weight", [1, 1], [3, 2]), state["net"]["weight"][1:4, 1:])
    before = state["net"]["weight"].clone()
    with pytest.raises(RuntimeError, match=r"'net.weight' has shape \[5, 3\], expected \[4\]; there is no 'more'"):
        checkpoint.load(
            {"steps": tenon.tensor(0), "net": {"weight": tenon.zeros(4)}, "more": tenon.zeros(1)}, checkpoint_id=path
        )
    with pytest.raises(TypeError, match="'net.lr' is a float"):
        checkpoint.save({"net": {"lr": 0.1}}, checkpoint_id=path)
    checkpoint.save({"net": {"weight": before + 1}}, checkpoint_id=path)
    assert reader.shapes() != checkpoint.ShardedReader(path).shapes() == {"net.weight": [5, 3]}


def test_the_trace_of_buckets(tmp_path, monkeypatch):
    monkeypatch.setenv("TENON_DDP_TRACE", str(tmp_path / "traces"))
    results("joining", tmp_path)  # 2 and 4 iterations; rank 0 stands in for two
    for rank in range(2):
        text = (tmp_path / "traces" / f"ddp_rank_{rank}.json").read_text()
        events = json.loads(text.rstrip().rstrip(",") + "]")
        assert all(e["pid"] == rank for e in events)
        names = [e["name"] for e in events if e["ph"] == "X"]
        assert names == ["forward", "backward", "bucket 0"] * 4
        for backward, bucket in zip(events[4::3], events[5::3]):
            assert bucket["args"]["bytes"] == 64 and bucket["ts"] >= backward["ts"] and bucket["dur"] >= 0
            assert backward["args"]["overlap_us"] <= backward["args"]["communication_us"]


def test_timelines_add_up(tmp_path):
    dist.init_process_group(init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        ddp = tenon.nn.parallel.DistributedDataParallel(tenon.nn.Linear(2, 2))
        ddp(tenon.ones(1, 2)).sum().backward()
        timeline = ddp.timeline()
        assert timeline.bucket_bytes == [24] and len(timeline.launched) == len(timeline.reduced) == 1
        assert timeline.communication() == timeline.reduced[0] - timeline.launched[0]
        data = ddp._get_ddp_logging_data()
        assert (
            data["world_size"] == 1
            and data["bucket_sizes"] == "24"
            and data["backward_compute_time"] == timeline.last_gradient
        )
    finally:
        dist.destroy_process_group()


def test_state_dicts_have_the_prefix(tmp_path):
    dist.init_process_group(init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = tenon.nn.Linear(2, 2)
        ddp = tenon.nn.parallel.DistributedDataParallel(model)
        assert list(ddp.state_dict()) == ["module.weight", "module.bias"]
        zeros = {name: tenon.zeros_like(p) for name, p in model.state_dict().items()}
        ddp.load_state_dict(zeros)
        assert model.weight.abs().sum() == 0
        ddp.load_state_dict({"module." + name: value + 1 for name, value in zeros.items()})
        assert model.weight.sum() == 4
        with pytest.raises(RuntimeError, match="Missing key"):
            ddp.load_state_dict({"module.weight": zeros["weight"]})
    finally:
        dist.destroy_process_group()


def test_copies_and_pickles(tmp_path):
    dist.init_process_group(init_method=f"file://{tmp_path}/store", rank=0, world_size=1)
    try:
        model = tenon.nn.Linear(2, 2)
        ddp = tenon.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=3, find_unused_parameters=True)
        for other in (copy.deepcopy(ddp), pickle.loads(pickle.dumps(ddp))):
            assert other.module is not model and tenon.equal(other.module.weight, model.weight)
            assert (
                other.find_unused_parameters
                and other.bucket_bytes_cap == 3 << 20
                and other.process_group is dist.group.WORLD
            )
            other(tenon.ones(1, 2)).sum().backward()
            assert (
                model.weight.grad is None
                and other.module.weight.grad.tolist() == [[1, 1], [1, 1]]
                and len(other.timeline().reduced) == 1
            )
        group = dist.new_group([0])
        with pytest.raises(RuntimeError, match="default process group"):
            pickle.dumps(tenon.nn.parallel.DistributedDataParallel(model, process_group=group))
    finally:
        dist.destroy_process_group()


@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("shuffle", [False, True])
def test_sampler(shuffle, drop_last):
    data = list(range(11))
    samplers = [tenon.utils.data.DistributedSampler(data, 3, r, shuffle, seed=5, drop_last=drop_last) for r in range(3)]
    for epoch in (0, 1):
        for s in samplers:
            s.set_epoch(epoch)
        parts = [list(s) for s in samplers]
        assert [len(p) for p in parts] == [len(s) for s in samplers] == [3 if drop_last else 4] * 3
        if not drop_last:
            assert {i for p in parts for i in p} == set(data)
        if torch is not None:
            theirs = [
                torch.utils.data.DistributedSampler(data, 3, r, shuffle, seed=5, drop_last=drop_last) for r in range(3)
            ]
            for t in theirs:
                t.set_epoch(epoch)
            assert parts == [list(t) for t in theirs]
    assert not shuffle or parts != [
        list(s) for s in [tenon.utils.data.distributed.DistributedSampler(data, 3, r, seed=5) for r in range(3)]
    ]
    with pytest.raises(ValueError, match="Invalid rank 3"):
        tenon.utils.data.DistributedSampler(data, 3, 3)


def example():
    """The first program of docs/distributed.md that is Python's."""
    text = (SCRIPT.parents[2] / "docs/distributed.md").read_text()
    return re.search(r"```python\n(.*?)```", text, re.S).group(1)


def launch(*arguments, module="tenon.distributed.run"):
    environment = {k: v for k, v in os.environ.items() if k != "TENON_RUN_STORE"}
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], capture_output=True, text=True, timeout=200, env=environment
    )


def test_the_example_of_the_documentation(tmp_path):
    (tmp_path / "train.py").write_text(example())
    os.chmod(tmp_path, 0o755)
    result = launch("--nproc_per_node=2", str(tmp_path / "train.py"), str(tmp_path / "net.pt"))
    assert result.returncode == 0, result.stdout + result.stderr
    losses = [float(x) for x in re.findall(r"loss ([\d.]+)", result.stdout)]
    assert len(losses) == 3 and losses[-1] < 0.5 * losses[0], result.stdout
    assert list(tenon.load(tmp_path / "net.pt")) == ["weight", "bias"]


def test_the_launcher(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import os, sys\nprint(os.environ['RANK'], os.environ['WORLD_SIZE'], sys.argv[1:])\nsys.exit(int(os.environ['RANK']) * 3)\n"
    )
    result = launch(
        "--standalone", "--nproc-per-node", "2", str(script), "--option", "x", module="tenon.distributed.launch"
    )
    assert result.returncode == 3 and "[1] 1 2 ['--option', 'x']" in result.stdout and "rank 1" in result.stderr
    for arguments, text in (
        (["--nnodes", "2", str(script)], "one machine"),
        (["--nproc-per-node", "x", str(script)], "expected a number"),
        ([], "training_script"),
    ):
        result = launch(*arguments)
        assert result.returncode == 2 and text in result.stderr


def test_a_build_without_it():
    program = """
import sys
sys.modules["tenon._distributed"] = None
import tenon, tenon.nn.parallel, tenon.utils.data
assert tenon.distributed.is_available() is False
for f in (lambda: tenon.distributed.all_reduce, lambda: tenon.nn.parallel.DistributedDataParallel(tenon.nn.Linear(1, 1)),
          lambda: tenon.utils.data.DistributedSampler([1])):
    try:
        f()
    except (AttributeError, RuntimeError) as error:
        print(error)
x = tenon.ones(2, 1)
tenon.nn.SyncBatchNorm(1)(x)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert result.returncode == 0, result.stderr
    assert (
        "no attribute 'all_reduce': this build of Tenon is without the library" in result.stdout
        and result.stdout.count("this build of Tenon") == 3
    )
