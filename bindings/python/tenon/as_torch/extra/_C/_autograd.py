"""Private names of torch._C._autograd that programs use."""

from tenon._C import SavedTensor as SavedTensor
