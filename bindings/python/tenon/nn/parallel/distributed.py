"""One model on several ranks."""

import contextlib
import dataclasses

import tenon
from tenon.nn.modules.module import Module

_PREFIX = "module."


def _map_tensors(value, f):
    """`value` with f(tensor) in the place of each tensor, in nested tuples, lists, dicts and dataclasses."""
    if isinstance(value, tenon.Tensor):
        return f(value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_map_tensors(v, f) for v in value))
    if isinstance(value, (list, tuple)):
        return type(value)(_map_tensors(v, f) for v in value)
    if isinstance(value, dict):
        mapped = value.copy()
        mapped.update((k, _map_tensors(v, f)) for k, v in value.items())
        return mapped
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.replace(
            value, **{d.name: _map_tensors(getattr(value, d.name), f) for d in dataclasses.fields(value) if d.init}
        )
    return value


def _device_ids(module, device_ids, output_device):
    """The GPU that the module is on, as ([number], number); (None, None) for other modules and where nobody says which."""
    devices = {p.device for p in module.parameters()}
    kinds = {d.type for d in devices}
    if len(kinds) > 1:
        raise ValueError(
            "DistributedDataParallel's input module must be on the same type of devices, but input module parameters "
            f"locate in {kinds}."
        )
    if device_ids is not None and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    if not device_ids or kinds <= {"cpu"} or len(devices) > 1:
        if device_ids or output_device is not None:
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with single-device/multiple-device "
                f"GPU modules or CPU modules, but got device_ids {device_ids}, output_device {output_device}, and module "
                f"parameters {devices}."
            )
        return None, None
    own = next(iter(devices))

    def number(device):
        given = tenon.device(own.type, device) if isinstance(device, int) else tenon.device(device)
        if given.type != own.type or given.index is None:
            raise ValueError(f"DistributedDataParallel: expected a {own.type} device with a number, got {device}")
        return given.index

    if number(device_ids[0]) != own.index:
        raise ValueError(f"DistributedDataParallel: the module is on {own}, got device_ids {device_ids}")
    return [own.index], own.index if output_device is None else number(output_device)


class _JoinHook:
    """What a rank that is through does in the place of its replica."""

    def __init__(self, ddp):
        self._replica, self._buffers = ddp._replica, ddp._buffer_list

    def main_hook(self):
        self._replica.shadow_iteration(self._buffers())

    def post_hook(self, is_last_joiner):
        self._replica.agree_with_last(is_last_joiner, self._buffers())

    def end(self):
        self._replica.end_join()


