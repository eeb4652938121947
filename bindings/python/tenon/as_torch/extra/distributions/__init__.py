"""Private names of torch.distributions."""
