"""Questions of PyTorch's profiler."""

from tenon.as_torch.extra._decorators import answer

kineto_available = answer("kineto_available", False, "False: Tenon's profiler is its own.")
