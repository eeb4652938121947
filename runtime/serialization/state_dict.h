#pragma once

#include <string>

#include "runtime/nn/module.h"
#include "runtime/serialization/load.h"

namespace tenon::serialization {

using nn::StateDict;

/// Saves an OrderedDict of tensors. Tensors that share memory share it in the file; of a view all
/// of the memory is written that it is a part of.
TENON_API void save_state_dict(const StateDict& state, const std::string& path);
/// Loads a dict of tensors, to where the options say. Errors as load()'s, and one that names what
/// else the file holds.
TENON_API StateDict load_state_dict(const std::string& path, const LoadOptions& options = {});

}  // namespace tenon::serialization
