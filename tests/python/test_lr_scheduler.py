"""Schedules of learning rates: PyTorch's numbers and state dicts."""

import warnings

import pytest
import tenon
from tenon.optim import lr_scheduler

try:
    import torch
except ImportError:
    torch = None
needs_torch = pytest.mark.skipif(
    torch is None, reason="needs PyTorch: ./tenon setup --oracle, and run with build/venv-oracle"
)


def cosine_after_warmup(s, o):
    return s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=4), s.CosineAnnealingLR(o, 8), s.ExponentialLR(o, 0.9)], [4, 12]
    )


MAKERS = {
    "lambda": lambda s, o: s.LambdaLR(o, [lambda e: 0.9**e, lambda e: 1 / (1 + e)]),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda e: 0.95),
    "step": lambda s, o: s.StepLR(o, 3, gamma=0.5),
    "multi step": lambda s, o: s.MultiStepLR(o, [2, 5, 5, 9], gamma=0.3),
    "constant": lambda s, o: s.ConstantLR(o, 0.25, total_iters=4),
    "linear": lambda s, o: s.LinearLR(o, 0.2, 0.8, total_iters=7),
    "exponential": lambda s, o: s.ExponentialLR(o, 0.85),
    "polynomial": lambda s, o: s.PolynomialLR(o, 9, power=2.0),
    "cosine": lambda s, o: s.CosineAnnealingLR(o, 5, eta_min=0.01),
    "warm restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3, T_mult=2, eta_min=0.02),
    "one cycle": lambda s, o: s.OneCycleLR(o, [0.5, 1.0], total_steps=20),
    "one cycle, linear": lambda s, o: s.OneCycleLR(
        o, 0.7, epochs=4, steps_per_epoch=6, anneal_strategy="linear", three_phase=True
    ),
    "cyclic": lambda s, o: s.CyclicLR(o, 0.1, [0.5, 1.0], step_size_up=3, step_size_down=5),
    "cyclic, halved": lambda s, o: s.CyclicLR(
        o, [0.1, 0.2], 0.9, step_size_up=2, mode="triangular2", base_momentum=0.7
    ),
    "cyclic, powers": lambda s, o: s.CyclicLR(
        o, 0.1, 0.9, step_size_up=4, mode="exp_range", gamma=0.9, cycle_momentum=False
    ),
    "cyclic, of a function": lambda s, o: s.CyclicLR(
        o, 0.1, 0.9, 4, scale_fn=lambda x: 1 / (1 + x), scale_mode="iterations"
    ),
    "sequence": cosine_after_warmup,
    "sequence of steps": lambda s, o: s.SequentialLR(
        o, [s.ConstantLR(o, 0.5, 3), s.MultiStepLR(o, [2, 6]), s.StepLR(o, 2)], [3, 9]
    ),
    "chain": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, total_iters=3), s.ExponentialLR(o, 0.9)]),
}


def optimizer_of(library, name="SGD"):
    groups = [
        {"params": [library.zeros(1, requires_grad=True)]},
        {"params": [library.zeros(2, requires_grad=True)], "lr": 0.3},
    ]
    options = {"lr": 0.1, "momentum": 0.9} if name == "SGD" else {"lr": 0.1}
    return getattr(library.optim, name)(groups, **options)


def numbers_of(optimizer):
    return [[group["lr"], group.get("momentum"), *group.get("betas", ())] for group in optimizer.param_groups]


def close(a, b):
    assert len(a) == len(b)
    for x, y in zip(a, b):
        assert x == pytest.approx(y, rel=1e-12, abs=1e-15)


def run(library, scheduler, optimizer, count):
    found = []
    for _ in range(count):
        optimizer.step()
        scheduler.step()
        found.append((numbers_of(optimizer), scheduler.get_last_lr()))
    return found


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_rates_are_pytorchs(name, kind):
    ours, theirs = optimizer_of(tenon, kind), optimizer_of(torch, kind)
    mine, torchs = MAKERS[name](lr_scheduler, ours), MAKERS[name](torch.optim.lr_scheduler, theirs)
    for x, y in zip(numbers_of(ours), numbers_of(theirs)):
        close([n for n in x if n is not None], [n for n in y if n is not None])
    for (found, last), (wanted, theirs_last) in zip(run(tenon, mine, ours, 19), run(torch, torchs, theirs, 19)):
        for x, y in zip(found, wanted):
            close([n for n in x if n is not None], [n for n in y if n is not None])
        close(last, theirs_last)


