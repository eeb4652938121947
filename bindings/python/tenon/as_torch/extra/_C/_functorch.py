"""Tensors of functorch, which Tenon does not have: no tensor is one."""

from tenon.as_torch.extra._decorators import answer

is_batchedtensor = answer("is_batchedtensor", False, "False.")
is_functorch_wrapped_tensor = answer("is_functorch_wrapped_tensor", False, "False.")
is_gradtrackingtensor = answer("is_gradtrackingtensor", False, "False.")
is_functionaltensor = answer("is_functionaltensor", False, "False.")
maybe_current_level = answer("maybe_current_level", None, "None: there are no levels.")
