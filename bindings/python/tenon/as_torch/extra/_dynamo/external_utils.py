"""Whether a compiler is at work: never."""

from tenon.as_torch.extra.compiler import is_compiling as is_compiling
