"""Names of torch.utils that only programs for PyTorch ask for."""