@needs_torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in MAKERS if n != "lambda"])
def test_state_dicts_go_on_in_the_other_library(name, tmp_path):
    """PyTorch's schedule after seven steps goes on here, from files of its own."""
    theirs, ours = optimizer_of(torch), optimizer_of(tenon)
    torchs, mine = MAKERS[name](torch.optim.lr_scheduler, theirs), MAKERS[name](lr_scheduler, ours)
    run(torch, torchs, theirs, 7)
    torch.save([theirs.state_dict(), torchs.state_dict()], tmp_path / "state.pt")
    optimizer_state, state = tenon.load(str(tmp_path / "state.pt"))
    ours.load_state_dict(optimizer_state)
    mine.load_state_dict(state)
    for (found, _), (wanted, _) in zip(run(tenon, mine, ours, 9), run(torch, torchs, theirs, 9)):
        for x, y in zip(found, wanted):
            close(x[:2], y[:2])


@pytest.mark.parametrize("name", MAKERS)
def test_a_saved_schedule_goes_on(name):
    optimizer = optimizer_of(tenon)
    scheduler = MAKERS[name](lr_scheduler, optimizer)
    run(tenon, scheduler, optimizer, 5)
    state, optimizer_state = scheduler.state_dict(), optimizer.state_dict()
    again = optimizer_of(tenon)
    resumed = MAKERS[name](lr_scheduler, again)
    again.load_state_dict(optimizer_state)
    resumed.load_state_dict(state)
    assert [n for n, _ in run(tenon, resumed, again, 8)] == [n for n, _ in run(tenon, scheduler, optimizer, 8)]


@needs_torch
@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1},
        {"mode": "max", "patience": 0, "cooldown": 2},
        {"patience": 0, "threshold": 0.3, "threshold_mode": "abs", "min_lr": [0.02, 0.1], "factor": 0.4},
    ],
)
def test_a_plateau_is_pytorchs(options):
    ours, theirs = optimizer_of(tenon), optimizer_of(torch)
    mine, torchs = (
        lr_scheduler.ReduceLROnPlateau(ours, **options),
        torch.optim.lr_scheduler.ReduceLROnPlateau(theirs, **options),
    )
    for metric in [1.0, 0.9, 0.91, 0.95, 0.9, 0.2, 0.3, 0.4, 0.5, 0.5, 0.5, 0.1]:
        mine.step(tenon.tensor(metric))
        torchs.step(metric)
        close([g["lr"] for g in ours.param_groups], [g["lr"] for g in theirs.param_groups])
        assert (mine.best, mine.num_bad_epochs, mine.cooldown_counter) == pytest.approx(
            (torchs.best, torchs.num_bad_epochs, torchs.cooldown_counter)
        )
        close(mine.get_last_lr(), torchs.get_last_lr())


def test_objects_of_a_lambda_keep_their_attributes():
    class Decay:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, epoch):
            return self.factor**epoch

    optimizer = optimizer_of(tenon)
    state = lr_scheduler.LambdaLR(optimizer, [Decay(0.5), lambda e: 1.0]).state_dict()
    assert state["lr_lambdas"] == [{"factor": 0.5}, None]
    other = Decay(0.9)
    scheduler = lr_scheduler.LambdaLR(optimizer_of(tenon), [other, lambda e: 1.0])
    scheduler.load_state_dict(state)
    assert other.factor == 0.5 and scheduler.lr_lambdas[0] is other


def test_a_schedule_that_goes_on_needs_the_initial_rates():
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(optimizer_of(tenon), 3, last_epoch=4)
    optimizer = optimizer_of(tenon)
    for group, rate in zip(optimizer.param_groups, (0.4, 0.8)):
        group["initial_lr"] = rate
    assert lr_scheduler.StepLR(optimizer, 3, last_epoch=4).base_lrs == [0.4, 0.8]


