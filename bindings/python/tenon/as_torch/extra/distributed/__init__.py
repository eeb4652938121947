"""Names of torch.distributed that only programs for PyTorch ask for."""
