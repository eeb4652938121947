#pragma once

#include <type_traits>
#include <utility>

#include "runtime/nn/archive.h"
#include "runtime/nn/module.h"

namespace tenon::serialize {

/// A tensor is saved as itself: torch.load gives a tensor.
TENON_API OutputArchive& operator<<(OutputArchive& archive, const Tensor& tensor);
TENON_API InputArchive& operator>>(InputArchive& archive, Tensor& tensor);
/// Tensors are saved as a list of them.
TENON_API OutputArchive& operator<<(OutputArchive& archive, const std::vector<Tensor>& tensors);
/// Appends what was saved.
TENON_API InputArchive& operator>>(InputArchive& archive, std::vector<Tensor>& tensors);

}  // namespace tenon::serialize

namespace tenon::nn {

/// A module is saved by its save(), unless overridden as its state_dict().
TENON_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const Module& module);
/// A module whose file does not fit stays as it was, unless it overrides load().
TENON_API serialize::InputArchive& operator>>(serialize::InputArchive& archive, Module& module);
/// Error "Cannot serialize empty module" for a null pointer.
TENON_API serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                               const std::shared_ptr<Module>& module);
TENON_API serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                              const std::shared_ptr<Module>& module);
template <class M>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const ModuleHolder<M>& holder) {
  return archive << std::static_pointer_cast<Module>(holder.ptr());
}
template <class M>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, ModuleHolder<M>& holder) {
  return archive >> std::static_pointer_cast<Module>(holder.ptr());
}

}  // namespace tenon::nn

namespace tenon {

/// Writes a tensor, a vector of tensors, a module or an optimizer, whatever has an operator<< into
/// an archive: save(model, "model.pt"), save(tensor, stream).
template <class T, class... Target>
requires requires(serialize::OutputArchive& archive, const T& value, Target&&... target) {
  archive << value;
  archive.save_to(std::forward<Target>(target)...);
}
void save(const T& value, Target&&... target) {
  serialize::OutputArchive archive;
  archive << value;
  archive.save_to(std::forward<Target>(target)...);
}

/// Reads it back: load(model, "model.pt"), load(tensor, stream, device).
template <class T, class... Source>
requires requires(serialize::InputArchive& archive, T& value, Source&&... source) {
  archive >> value;
  archive.load_from(std::forward<Source>(source)...);
}
void load(T& value, Source&&... source) {
  serialize::InputArchive archive;
  archive.load_from(std::forward<Source>(source)...);
  archive >> value;
}

}  // namespace tenon
