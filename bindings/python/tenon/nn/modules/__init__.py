from tenon.nn.modules.container import (
    ModuleDict as ModuleDict, ModuleList as ModuleList, ParameterDict as ParameterDict, ParameterList as ParameterList,
    Sequential as Sequential,
)
from tenon.nn.modules.layers import (
    AdaptiveAvgPool2d as AdaptiveAvgPool2d, AvgPool2d as AvgPool2d, BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d,
    BatchNorm3d as BatchNorm3d, Conv1d as Conv1d, Conv2d as Conv2d, Conv3d as Conv3d, CrossEntropyLoss as CrossEntropyLoss,
    Dropout as Dropout, ELU as ELU, Embedding as Embedding, Flatten as Flatten, GELU as GELU, Hardsigmoid as Hardsigmoid,
    Hardswish as Hardswish, Hardtanh as Hardtanh, Identity as Identity, LayerNorm as LayerNorm, LeakyReLU as LeakyReLU,
    Linear as Linear, LogSigmoid as LogSigmoid, LogSoftmax as LogSoftmax, MSELoss as MSELoss, MaxPool2d as MaxPool2d,
    Mish as Mish, NLLLoss as NLLLoss, ReLU as ReLU, ReLU6 as ReLU6, SELU as SELU, SiLU as SiLU, Sigmoid as Sigmoid,
    Softmax as Softmax, Softplus as Softplus, Tanh as Tanh, Unflatten as Unflatten,
)
from tenon.nn.modules.module import Module as Module
from tenon.nn.modules.sync_batchnorm import SyncBatchNorm as SyncBatchNorm
