"""Names of torch.nn that only programs for PyTorch ask for."""

import warnings

from tenon import nn


class NLLLoss2d(nn.NLLLoss):
    """The deprecated name of NLLLoss."""

    def __init__(self, *args, **kwargs):
        warnings.warn("NLLLoss2d has been deprecated. Please use NLLLoss instead.", FutureWarning, stacklevel=2)
        super().__init__(*args, **kwargs)
