"""Names of torch.cpu that only programs for PyTorch ask for."""
