#pragma once

#include <string>

#include "runtime/nn/module.h"

/// Files of named tensors in PyTorch's zip format: torch.load reads what is written here as an
/// OrderedDict, and what torch.save wrote of a dict of tensors, a module's state_dict() above all,
/// is read here. Reading executes nothing.
namespace tenon::serialization {

using nn::StateDict;

/// Writes to a temporary file beside `path`, which takes its name only once it is complete and
/// durable. Tensors that share memory share it in the file; of a view all of the memory is written
/// that it is a part of. Errors "[save] ...".
TENON_API void save_state_dict(const StateDict& state, const std::string& path);

/// Reads all tensors into CPU memory. Every record's CRC-32 is verified. Errors "[load] 'x.pt':
/// ..." name the file and the offset.
TENON_API StateDict load_state_dict(const std::string& path);

}  // namespace tenon::serialization

namespace tenon {

/// Writes the module's state_dict().
TENON_API void save(const nn::Module& module, const std::string& path);
/// Reads a state dict into the module, which stays as it was if the file is damaged or does not
/// fit.
TENON_API void load(nn::Module& module, const std::string& path);

template <class M>
void save(const nn::ModuleHolder<M>& module, const std::string& path) {
  save(*module, path);
}
template <class M>
void load(nn::ModuleHolder<M>& module, const std::string& path) {
  load(*module, path);
}

}  // namespace tenon
