"""A decorator of functions that need the framework: it gives them back, and what they call is missing."""

from tenon.as_torch.extra._decorators import given_back

_require_initialized = given_back("_require_initialized")
