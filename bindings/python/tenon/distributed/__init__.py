"""Training with several processes. Names and meanings are those of torch.distributed; for tensors of the CPU.

Example:

    import tenon.distributed as dist

    dist.init_process_group()          # python -m tenon.distributed.run --nproc-per-node 2 train.py
    dist.all_reduce(tensor)
"""

try:
    import tenon._distributed as _C  # noqa: F401
except ModuleNotFoundError as _error:
    if _error.name != "tenon._distributed":
        raise
    _C = None


def is_available():
    """Whether this build has it. Without it this module holds nothing else."""
    return _C is not None


if is_available():
    from tenon._distributed import (  # noqa: F401
        FileStore,
        GradBucket,
        GradBucket as _GradBucket,  # noqa: F401  PyTorch's name of it
        HashStore,
        PrefixStore,
        ProcessGroup,
        ReduceOp,
        Store,
        TCPStore,
        Work,
    )
    from tenon.distributed._group_methods import (  # noqa: F401
        AllgatherOptions,
        AllreduceOptions,
        AllToAllOptions,
        BarrierOptions,
        BroadcastOptions,
        GatherOptions,
        ReduceOptions,
        ReduceScatterOptions,
        ScatterOptions,
        install as _install,
    )
    from tenon.distributed.device_mesh import DeviceMesh, init_device_mesh  # noqa: F401
    from tenon.distributed.distributed_c10d import *  # noqa: F403
    from tenon.distributed.distributed_c10d import (  # noqa: F401
        DistBackendError,
        DistError,
        DistNetworkError,
        DistStoreError,
        _broadcast_coalesced,
    )
    from tenon.distributed.rendezvous import rendezvous  # noqa: F401

    _install(ProcessGroup)

else:

    def __getattr__(name):
        raise AttributeError(
            f"module 'tenon.distributed' has no attribute '{name}': this build of Tenon is without the library "
            "tenon_distributed and its Python module tenon._distributed"
        )
