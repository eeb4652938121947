"""Names of torch.distributed that only programs for PyTorch ask for."""

from tenon.as_torch.extra.distributed.constants import default_pg_timeout as default_pg_timeout


def install(distributed):
    """ReduceOp's values are of a class that has a name of its own in PyTorch."""
    if distributed.is_available():
        distributed.ReduceOp.RedOpType = distributed.ReduceOp
