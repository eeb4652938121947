"""Ways to reduce gradients: ddp_comm_hooks. Ranks with different numbers of inputs: join."""
