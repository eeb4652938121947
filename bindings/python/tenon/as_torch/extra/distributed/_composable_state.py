"""torch.distributed._composable_state: what fully_shard() and replicate() note of modules, which are not there."""

from tenon.as_torch.extra._decorators import answer

_get_module_state = answer("_get_module_state", None, "None: nothing was noted of the module.")
