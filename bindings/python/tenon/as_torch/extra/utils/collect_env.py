"""What this environment is, as text."""

import platform
import sys

import tenon
from tenon.as_torch._names import VERSION
from tenon.as_torch.extra.__config__ import parallel_info, show


def get_pretty_env_info():
    """Versions of Tenon, Python and the system, and what the build has."""
    return "\n".join(
        [
            f"Tenon version: {tenon.__version__}, in the place of PyTorch {VERSION}",
            f"CUDA used to build Tenon: {tenon.version.cuda}",
            f"Is CUDA available: {tenon.cuda.is_available()}",
            f"Python version: {sys.version.splitlines()[0]}",
            f"Python platform: {platform.platform()}",
            show(),
            parallel_info(),
        ]
    )


def main():
    """Prints it."""
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
