from tenon.nn.modules.activation import (
    CELU as CELU, ELU as ELU, GELU as GELU, GLU as GLU, Hardshrink as Hardshrink, Hardsigmoid as Hardsigmoid, Hardswish as Hardswish,
    Hardtanh as Hardtanh, LeakyReLU as LeakyReLU, LogSigmoid as LogSigmoid, LogSoftmax as LogSoftmax, Mish as Mish, PReLU as PReLU, RReLU as RReLU,
    ReLU as ReLU, ReLU6 as ReLU6, SELU as SELU, SiLU as SiLU, Sigmoid as Sigmoid, Softmax as Softmax, Softmax2d as Softmax2d,
    Softmin as Softmin, Softplus as Softplus, Softshrink as Softshrink, Softsign as Softsign, Tanh as Tanh, Tanhshrink as Tanhshrink,
    Threshold as Threshold,
)
from tenon.nn.modules.container import (
    ModuleDict as ModuleDict, ModuleList as ModuleList, ParameterDict as ParameterDict, ParameterList as ParameterList,
    Sequential as Sequential,
)
from tenon.nn.modules.conv import (
    Conv1d as Conv1d, Conv2d as Conv2d, Conv3d as Conv3d, ConvTranspose1d as ConvTranspose1d, ConvTranspose2d as ConvTranspose2d,
)
from tenon.nn.modules.layers import (
    AlphaDropout as AlphaDropout, Bilinear as Bilinear, CosineSimilarity as CosineSimilarity, Dropout as Dropout, Dropout1d as Dropout1d, Dropout2d as Dropout2d, Dropout3d as Dropout3d,
    Embedding as Embedding, EmbeddingBag as EmbeddingBag, FeatureAlphaDropout as FeatureAlphaDropout, Flatten as Flatten, Identity as Identity, Linear as Linear, PairwiseDistance as PairwiseDistance,
    Unflatten as Unflatten,
)
from tenon.nn.modules.loss import (
    BCELoss as BCELoss, BCEWithLogitsLoss as BCEWithLogitsLoss, CosineEmbeddingLoss as CosineEmbeddingLoss,
    CrossEntropyLoss as CrossEntropyLoss, GaussianNLLLoss as GaussianNLLLoss, HingeEmbeddingLoss as HingeEmbeddingLoss,
    HuberLoss as HuberLoss, KLDivLoss as KLDivLoss, L1Loss as L1Loss, MSELoss as MSELoss, MarginRankingLoss as MarginRankingLoss,
    NLLLoss as NLLLoss, PoissonNLLLoss as PoissonNLLLoss, SmoothL1Loss as SmoothL1Loss, SoftMarginLoss as SoftMarginLoss,
    TripletMarginLoss as TripletMarginLoss,
)
from tenon.nn.modules.module import Module as Module
from tenon.nn.modules.normalization import (
    BatchNorm1d as BatchNorm1d, BatchNorm2d as BatchNorm2d, BatchNorm3d as BatchNorm3d, GroupNorm as GroupNorm,
    InstanceNorm1d as InstanceNorm1d, InstanceNorm2d as InstanceNorm2d, InstanceNorm3d as InstanceNorm3d, LayerNorm as LayerNorm,
    RMSNorm as RMSNorm,
)
from tenon.nn.modules.padding import (
    CircularPad1d as CircularPad1d, CircularPad2d as CircularPad2d, CircularPad3d as CircularPad3d, ConstantPad1d as ConstantPad1d,
    ConstantPad2d as ConstantPad2d, ConstantPad3d as ConstantPad3d, ReflectionPad1d as ReflectionPad1d,
    ReflectionPad2d as ReflectionPad2d, ReflectionPad3d as ReflectionPad3d, ReplicationPad1d as ReplicationPad1d,
    ReplicationPad2d as ReplicationPad2d, ReplicationPad3d as ReplicationPad3d, ZeroPad1d as ZeroPad1d, ZeroPad2d as ZeroPad2d,
    ZeroPad3d as ZeroPad3d,
)
from tenon.nn.modules.pooling import (
    AdaptiveAvgPool1d as AdaptiveAvgPool1d, AdaptiveAvgPool2d as AdaptiveAvgPool2d, AdaptiveAvgPool3d as AdaptiveAvgPool3d,
    AdaptiveMaxPool1d as AdaptiveMaxPool1d, AdaptiveMaxPool2d as AdaptiveMaxPool2d, AdaptiveMaxPool3d as AdaptiveMaxPool3d,
    AvgPool1d as AvgPool1d, AvgPool2d as AvgPool2d, AvgPool3d as AvgPool3d, MaxPool1d as MaxPool1d, MaxPool2d as MaxPool2d,
    MaxPool3d as MaxPool3d,
)
from tenon.nn.modules.rnn import (
    GRU as GRU, GRUCell as GRUCell, LSTM as LSTM, LSTMCell as LSTMCell, RNN as RNN, RNNBase as RNNBase, RNNCell as RNNCell,
    RNNCellBase as RNNCellBase,
)
from tenon.nn.modules.sync_batchnorm import SyncBatchNorm as SyncBatchNorm
from tenon.nn.modules.transformer import (
    MultiheadAttention as MultiheadAttention, Transformer as Transformer, TransformerDecoder as TransformerDecoder,
    TransformerDecoderLayer as TransformerDecoderLayer, TransformerEncoder as TransformerEncoder,
    TransformerEncoderLayer as TransformerEncoderLayer,
)
from tenon.nn.modules.upsampling import (
    Upsample as Upsample, UpsamplingBilinear2d as UpsamplingBilinear2d, UpsamplingNearest2d as UpsamplingNearest2d,
)
