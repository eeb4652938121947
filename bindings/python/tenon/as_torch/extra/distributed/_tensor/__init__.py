"""Placements under their old name."""

from tenon.as_torch.extra.distributed.tensor import (
    Partial as Partial,
    Placement as Placement,
    Replicate as Replicate,
    Shard as Shard,
)
