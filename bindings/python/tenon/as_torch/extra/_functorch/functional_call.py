"""torch._functorch.functional_call"""

from tenon.func import functional_call as functional_call, stack_module_state as stack_module_state
