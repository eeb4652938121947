"""torch.func: what needs no transforms."""

from tenon.nn.utils.stateless import functional_call as functional_call
