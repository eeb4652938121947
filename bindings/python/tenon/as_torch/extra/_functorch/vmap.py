"""torch._functorch.vmap"""

from tenon.func import vmap as vmap
