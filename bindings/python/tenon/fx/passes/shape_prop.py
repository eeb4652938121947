"""Shapes of a graph's values, found by running it."""

import traceback
import typing

import tenon
from tenon import _C
from tenon.fx.interpreter import Interpreter
from tenon.fx.node import map_aggregate


class TensorMetadata(typing.NamedTuple):
    """What is known of a tensor besides its values."""

    shape: tenon.Size
    dtype: tenon.dtype
    requires_grad: bool
    stride: tuple
    memory_format: typing.Any
    is_quantized: bool
    qparams: dict


def _extract_tensor_metadata(result, include_contiguity=True):
    memory_format = None
    if include_contiguity:
        formats = tenon.contiguous_format, tenon.channels_last, tenon.channels_last_3d
        for candidate, dimensions in zip(formats, (None, 4, 5)):
            if dimensions in (None, result.dim()) and result.is_contiguous(memory_format=candidate):
                memory_format = candidate
                break
    return TensorMetadata(
        result.shape, result.dtype, result.requires_grad, result.stride(), memory_format, result.is_quantized, {}
    )


class ShapeProp(Interpreter):
    """Runs a GraphModule and notes each value's shape in node.meta["tensor_meta"], its type in node.meta["type"]."""

    def __init__(self, gm, fake_mode=None):
        super().__init__(gm)
        if fake_mode is not None:
            raise NotImplementedError("ShapeProp: fake_mode is not supported; propagate() runs with tensors")
        self.real_module = self.module

    def run_node(self, n):
        try:
            result = super().run_node(n)
        except Exception as error:
            traceback.print_exc()
            raise RuntimeError(f"ShapeProp error for: node={n.format_node()} with meta={n.meta}") from error
        found = False

        def extract(value):
            nonlocal found
            if isinstance(value, _C.Tensor):
                found = True
                return _extract_tensor_metadata(value)
            return value

        meta = map_aggregate(result, extract)
        if found:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(result)
        return result

    def propagate(self, *args):
        """Runs the module with the arguments, and gives its result."""
        return super().run(*args)
