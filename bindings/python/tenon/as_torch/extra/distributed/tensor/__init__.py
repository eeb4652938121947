"""How a tensor would be spread over processes, as data. Tensors that are spread, DTensor, are missing."""

import dataclasses


class Placement:
    """The base of the three."""

    def is_shard(self, dim=None):
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self):
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op=None):
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclasses.dataclass(frozen=True)
class Shard(Placement):
    """Each process has a part along a dimension."""

    dim: int


@dataclasses.dataclass(frozen=True)
class Replicate(Placement):
    """Each process has all of it."""


@dataclasses.dataclass(frozen=True)
class Partial(Placement):
    """Each process has a term of a sum, or of another reduction."""

    reduce_op: str = "sum"
