"""Functions in processes, and memory that they share."""

import multiprocessing

import pytest
import tenon
from tenon.multiprocessing import ProcessExitedException, ProcessRaisedException, spawn, start_processes


def _fail(rank, _):
    if rank == 1:
        raise ValueError("rank 1 fails")


def _write(rank, folder):
    (folder / str(rank)).write_text(str(tenon.full((2,), rank).sum().item()))


def test_functions_in_processes(tmp_path):
    spawn(_write, (tmp_path,), nprocs=2)
    assert (tmp_path / "1").read_text() == "2"
    with pytest.raises(ProcessRaisedException, match="rank 1 fails") as error:
        start_processes(_fail, (None,), nprocs=2, start_method="fork")
    assert error.value.error_index == 1


def _exit(rank):
    raise SystemExit(3)


def test_a_process_that_exits_is_named():
    with pytest.raises(ProcessExitedException, match="process 0 terminated with exit code 3") as error:
        start_processes(_exit, nprocs=1, start_method="fork")
    assert error.value.exit_code == 3


def _train(rank, model, counter):
    with tenon.no_grad():
        model.weight.add_(rank + 1)
        counter.add_(1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_shared_memory_is_the_same_in_other_processes(method):
    model, counter = tenon.nn.Linear(3, 2).share_memory(), tenon.zeros(4)
    assert model.weight.is_shared() and model.bias.is_shared() and not counter.is_shared()
    before = model.weight.detach().clone()
    for rank in range(2):  # one after the other: additions are not atomic
        process = multiprocessing.get_context(method).Process(target=_train, args=(rank, model, counter))
        process.start()
        process.join()
        assert process.exitcode == 0
    assert tenon.equal(model.weight, before + 1 + 2)
    assert counter.tolist() == [0, 0, 0, 0]  # a copy


def _fill(queue, done):
    tensor = queue.get(timeout=120)
    tensor.fill_(7)
    done.put(tensor.is_shared())


def test_a_queue_passes_shared_memory():
    context = multiprocessing.get_context("spawn")
    queue, done = context.Queue(), context.Queue()
    process = context.Process(target=_fill, args=(queue, done))
    process.start()
    whole = tenon.zeros(3, 2).share_memory_()
    assert whole.share_memory_() is whole
    queue.put(whole[1:])
    assert done.get(timeout=120) is True
    process.join()
    assert whole.tolist() == [[0, 0], [7, 7], [7, 7]]
