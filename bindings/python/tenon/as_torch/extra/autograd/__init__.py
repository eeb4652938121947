"""Names of torch.autograd that only programs for PyTorch ask for."""