class DistributedDataParallel(Module):
    """A module that is trained on several ranks, each with its own part of a batch: after backward() every rank has the gradients' mean.

    Rank 0's parameters and buffers go to all when it is made; DistBackendError on every rank, with the first difference, if the modules
    differ. device_ids: the one GPU, a number or a device, that a module on one GPU is on; forward's inputs are moved to it.
    """

    _join = None  # the tenon.distributed.algorithms.join.Join that it is in

    def __init__(
        self,
        module,
        device_ids=None,
        output_device=None,
        dim=0,
        broadcast_buffers=None,
        init_sync=True,
        process_group=None,
        bucket_cap_mb=None,
        find_unused_parameters=False,
        check_reduction=False,
        gradient_as_bucket_view=False,
        static_graph=False,
        delay_all_reduce_named_params=None,
        param_to_hook_all_reduce=None,
        mixed_precision=None,
        device_mesh=None,
        skip_all_reduce_unused_params=False,
        bucket_cap_mb_list=None,
        batched_grad_copy=False,
        forward_sync_buffers=None,
        lazy_bucket_allocation=False,
    ):
        super().__init__()
        from tenon import distributed

        if not distributed.is_available():
            raise RuntimeError("DistributedDataParallel: this build of Tenon is without tenon.distributed")
        self.device_ids, self.output_device = _device_ids(module, device_ids, output_device)
        for name, value in (
            ("delay_all_reduce_named_params", delay_all_reduce_named_params),
            ("mixed_precision", mixed_precision),
            ("param_to_hook_all_reduce", param_to_hook_all_reduce),
            ("device_mesh", device_mesh),
            ("skip_all_reduce_unused_params", skip_all_reduce_unused_params or None),
            ("bucket_cap_mb_list", bucket_cap_mb_list),
            ("batched_grad_copy", batched_grad_copy or None),
            ("forward_sync_buffers", forward_sync_buffers),
            ("lazy_bucket_allocation", lazy_bucket_allocation or None),
        ):
            if value is not None:
                raise NotImplementedError(f"DistributedDataParallel: {name}")
        self.module = module
        self.dim = dim
        self.device = next(module.parameters()).device if any(True for _ in module.parameters()) else None
        self.broadcast_buffers = broadcast_buffers is None or broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view, self.static_graph = gradient_as_bucket_view, static_graph
        self.bucket_bytes_cap = int((25 if bucket_cap_mb is None else bucket_cap_mb) * 1024 * 1024)
        self.parameters_to_ignore = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        self.process_group = distributed.distributed_c10d._resolved(process_group)
        self._make_replica(init_sync)

    def _make_replica(self, init_sync):
        from tenon import _distributed as _C

        parameters = [(name, p) for name, p in self.module.named_parameters() if name not in self.parameters_to_ignore]
        self._replica = _C._Replica(
            type(self.module).__name__,
            parameters,
            self._named_buffers(),
            self.process_group,
            self.bucket_bytes_cap / (1024 * 1024),
            self.find_unused_parameters,
            self.static_graph,
            self.broadcast_buffers,
            self.gradient_as_bucket_view,
            init_sync,
        )

    def __getstate__(self):
        """What is pickled or copied: all but the group, which must be the default one, and a hook."""
        from tenon import distributed

        if self.process_group is not distributed.group.WORLD:
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. "
                "That is, when you have called init_process_group and have not passed process_group argument to DDP constructor"
            )
        state = self.__dict__.copy()
        for name in ("_replica", "process_group", "_join"):
            state.pop(name, None)
        return state

    def __setstate__(self, state):
        """The ranks' models must be equal already."""
        from tenon import distributed

        self.__dict__.update(state)
        self.process_group = distributed.distributed_c10d._resolved(None)
        self._make_replica(False)

    def _named_buffers(self):
        return [(name, b) for name, b in self.module.named_buffers() if name not in self.parameters_to_ignore]

    def _buffer_list(self):
        return [b for _, b in self._named_buffers()]

    @property
    def require_backward_grad_sync(self):
        """Whether forward calls are to be reduced; no_sync() clears it."""
        return self._replica.sync

    @require_backward_grad_sync.setter
    def require_backward_grad_sync(self, sync):
        self._replica.sync = sync

    def forward(self, *inputs, **kwargs):
        replica = self._replica
        if self.device_ids is not None:
            device = tenon.device(self.device.type, self.device_ids[0])
            inputs, kwargs = (_map_tensors(value, lambda t: t.to(device)) for value in (inputs, kwargs))
        if not replica.requires_grad_sync:
            return self.module(*inputs, **kwargs)
        if self._join is not None:
            self._join.notify_join_context(self)
        replica.before_forward(self._buffer_list())
        output = self.module(*inputs, **kwargs)
        tensors = []
        _map_tensors(output, tensors.append)
        hooked = iter(replica.prepare_for_backward(tensors))
        return _map_tensors(output, lambda _: next(hooked))

    @contextlib.contextmanager
    def no_sync(self):
        """Within it gradients are added up on each rank, for the first pass of a forward call after it. The forward calls belong within."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    @contextlib.contextmanager
    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """A loop of iterations of which ranks may have different numbers: a rank that is through takes part in what the others do."""
        if not enable:
            yield
            return
        self._replica.begin_join(divide_by_initial_world_size, throw_on_early_termination)
        try:
            yield
            self._replica.finish_join(self._buffer_list())
        finally:
            self._replica.end_join()

    def join_hook(self, divide_by_initial_world_size=True, **kwargs):
        """For tenon.distributed.algorithms.join.Join, where other objects join as well."""
        self._replica.begin_join(divide_by_initial_world_size, False)
        return _JoinHook(self)

    @property
    def join_device(self):
        return self.device

    @property
    def join_process_group(self):
        return self.process_group

    def register_comm_hook(self, state, hook):
        """hook(state, bucket) -> Future of the buffer's mean over the ranks takes the place of all_reduce. Once only."""
        from tenon.distributed._ddp import NativeHook

        if isinstance(hook, NativeHook) and getattr(state, "process_group", state) in (None, self.process_group):
            self._replica.register_native_hook(hook.native(state))
            return
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        self._replica.register_python_hook(state, hook)

    def load_state_dict(self, state_dict, strict=True, assign=False):
        """Takes keys with and without "module."."""
        if state_dict and not any(key.startswith(_PREFIX) for key in state_dict):
            metadata = getattr(state_dict, "_metadata", None)
            state_dict = type(state_dict)((_PREFIX + key, value) for key, value in state_dict.items())
            if metadata is not None:
                state_dict._metadata = {(_PREFIX + key).rstrip("."): value for key, value in metadata.items()}
        return super().load_state_dict(state_dict, strict, assign)

    def timeline(self):
        """What the last backward pass did: a DdpTimeline."""
        return self._replica.timeline()

    def _get_ddp_logging_data(self):
        """What PyTorch's function of this name says of the last iteration, in nanoseconds."""
        timeline = self.timeline()
        return {
            "world_size": self.process_group.size(),
            "rank": self.process_group.rank(),
            "backend_name": self.process_group.name(),
            "module_name": type(self.module).__name__,
            "bucket_cap_bytes": self.bucket_bytes_cap,
            "find_unused_parameters": self.find_unused_parameters,
            "gradient_as_bucket_view": self.gradient_as_bucket_view,
            "broadcast_buffers": self.broadcast_buffers,
            "static_graph": self.static_graph,
            "bucket_sizes": ", ".join(str(b) for b in timeline.bucket_bytes),
            "prev_iteration_grad_ready_order_indices": ", ".join(str(i) for i in timeline.ready_order),
            "forward_compute_time": timeline.forward,
            "backward_compute_time": timeline.last_gradient,
            "backward_comm_time": timeline.communication(),
            "backward_compute_comm_overlap_time": timeline.overlap(),
        }

    def buckets(self):
        """Numbers of parameters, bucket by bucket."""
        return self._replica.buckets()
