#pragma once

// Checkpoints that are folders: tensors cut into pieces, pieces in several files that are written
// and read at once, and an index that says where each piece is. Each file is a zip file of a dict
// of tensors, which torch.load reads as well.
#include "runtime/serialization/sharded/sharded_checkpoint.h"
#include "runtime/serialization/sharded/write_shards.h"
