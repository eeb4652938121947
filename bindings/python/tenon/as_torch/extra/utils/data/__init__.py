"""Names of torch.utils.data that only programs for PyTorch ask for."""
