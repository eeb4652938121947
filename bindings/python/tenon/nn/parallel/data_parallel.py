"""A module on the devices of one process: here on one at most."""

import tenon
from tenon.nn.modules.module import Module


def _placed(value, device):
    if isinstance(value, tenon.Tensor):
        return value.to(device)
    if isinstance(value, dict):
        return type(value)({key: _placed(v, device) for key, v in value.items()})
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_placed(v, device) for v in value))
    return type(value)(_placed(v, device) for v in value) if isinstance(value, (list, tuple)) else value


class DataParallel(Module):
    """The module itself: without GPUs as it is, with GPUs on the first of device_ids, to which the arguments are moved.

    Batches are not divided over several GPUs: nn.parallel.DistributedDataParallel does that, with a process for each.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.dim = module, dim
        self.device_ids, self.output_device = [], None
        if not tenon.cuda.is_available():
            return
        devices = range(tenon.cuda.device_count()) if device_ids is None else device_ids
        self.device_ids = [
            tenon.device("cuda", d).index if isinstance(d, int) else tenon.device(d).index for d in devices
        ]
        if len(self.device_ids) > 1:
            raise NotImplementedError(
                f"DataParallel runs on one GPU, got device_ids {self.device_ids}: use nn.parallel.DistributedDataParallel"
            )
        if self.device_ids:
            self.output_device = self.device_ids[0] if output_device is None else output_device
            self.module.to(tenon.device("cuda", self.device_ids[0]))

    def forward(self, *inputs, **kwargs):
        if self.device_ids:
            device = tenon.device("cuda", self.device_ids[0])
            inputs, kwargs = _placed(inputs, device), _placed(kwargs, device)
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """module(*inputs, **module_kwargs) as DataParallel computes it."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))
