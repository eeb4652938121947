"""Whether C++ and Python start modules with the same numbers and compute the same ones from them, and PyTorch too where it is.

both_languages.py PROGRAM: module_outputs, which writes what C++ has.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import tenon

try:
    import torch
except ImportError:
    torch = None

SHAPES = {"rows": (4, 6), "line": (2, 4, 12), "image": (2, 4, 8, 8), "volume": (2, 4, 6, 6, 6)}
# The module as Python makes it, and its inputs: as in outputs.cpp.
CASES = {
    "ELU": ("ELU(1.5)", "rows"),
    "SELU": ("SELU()", "rows"),
    "CELU": ("CELU(2.0)", "rows"),
    "ReLU": ("ReLU()", "rows"),
    "ReLU6": ("ReLU6()", "rows"),
    "LeakyReLU": ("LeakyReLU(0.2)", "rows"),
    "RReLU": ("RReLU()", "rows"),
    "PReLU": ("PReLU(1)", "rows"),
    "Hardtanh": ("Hardtanh()", "rows"),
    "Threshold": ("Threshold(0.1, 20.0)", "rows"),
    "GELU": ("GELU('tanh')", "rows"),
    "SiLU": ("SiLU()", "rows"),
    "Mish": ("Mish()", "rows"),
    "Hardswish": ("Hardswish()", "rows"),
    "Hardsigmoid": ("Hardsigmoid()", "rows"),
    "LogSigmoid": ("LogSigmoid()", "rows"),
    "Sigmoid": ("Sigmoid()", "rows"),
    "Tanh": ("Tanh()", "rows"),
    "Softplus": ("Softplus(2.0)", "rows"),
    "Softshrink": ("Softshrink(0.3)", "rows"),
    "Hardshrink": ("Hardshrink(0.3)", "rows"),
    "Tanhshrink": ("Tanhshrink()", "rows"),
    "Softsign": ("Softsign()", "rows"),
    "GLU": ("GLU(1)", "rows"),
    "Softmax": ("Softmax(1)", "rows"),
    "Softmin": ("Softmin(1)", "rows"),
    "LogSoftmax": ("LogSoftmax(1)", "rows"),
    "Softmax2d": ("Softmax2d()", "image"),
    "Identity": ("Identity()", "rows"),
    "Linear": ("Linear(6, 3)", "rows"),
    "Linear without bias": ("Linear(6, 3, bias=False)", "rows"),
    "Bilinear": ("Bilinear(6, 6, 3)", "rows", "rows"),
    "Flatten": ("Flatten()", "image"),
    "CosineSimilarity": ("CosineSimilarity(1)", "rows", "rows"),
    "PairwiseDistance": ("PairwiseDistance(3.0)", "rows", "rows"),
    "Dropout": ("Dropout(0.3)", "rows"),
    "Dropout1d": ("Dropout1d(0.3)", "line"),
    "Dropout2d": ("Dropout2d(0.3)", "image"),
    "Dropout3d": ("Dropout3d(0.3)", "volume"),
    "AlphaDropout": ("AlphaDropout(0.3)", "rows"),
    "FeatureAlphaDropout": ("FeatureAlphaDropout(0.3)", "image"),
    "Embedding": ("Embedding(6, 3, padding_idx=1)", "classes"),
    "Conv1d": ("Conv1d(4, 6, 3)", "line"),
    "Conv2d": ("Conv2d(4, 6, 3, stride=2, padding=1, groups=2)", "image"),
    "Conv2d reflected": ("Conv2d(4, 6, 3, padding=1, padding_mode='reflect')", "image"),
    "Conv2d same": ("Conv2d(4, 6, 3, padding='same')", "image"),
    "Conv3d": ("Conv3d(4, 6, 3)", "volume"),
    "ConvTranspose1d": ("ConvTranspose1d(4, 6, 3)", "line"),
    "ConvTranspose2d": ("ConvTranspose2d(4, 6, 3, stride=2)", "image"),
    "ConvTranspose3d": ("ConvTranspose3d(4, 6, 3)", "volume"),
    "BatchNorm1d": ("BatchNorm1d(4)", "line"),
    "BatchNorm2d": ("BatchNorm2d(4)", "image"),
    "BatchNorm3d": ("BatchNorm3d(4)", "volume"),
    "InstanceNorm1d": ("InstanceNorm1d(4)", "line"),
    "InstanceNorm2d": ("InstanceNorm2d(4, affine=True)", "image"),
    "InstanceNorm3d": ("InstanceNorm3d(4)", "volume"),
    "LayerNorm": ("LayerNorm(6)", "rows"),
    "RMSNorm": ("RMSNorm(6)", "rows"),
    "GroupNorm": ("GroupNorm(2, 4)", "image"),
    "LocalResponseNorm": ("LocalResponseNorm(2)", "image"),
    "MaxPool1d": ("MaxPool1d(3)", "line"),
    "MaxPool2d": ("MaxPool2d(3, stride=2, padding=1)", "image"),
    "MaxPool3d": ("MaxPool3d(2)", "volume"),
    "AvgPool1d": ("AvgPool1d(3)", "line"),
    "AvgPool2d": ("AvgPool2d(3)", "image"),
    "AvgPool3d": ("AvgPool3d(2)", "volume"),
    "AdaptiveAvgPool1d": ("AdaptiveAvgPool1d(5)", "line"),
    "AdaptiveAvgPool2d": ("AdaptiveAvgPool2d(3)", "image"),
    "AdaptiveMaxPool2d": ("AdaptiveMaxPool2d(3)", "image"),
    "LPPool1d": ("LPPool1d(2.0, 3)", "line"),
    "LPPool2d": ("LPPool2d(2.0, 3)", "image"),
    "ZeroPad2d": ("ZeroPad2d(1)", "image"),
    "ConstantPad1d": ("ConstantPad1d(2, 3.5)", "line"),
    "ReflectionPad2d": ("ReflectionPad2d(2)", "image"),
    "ReplicationPad3d": ("ReplicationPad3d(1)", "volume"),
    "CircularPad2d": ("CircularPad2d(1)", "image"),
    "PixelShuffle": ("PixelShuffle(2)", "image"),
    "PixelUnshuffle": ("PixelUnshuffle(2)", "image"),
    "ChannelShuffle": ("ChannelShuffle(2)", "image"),
    "Upsample": ("Upsample(scale_factor=(2.0, 2.0), mode='bilinear')", "image"),
    "Unfold": ("Unfold(3)", "image"),
    "L1Loss": ("L1Loss()", "rows", "rows"),
    "MSELoss": ("MSELoss(reduction='sum')", "rows", "rows"),
    "SmoothL1Loss": ("SmoothL1Loss()", "rows", "rows"),
    "HuberLoss": ("HuberLoss()", "rows", "rows"),
    "KLDivLoss": ("KLDivLoss(reduction='batchmean')", "rows", "share"),
    "BCELoss": ("BCELoss()", "share", "share"),
    "BCEWithLogitsLoss": ("BCEWithLogitsLoss()", "rows", "share"),
    "NLLLoss": ("NLLLoss()", "rows", "classes"),
    "CrossEntropyLoss": ("CrossEntropyLoss(label_smoothing=0.1)", "rows", "classes"),
    "PoissonNLLLoss": ("PoissonNLLLoss()", "rows", "share"),
    "SoftMarginLoss": ("SoftMarginLoss()", "rows", "rows"),
    "MultiLabelSoftMarginLoss": ("MultiLabelSoftMarginLoss()", "rows", "share"),
    "MultiMarginLoss": ("MultiMarginLoss()", "rows", "classes"),
    "TripletMarginLoss": ("TripletMarginLoss()", "rows", "rows", "rows"),
    "GaussianNLLLoss": ("GaussianNLLLoss()", "rows", "rows", "share"),
}
# Their masks are drawn from a stream of Tenon's own, which is the same for any number of threads.
OTHER_STREAM = {"Dropout", "Dropout1d", "Dropout2d", "Dropout3d"}


def draw(library, kind):
    if kind == "classes":
        return library.randint(6, (4,))
    return library.rand(4, 6) if kind == "share" else library.randn(*SHAPES[kind])


def outputs_of(library, name):
    """The state before the call and the output. C++ evaluates arguments from the last to the first, or otherwise: all orders are tried."""
    text, *kinds = CASES[name]
    for order in (range(len(kinds)), reversed(range(len(kinds)))):
        library.manual_seed(7)
        module = eval(f"nn.{text}", {"nn": library.nn})
        state = {key: value.clone() for key, value in module.state_dict().items()}
        inputs = {}
        for i in order:
            inputs[i] = draw(library, kinds[i])
        yield {**state, "output": module(*(inputs[i] for i in range(len(kinds)))).detach()}


def same(ours, theirs, exact):
    if list(ours) != list(theirs):
        return False
    for key, value in ours.items():
        a, b = tenon.as_tensor(value), tenon.as_tensor(theirs[key])
        if a.shape != b.shape or not (tenon.equal(a, b) if exact else tenon.allclose(a, b, rtol=1e-5, atol=1e-6)):
            return False
    return True


def main():
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "outputs.pt"
        subprocess.run([sys.argv[1], file], check=True)
        from_cpp = tenon.load(file)
    assert list(from_cpp) == list(CASES), "outputs.cpp and both_languages.py have different cases"
    wrong = []
    for name, values in from_cpp.items():
        if not any(same(values, python, exact=True) for python in outputs_of(tenon, name)):
            wrong.append(f"{name}: C++ and Python differ")
        if (
            torch
            and name not in OTHER_STREAM
            and not any(
                same(values, {k: tenon.from_numpy(v.numpy()) for k, v in theirs.items()}, exact=False)
                for theirs in outputs_of(torch, name)
            )
        ):
            wrong.append(f"{name}: C++ and PyTorch differ")
    print(*wrong, f"{len(CASES)} modules, {len(wrong)} differences", sep="\n")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
