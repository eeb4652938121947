"""Mixed precision on the CPU in its file."""

from tenon.as_torch.extra.cpu.amp import autocast as autocast
