"""What this Tenon is."""

from tenon import _C

__all__ = ["__version__", "cuda", "debug", "git_version", "hip", "xpu"]

__version__ = "0.2.0"
debug = False
# The release of CUDA that the build is for; None without.
cuda = _C._has["cuda_version"]
hip = xpu = git_version = None
