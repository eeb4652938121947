"""torch.onnx: nothing is exported. Functions that say how an operator would be are taken and not used."""

from tenon.as_torch.extra._decorators import answer

is_in_onnx_export = answer("is_in_onnx_export", False, "False: nothing is exported.")
register_custom_op_symbolic = answer("register_custom_op_symbolic", None, "No effect: nothing is exported.")
unregister_custom_op_symbolic = answer("unregister_custom_op_symbolic", None, "No effect: nothing is exported.")
