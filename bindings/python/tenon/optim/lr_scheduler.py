"""Schedules of learning rates: PyTorch's names, numbers and state dicts. step() follows each epoch, or each step of OneCycleLR."""

import math
import warnings
from bisect import bisect_right
from collections import Counter

import tenon
from tenon.optim.optimizer import Optimizer

_SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to call "
    f"`optimizer.step()` before `lr_scheduler.step()`. {_SEE}"
)
_TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you should call them in the opposite order: "
    "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this will result in PyTorch skipping the first value of the learning rate "
    f"schedule. {_SEE}"
)


def _copied(rate):
    return rate.clone() if isinstance(rate, tenon.Tensor) else rate


def _set_rate(group, rate):
    """A rate that is a tensor changes in place."""
    if isinstance(group["lr"], tenon.Tensor):
        with tenon.no_grad():
            group["lr"].fill_(rate)
    else:
        group["lr"] = rate


EPOCH_DEPRECATION_WARNING = "scheduler.step(): the epoch is deprecated. Call step() alone, once for each epoch."


class LRScheduler:
    """A subclass defines get_lr(), the rates of all groups after self.last_epoch steps, from those before. One with a formula of the
    epoch alone, _get_closed_form_lr(), can be sent to any epoch: step(epoch)."""

    def __init__(self, optimizer, last_epoch=-1):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", _copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with last_epoch >= 0"
                )
        self.optimizer, self.last_epoch = optimizer, last_epoch
        self.base_lrs = [_copied(group["initial_lr"]) for group in optimizer.param_groups]
        if optimizer._opt_called is None:
            optimizer._opt_called, optimizer._step_at_schedule = False, vars(optimizer).get("step")
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _rates(self):
        return [_copied(group["lr"]) for group in self.optimizer.param_groups]

    def get_last_lr(self):
        """The rates that the last step() set."""
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def step(self, epoch=None):
        called = self.optimizer._opt_called
        if self._step_count == 1 and called is not None:
            overridden = vars(self.optimizer).get("step") is not self.optimizer._step_at_schedule
            if overridden or not called:
                warnings.warn(_OVERRIDDEN if overridden else _TOO_EARLY, stacklevel=2)
        self._step_count += 1
        if epoch is None:
            self.last_epoch += 1
            rates = self.get_lr()
        else:
            warnings.warn(EPOCH_DEPRECATION_WARNING, stacklevel=2)
            self.last_epoch = epoch
            rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        self._set(rates)

    def _set(self, rates):
        for group, rate in zip(self.optimizer.param_groups, rates):
            _set_rate(group, rate)
        self._last_lr = self._rates()

    def state_dict(self):
        return {key: value for key, value in vars(self).items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        vars(self).update(state_dict)


class _LRScheduler(LRScheduler):
    """The name that programs of before had for the base of their own schedules."""


class _OfFunctions(LRScheduler):
    """Of a function of the epoch, or one for each group. Functions are in no state dict; objects' attributes are."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.lr_lambdas = (
            list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * len(optimizer.param_groups)
        )
        if len(self.lr_lambdas) != len(optimizer.param_groups):
            raise ValueError(f"Expected {len(optimizer.param_groups)} lr_lambdas, but got {len(self.lr_lambdas)}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        state = super().state_dict()
        state["lr_lambdas"] = [dict(vars(f)) if _is_object(f) else None for f in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict):
        functions = self.lr_lambdas
        super().load_state_dict(state_dict)
        self.lr_lambdas = functions
        for function, state in zip(functions, state_dict["lr_lambdas"]):
            if state is not None:
                vars(function).update(state)


def _is_object(function):
    return not hasattr(function, "__code__") and hasattr(function, "__dict__")


class LambdaLR(_OfFunctions):
    """The initial rate times lr_lambda(epoch)."""

    def get_lr(self):
        return [base * function(self.last_epoch) for base, function in zip(self.base_lrs, self.lr_lambdas)]


class MultiplicativeLR(_OfFunctions):
    """The rate before times lr_lambda(epoch)."""

    def get_lr(self):
        if self._is_initial:
            return self._rates()
        return [rate * function(self.last_epoch) for rate, function in zip(self._rates(), self.lr_lambdas)]


class StepLR(LRScheduler):
    """Times gamma every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self._rates()
        return [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Times gamma at each of the milestones."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch not in self.milestones:
            return self._rates()
        return [rate * self.gamma ** self.milestones[self.last_epoch] for rate in self._rates()]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """Times factor for the first total_iters epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.factor for rate in self._rates()]
        if self.last_epoch != self.total_iters:
            return self._rates()
        return [rate * (1.0 / self.factor) for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [
            base * (self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)) for base in self.base_lrs
        ]


class LinearLR(LRScheduler):
    """The factor goes from start_factor to end_factor over total_iters epochs and stays there."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in self._rates()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        gain = self.end_factor - self.start_factor
        return [
            rate * (1.0 + gain / (self.total_iters * self.start_factor + (self.last_epoch - 1) * gain))
            for rate in self._rates()
        ]

    def _get_closed_form_lr(self):
        passed = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * passed) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Times gamma every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._rates() if self._is_initial else [rate * self.gamma for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """The initial rate times (1 - epoch / total_iters) ** power, 0 from total_iters on."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        if self._is_initial or self.last_epoch > self.total_iters:
            return self._rates()
        left, before = (1.0 - epoch / self.total_iters for epoch in (self.last_epoch, self.last_epoch - 1))
        return [rate * (left / before) ** self.power for rate in self._rates()]

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """eta_min + (initial - eta_min) (1 + cos(pi epoch / T_max)) / 2: Loshchilov and Hutter (2017), without restarts."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        epoch, low = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._rates()
        if self._step_count == 1 and epoch > 0:
            return [low + (base - low) * (1 + math.cos(epoch * math.pi / self.T_max)) / 2 for base in self.base_lrs]
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate before is the lowest, from which none can be scaled.
            return [
                rate + (base - low) * (1 - math.cos(math.pi / self.T_max)) / 2
                for base, rate in zip(self.base_lrs, self._rates())
            ]
        ratio = (1 + math.cos(math.pi * epoch / self.T_max)) / (1 + math.cos(math.pi * (epoch - 1) / self.T_max))
        return [ratio * (rate - low) + low for rate in self._rates()]

    def _get_closed_form_lr(self):
        return [
            self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
            for base in self.base_lrs
        ]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that starts anew after T_0 epochs, then after T_mult times as many each time. step(epoch) takes fractions."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (int, float)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [
            self.eta_min + (base - self.eta_min) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
            for base in self.base_lrs
        ]

    def step(self, epoch=None):
        self._step_count += 1
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_i, self.T_cur = self.T_0, epoch % self.T_0
        else:
            restarts = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**restarts - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**restarts
        self.last_epoch = math.floor(epoch)
        self._set(self.get_lr())


class _OfMomentums(LRScheduler):
    """Moves the momentum, or Adam's first beta, against the rate where cycle_momentum is set."""

    def _begin_momentums(self, optimizer, base_momentum, max_momentum, last_epoch):
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        lowest, highest = (
            _per_group("base_momentum", optimizer, base_momentum),
            _per_group("max_momentum", optimizer, max_momentum),
        )
        if last_epoch == -1:
            for group, low, high in zip(optimizer.param_groups, lowest, highest):
                self._set_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low
        return lowest, highest

    def _set_momentum(self, group, momentum):
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_OfMomentums):
    """From base_lr to max_lr in step_size_up steps and back in step_size_down, again and again (Smith 2015); the height of a cycle is
    times scale_fn of the cycle's number, counted from 1, or of the steps (scale_mode "iterations"). "triangular" keeps it, "triangular2"
    halves it each time, "exp_range" makes it gamma^steps."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        lowest = _per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, lowest):
                _set_rate(group, rate)
        self.max_lrs = _per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma, self._scale_fn_custom = mode, gamma, scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = self._begin_momentums(
                optimizer, base_momentum, max_momentum, last_epoch
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = lowest

    def scale_fn(self, x):
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return 1.0 if self.mode == "triangular" else 1 / 2.0 ** (x - 1) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self):
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        height *= self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums):
                self._set_momentum(group, high - (high - low) * height)
        return [low + (high - low) * height for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        """A function is in no state dict; an object's attributes are."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = dict(vars(custom)) if custom is not None and _is_object(custom) else None
        return state

    def load_state_dict(self, state_dict):
        custom, state = self._scale_fn_custom, dict(state_dict)
        attributes = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if attributes is not None and custom is not None:
            vars(custom).update(attributes)


