"""The package functorch, which PyTorch installs: see torch.func."""

from tenon.as_torch.extra.func import functional_call as functional_call
