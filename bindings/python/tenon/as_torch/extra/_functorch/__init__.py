"""torch._functorch: torch.func by the places of PyTorch's files."""
