"""Names of torch.distributed that only programs for PyTorch ask for."""


def install(distributed):
    """ReduceOp's values are of a class that has a name of its own in PyTorch."""
    if distributed.is_available():
        distributed.ReduceOp.RedOpType = distributed.ReduceOp
