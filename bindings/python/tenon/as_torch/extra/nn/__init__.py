"""Names of torch.nn that only programs for PyTorch ask for."""
