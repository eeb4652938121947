#include "runtime/nn/modules/module_list.h"

namespace tenon::nn {

std::shared_ptr<Module> ModuleListImpl::clone(const std::optional<Device>& device) const {
  auto clone = std::make_shared<ModuleListImpl>();
  for (const auto& module : modules_) clone->push_back(module->clone(device));
  clone->train(is_training());
  return clone;
}

void ModuleListImpl::pretty_print(std::ostream& out) const { out << "torch::nn::ModuleList"; }

void ModuleListImpl::push_back(std::shared_ptr<Module> module) {
  modules_.push_back(module);
  register_module(std::to_string(size() - 1), std::move(module));
}

void ModuleListImpl::insert(size_t index, std::shared_ptr<Module> module) {
  TENON_CHECK_INDEX(index <= size(), "Index out of range: index must be at most ", size(), ", got ",
                    index);
  if (index == size()) return push_back(std::move(module));
  modules_.insert(modules_.begin() + static_cast<std::ptrdiff_t>(index), std::move(module));
  // The last one has a new name, the others one that is there.
  for (size_t i = index; i < size() - 1; ++i) replace_module(std::to_string(i), modules_[i]);
  register_module(std::to_string(size() - 1), modules_.back());
}

std::shared_ptr<Module> ModuleListImpl::ptr(size_t index) const {
  TENON_CHECK_INDEX(index < size(), "Index out of range: index must be below ", size(), ", got ",
                    index);
  return modules_[index];
}

}  // namespace tenon::nn
