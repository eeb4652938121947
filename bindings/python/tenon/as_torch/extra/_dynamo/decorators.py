"""Decorators of the compiler, which does not exist: functions run as they are written."""

from tenon.as_torch.extra._dynamo import (
    disable as disable,
    forbid_in_graph as forbid_in_graph,
    mark_static_address as mark_static_address,
)
