"""Weights from the network under the hub's name of before."""

from tenon.hub import load_state_dict_from_url as load_url  # noqa: F401
