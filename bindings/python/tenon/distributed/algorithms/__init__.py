"""Ways to reduce gradients: ddp_comm_hooks."""
