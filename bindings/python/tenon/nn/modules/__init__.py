"""The modules. Most are written by tenonc from modules.yaml, a file for each family of it."""

from tenon.nn.modules import (
    activation,
    channelshuffle,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    linear,
    loss,
    normalization,
    padding,
    pixelshuffle,
    pooling,
)
from tenon.nn.modules.activation import *  # noqa: F403
from tenon.nn.modules.adaptive import AdaptiveLogSoftmaxWithLoss
from tenon.nn.modules.batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d
from tenon.nn.modules.channelshuffle import *  # noqa: F403
from tenon.nn.modules.container import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from tenon.nn.modules.conv import *  # noqa: F403
from tenon.nn.modules.distance import *  # noqa: F403
from tenon.nn.modules.dropout import *  # noqa: F403
from tenon.nn.modules.flatten import *  # noqa: F403
from tenon.nn.modules.fold import *  # noqa: F403
from tenon.nn.modules.fractional_pooling import FractionalMaxPool2d, FractionalMaxPool3d
from tenon.nn.modules.instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
from tenon.nn.modules.linear import *  # noqa: F403
from tenon.nn.modules.linear_cross_entropy import LinearCrossEntropyLoss
from tenon.nn.modules.loss import *  # noqa: F403
from tenon.nn.modules.module import Module
from tenon.nn.modules.normalization import *  # noqa: F403
from tenon.nn.modules.padding import *  # noqa: F403
from tenon.nn.modules.pixelshuffle import *  # noqa: F403
from tenon.nn.modules.pooling import *  # noqa: F403
from tenon.nn.modules.rnn import GRU, LSTM, RNN, GRUCell, LSTMCell, RNNBase, RNNCell, RNNCellBase
from tenon.nn.modules.sparse import Embedding, EmbeddingBag
from tenon.nn.modules.sync_batchnorm import SyncBatchNorm
from tenon.nn.modules.transformer import (
    MultiheadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
)
from tenon.nn.modules.triplet import TripletMarginWithDistanceLoss
from tenon.nn.modules.upsampling import Upsample, UpsamplingBilinear2d, UpsamplingNearest2d

__all__ = [
    *activation.__all__,
    *channelshuffle.__all__,
    *conv.__all__,
    *distance.__all__,
    *dropout.__all__,
    *flatten.__all__,
    *fold.__all__,
    *linear.__all__,
    *loss.__all__,
    *normalization.__all__,
    *padding.__all__,
    *pixelshuffle.__all__,
    *pooling.__all__,
    "AdaptiveLogSoftmaxWithLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Embedding",
    "EmbeddingBag",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "GRU",
    "GRUCell",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LSTM",
    "LSTMCell",
    "LinearCrossEntropyLoss",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "ParameterDict",
    "ParameterList",
    "RNN",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "Sequential",
    "SyncBatchNorm",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TripletMarginWithDistanceLoss",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
]


def __getattr__(name):
    if name.startswith("Lazy"):
        from tenon.nn.modules import lazy

        if hasattr(lazy, name) and name != "LazyModuleMixin":
            return getattr(lazy, name)
    raise AttributeError(f"module 'tenon.nn.modules' has no attribute '{name}'")
