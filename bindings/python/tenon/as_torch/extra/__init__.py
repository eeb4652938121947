"""What programs for PyTorch ask for and Tenon has no use for: a module for each of PyTorch's, with the names that Tenon's own lacks."""
