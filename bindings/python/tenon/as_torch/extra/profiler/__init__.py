"""Names of torch.profiler that only programs for PyTorch ask for."""
