"""Switches of the compiler, which does not exist: they can be set, as programs do, and have no effect."""

cache_size_limit = 8
recompile_limit = 8
accumulated_recompile_limit = 256
suppress_errors = False
verbose = False
optimize_ddp = True
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
dynamic_shapes = True
automatic_dynamic_shapes = True
assume_static_by_default = True
disable = True
