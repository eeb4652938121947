"""Default values in their file."""

from tenon.as_torch.extra.distributed.constants import default_pg_timeout as default_pg_timeout
