"""vmap beside a loop over the batch, for the samples of PyTorch's list of operators; `python -B tests/python/vmap_samples --help`."""
