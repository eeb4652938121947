"""torch._functorch.apis"""

from tenon.func import grad as grad, grad_and_value as grad_and_value, vmap as vmap
