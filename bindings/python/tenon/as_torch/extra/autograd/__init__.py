"""Names of torch.autograd that only programs for PyTorch ask for."""

import sys

from tenon._C import SavedTensor as SavedTensor
from tenon.as_torch.extra._decorators import answer

kineto_available = answer("kineto_available", False, "False: Tenon's profiler is its own.")
torch = sys.modules["torch"]
