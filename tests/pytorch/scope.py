"""Which of a file's tests are taken."""

import hashlib
import re

# Of a file with more tests, as many of them, chosen by the digest of their names.
MOST_TESTS = 150
# Parts of PyTorch that Tenon leaves out on purpose, as words of a test's name.
OUT_OF_SCOPE = re.compile(
    r"cuda|cudnn|gpu|jit(?!ter)|script(?!_)|torchdynamo|inductor|quant(?!ile)|qint|fake_tensor|named_?tensor|_names(_|$)|onnx|nested"
    r"|_rpc|complex32|chalf|mkldnn|xnnpack|caffe2|dynamo|nvprims|nnc|fuser",
    re.I,
)


def taken(names):
    """The names to run, in their order; the same ones on each machine."""
    left = [name for name in names if not OUT_OF_SCOPE.search(name.partition(".")[2])]
    chosen = set(sorted(left, key=lambda name: hashlib.sha256(name.encode()).digest())[:MOST_TESTS])
    return [name for name in left if name in chosen]
