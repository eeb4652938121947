"""Shapes in annotations: jaxtyping, beartype."""

# ruff: noqa: F722, F821
import torch
from beartype import beartype
from jaxtyping import Float, Int, Shaped, jaxtyped


@jaxtyped(typechecker=beartype)
def product(a: Float[torch.Tensor, "n k"], b: Float[torch.Tensor, "k m"]) -> Float[torch.Tensor, "n m"]:
    return a @ b


@jaxtyped(typechecker=beartype)
def picked(a: Shaped[torch.Tensor, "n *rest"], i: Int[torch.Tensor, " m"]) -> Shaped[torch.Tensor, "m *rest"]:
    return a[i]


print(product(torch.ones(2, 3), torch.ones(3, 4)).shape, picked(torch.ones(4, 2, 2), torch.tensor([0, 1])).shape)
for call in (
    lambda: product(torch.ones(2, 3), torch.ones(2, 4)),
    lambda: product(torch.ones(2, 3).long(), torch.ones(3, 4)),
):
    try:
        call()
    except Exception as error:
        print(type(error).__name__)
print(isinstance(torch.ones(2, 3), Float[torch.Tensor, "2 3"]), isinstance(torch.ones(2), Int[torch.Tensor, "2"]))
