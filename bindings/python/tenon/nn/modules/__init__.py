from tenon.nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from tenon.nn.modules.layers import *  # noqa: F403
from tenon.nn.modules.layers import __all__ as _layers
from tenon.nn.modules.module import Module
from tenon.nn.modules.sync_batchnorm import SyncBatchNorm

__all__ = ["Module", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential", "SyncBatchNorm", *_layers]
