"""Private names of torch._C._nn that programs use."""

from tenon.as_torch.extra._C import _parse_to as _parse_to
