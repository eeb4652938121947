"""Which of a file's tests are taken."""

import hashlib
import re

# Of a file with more tests, as many of them, chosen by the digest of their names.
MOST_TESTS = 300
# Parts of PyTorch that Tenon leaves out on purpose, as words of a test's name.
OUT_OF_SCOPE = re.compile(
    r"cuda|cudnn|gpu|jit(?!ter)|script(?!_)|torchdynamo|inductor|quant(?!ile)|qint|fake_tensor|named_?tensor|_names(_|$)|onnx|nested"
    r"|_rpc|python_ref|_refs_|_prims|conv_backend|complex32|chalf|mkldnn|xnnpack|caffe2|dynamo|nvprims|nnc|fuser",
    re.I,
)

# The same, as names that a test stops at: it uses what its own name does not say.
USES_OUT_OF_SCOPE = re.compile(
    r"torch\.(jit|fx|onnx|ao|nested|quantiz\w*|backends\.quantized|_empty_affine_quantized|_empty_per_channel\w*)\b|_Dtype|chalf"
    r"|complex32|qu?int\d|to_mkldnn|_dynamo|_inductor|ScriptModule|nested_tensor"
)


def taken(names):
    """The names to run, in their order; the same ones on each machine."""
    left = [name for name in names if not OUT_OF_SCOPE.search(name.partition(".")[2])]
    chosen = set(sorted(left, key=lambda name: hashlib.sha256(name.encode()).digest())[:MOST_TESTS])
    return [name for name in left if name in chosen]
