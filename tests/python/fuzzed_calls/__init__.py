"""Random calls of every operator beside PyTorch; `python -m fuzzed_calls --help`, or ./tenon conformance --fuzz."""
