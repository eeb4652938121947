"""The operators of modules as functions of tensors."""

from tenon.nn.functional.activation import *  # noqa: F403
from tenon.nn.functional.attention import *  # noqa: F403
from tenon.nn.functional.chunked_loss import *  # noqa: F403
from tenon.nn.functional.distance import *  # noqa: F403
from tenon.nn.functional.dropout import *  # noqa: F403
from tenon.nn.functional.embedding import *  # noqa: F403
from tenon.nn.functional.grouped import *  # noqa: F403
from tenon.nn.functional.linear import *  # noqa: F403
from tenon.nn.functional.loss import *  # noqa: F403
from tenon.nn.functional.normalization import *  # noqa: F403
from tenon.nn.functional.pooling import *  # noqa: F403
from tenon.nn.functional.sampling import *  # noqa: F403