class OneCycleLR(_OfMomentums):
    """Up from max_lr / div_factor to max_lr in the first pct_start of the steps, then down to the initial rate / final_div_factor, the
    momentum the other way: Smith and Topin (2018). three_phase goes down to the initial rate first."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        for name, count in (("total_steps", total_steps), ("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
            if count is not None and (not isinstance(count, int) or count <= 0):
                raise ValueError(f"Expected positive integer {name}, but got {count}")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.optimizer = optimizer
        self.total_steps = total_steps if total_steps is not None else epochs * steps_per_epoch
        up = float(pct_start * self.total_steps) - 1
        if three_phase:
            self._schedule_phases = [
                _phase(up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                _phase(
                    float(2 * pct_start * self.total_steps) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum"
                ),
                _phase(self.total_steps - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum"),
            ]
        else:
            self._schedule_phases = [
                _phase(up, "initial_lr", "max_lr", "max_momentum", "base_momentum"),
                _phase(self.total_steps - 1, "max_lr", "min_lr", "base_momentum", "max_momentum"),
            ]
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for group, highest in zip(optimizer.param_groups, _per_group("max_lr", optimizer, max_lr)):
                group["initial_lr"] = highest / div_factor
                group["max_lr"] = highest
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momentums(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def _anneal(self, start, end, part):
        if self._anneal_func_type == "linear":
            return (end - start) * part + start
        return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

    def get_lr(self):
        step, phases = self.last_epoch, self._schedule_phases
        if step > self.total_steps:
            raise ValueError(f"Tried to step {step} times. The specified number of total steps is {self.total_steps}")
        at = next((i for i, phase in enumerate(phases) if step <= phase["end_step"]), len(phases) - 1)
        phase, start = phases[at], phases[at - 1]["end_step"] if at else 0.0
        part = (step - start) / (phase["end_step"] - start)
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(self._anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                self._set_momentum(
                    group, self._anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                )
        return rates


def _phase(end, start_lr, end_lr, start_momentum, end_momentum):
    return {
        "end_step": end,
        "start_lr": start_lr,
        "end_lr": end_lr,
        "start_momentum": start_momentum,
        "end_momentum": end_momentum,
    }


def _per_group(name, optimizer, value):
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has "
            f"{groups}."
        )
    return list(value)


class ReduceLROnPlateau(LRScheduler):
    """Times factor once the metric, which step(metric) is given, was no better for more than `patience` epochs."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.default_min_lr, self.min_lrs = (
            (None if isinstance(min_lr, (list, tuple)) else min_lr),
            _per_group("min_lr", optimizer, min_lr),
        )
        self.last_epoch, self._last_lr = 0, self._rates()
        self._reset()

    def _reset(self):
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        sign = 1 if self.mode == "max" else -1
        needed = best * (1.0 + sign * self.threshold) if self.threshold_mode == "rel" else best + sign * self.threshold
        return a > needed if self.mode == "max" else a < needed

    def step(self, metrics, epoch=None):
        current = float(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._rates()

    def _reduce(self):
        for group, lowest in zip(self.optimizer.param_groups, self.min_lrs):
            rate = max(float(group["lr"]) * self.factor, lowest)
            if float(group["lr"]) - rate > self.eps:
                _set_rate(group, rate)


class _OfSchedulers(LRScheduler):
    """Schedulers of one optimizer; their states are in the state dict."""

    def _take(self, optimizer, schedulers):
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{type(self).__name__} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau) and isinstance(self, SequentialLR):
                raise ValueError(
                    "SequentialLR does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs"
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{type(self).__name__} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} of another one"
                )
        self.optimizer, self._schedulers = optimizer, list(schedulers)

    def state_dict(self):
        state = {key: value for key, value in super().state_dict().items() if key != "_schedulers"}
        return {**state, "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict):
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_OfSchedulers):
    """One scheduler after another: the next at each of the milestones, from its own epoch 0 on."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError("SequentialLR expects at least one scheduler to be chained, but got no scheduler.")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone "
                f"points, but got number of schedulers {len(schedulers)} and the number of milestones to be equal to "
                f"{len(milestones)}"
            )
        self._take(optimizer, schedulers)
        self._milestones, self.last_epoch = list(milestones), last_epoch + 1
        # Each has taken its first step when it was made; only the first one's is to count.
        for group in optimizer.param_groups:
            _set_rate(group, group["initial_lr"])
        self._undo()
        self._schedulers[0]._initial_step()
        self._last_lr = self._schedulers[0].get_last_lr()

    def _undo(self):
        for scheduler in self._schedulers:
            if isinstance(scheduler, _OfSchedulers):
                scheduler._undo()
            scheduler.last_epoch -= 1

    def _initial_step(self):
        self._schedulers[0]._initial_step()
        self.last_epoch += 1

    def step(self):
        self.last_epoch += 1
        at = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[at]
        if at > 0 and self._milestones[at - 1] == self.last_epoch:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "scheduler.step")  # the epoch is ours
                scheduler.step(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_OfSchedulers):
    """All schedulers at each step, one upon the other."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        self._take(optimizer or schedulers[0].optimizer, schedulers)
        self._last_lr = self._rates()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._rates()
