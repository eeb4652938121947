"""What `import torch` finds in the processes that a program under tenon.as_torch starts: Tenon."""

import sys
from pathlib import Path

try:
    import tenon.as_torch  # noqa: F401  puts itself in this module's place
except ModuleNotFoundError as error:
    if error.name != "tenon":
        raise
    sys.path.append(str(Path(__file__).resolve().parents[4]))
    import tenon.as_torch  # noqa: F401
