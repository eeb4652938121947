"""A convolution, or a linear layer, and the batch norm behind it, as one layer, for evaluation."""

import copy

import tenon
from tenon.nn.parameter import Parameter

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]


def _fused(weight, bias, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape):
    bias = tenon.zeros_like(bn_rm) if bias is None else bias
    bn_w = tenon.ones_like(bn_rm) if bn_w is None else bn_w
    bn_b = tenon.zeros_like(bn_rm) if bn_b is None else bn_b
    scale = bn_w * tenon.rsqrt(bn_rv + bn_eps)
    return weight * scale.reshape(shape).to(weight.dtype), ((bias - bn_rm) * scale + bn_b).to(bias.dtype)


def _parameters(weight, bias, fused):
    requires = weight.requires_grad, bias.requires_grad if bias is not None else weight.requires_grad
    return tuple(Parameter(value.detach(), flag) for value, flag in zip(fused, requires, strict=True))


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    """The weight and bias of the convolution with the batch norm in it."""
    shape = [1, -1] if transpose else [-1, 1]
    shape += [1] * (conv_w.dim() - 2)
    return _parameters(conv_w, conv_b, _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape))


def fuse_conv_bn_eval(conv, bn, transpose=False):
    """A convolution that computes bn(conv(x)); both must be in evaluation."""
    if conv.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    fused = copy.deepcopy(conv)
    fused.weight, fused.bias = fuse_conv_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return fused


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    """The weight and bias of the linear layer with the batch norm in it."""
    return _parameters(linear_w, linear_b, _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1]))


def fuse_linear_bn_eval(linear, bn):
    """A linear layer that computes bn(linear(x)); both must be in evaluation."""
    if linear.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError(
            "To fuse, linear.out_features == bn.num_features or bn.num_features == 1, got "
            f"linear.out_features={linear.out_features} and bn.num_features={bn.num_features}"
        )
    fused = copy.deepcopy(linear)
    fused.weight, fused.bias = fuse_linear_bn_weights(
        fused.weight, fused.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return fused
