#pragma once

#include "runtime/serialization/archive_files.h"
#include "runtime/serialization/inspect.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/save.h"
#include "runtime/serialization/state_dict.h"

/// Checkpoints in PyTorch's formats: what is saved here torch.load reads, and what torch.save wrote
/// is read here. Reading executes nothing. docs/serialization.md has examples.
namespace tenon {

using serialization::load;
using serialization::save;

}  // namespace tenon
