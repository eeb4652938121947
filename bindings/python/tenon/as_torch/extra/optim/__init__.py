"""Names of torch.optim that only programs for PyTorch ask for."""