@pytest.mark.parametrize(
    "make, error, text",
    [
        (lambda o: lr_scheduler.StepLR(object(), 3), TypeError, "is not an Optimizer"),
        (lambda o: lr_scheduler.ConstantLR(o, 2.0), ValueError, "between 0 and 1"),
        (lambda o: lr_scheduler.LinearLR(o, 0.0), ValueError, "Starting multiplicative factor"),
        (lambda o: lr_scheduler.LambdaLR(o, [lambda e: 1]), ValueError, "Expected 2 lr_lambdas, but got 1"),
        (lambda o: lr_scheduler.OneCycleLR(o, 0.1), ValueError, "total_steps OR"),
        (lambda o: lr_scheduler.OneCycleLR(o, [0.1], total_steps=3), ValueError, "same length"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, factor=1.0), ValueError, "Factor should be < 1.0"),
        (lambda o: lr_scheduler.ReduceLROnPlateau(o, mode="x"), ValueError, "mode x is unknown"),
        (lambda o: lr_scheduler.SequentialLR(o, [lr_scheduler.StepLR(o, 1)], [1]), ValueError, "number of milestones"),
        (
            lambda o: lr_scheduler.ChainedScheduler([lr_scheduler.StepLR(optimizer_of(tenon), 1)], o),
            ValueError,
            "same optimizer",
        ),
        (lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 0), ValueError, "positive integer T_0"),
    ],
)
def test_wrong_arguments_are_named(make, error, text):
    with pytest.raises(error, match=text):
        make(optimizer_of(tenon))


def test_one_cycle_ends():
    optimizer = optimizer_of(tenon)
    scheduler = lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=3)
    for _ in range(3):
        optimizer.step()
        scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 4 times"):
        scheduler.step()


def warned(use):
    """The warnings about the order of steps."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        use()
    return [str(w.message).partition(".")[0] for w in caught if "lr_scheduler.step()" in str(w.message)]


@pytest.mark.parametrize("library", [tenon, torch] if torch else [tenon])
def test_steps_in_the_wrong_order_are_warned_of(library):
    schedulers, early = library.optim.lr_scheduler, ["Detected call of `lr_scheduler"]

    def of(*calls, make=lambda o: schedulers.StepLR(o, 2)):
        optimizer = optimizer_of(library)
        scheduler = make(optimizer)
        parts = {"o": optimizer.step, "s": scheduler.step}
        return warned(lambda: [parts[call]() for call in calls])

    assert of("o", "s", "s") == [] and of("s", "o", "s") == of("s") == early and of("o", "s", "o", "s") == []
    assert of("s", "s") == early  # once
    for make in (
        lambda o: schedulers.ExponentialLR(o, 0.5),
        lambda o: schedulers.CosineAnnealingLR(o, 3),
        lambda o: schedulers.OneCycleLR(o, 0.1, total_steps=5),
        lambda o: schedulers.LambdaLR(o, lambda e: 1),
    ):
        assert of("s", make=make) == early and of("o", "s", make=make) == []
    for make in (lambda o: schedulers.CosineAnnealingWarmRestarts(o, 3), lambda o: schedulers.ReduceLROnPlateau(o)):
        scheduler = make(optimizer_of(library))
        assert warned(lambda: scheduler.step(1.0)) == []  # noqa: B023
    # Steps before there was a schedule do not count, those for another one do.
    optimizer = optimizer_of(library)
    optimizer.step()
    scheduler = schedulers.StepLR(optimizer, 2)
    assert warned(scheduler.step) == early
    optimizer.step()
    assert warned(schedulers.StepLR(optimizer, 2).step) == []

    # Steps by way of super().step() count.
    class Own(library.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    optimizer = Own([library.ones(1)], lr=0.1)
    scheduler = schedulers.StepLR(optimizer, 2)
    optimizer.step()
    assert warned(scheduler.step) == []
    optimizer = optimizer_of(library)
    scheduler = schedulers.StepLR(optimizer, 2)
    optimizer.step = lambda: None
    assert warned(scheduler.step) == ["Seems like `optimizer"]


def test_epochs_of_a_scheduler_are_deprecated(lib):
    optimizer = lib.optim.SGD([lib.ones(1, requires_grad=True)], lr=1.0)
    schedulers = lib.optim.lr_scheduler
    scheduler = schedulers.StepLR(optimizer, 2, 0.5)
    optimizer.step()
    with pytest.warns(UserWarning, match="epoch"):
        scheduler.step(5)
    assert scheduler.get_last_lr() == [0.25]
    sequence = schedulers.SequentialLR(
        optimizer, [schedulers.ConstantLR(optimizer, 0.5, 2), schedulers.StepLR(optimizer, 1)], [1]
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sequence.step()
