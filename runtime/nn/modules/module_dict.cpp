#include "runtime/nn/modules/module_dict.h"

namespace tenon::nn {

std::shared_ptr<Module> ModuleDictImpl::clone(const std::optional<Device>& device) const {
  auto clone = std::make_shared<ModuleDictImpl>();
  for (const auto& module : modules_) clone->set(module.key(), module.value()->clone(device));
  clone->train(is_training());
  return clone;
}

void ModuleDictImpl::pretty_print(std::ostream& out) const { out << "torch::nn::ModuleDict"; }

void ModuleDictImpl::clear() {
  for (const std::string& key : keys()) unregister_module(key);
  modules_.clear();
}

std::shared_ptr<Module> ModuleDictImpl::pop(const std::string& key) {
  std::shared_ptr<Module> module = modules_[key];
  modules_.erase(key);
  unregister_module(key);
  return module;
}

void ModuleDictImpl::update(const Pairs& modules) {
  for (const auto& [key, module] : modules) set(key, module);
}

void ModuleDictImpl::update(const Modules& modules) {
  for (const auto& module : modules) set(module.key(), module.value());
}

void ModuleDictImpl::set(const std::string& key, std::shared_ptr<Module> module) {
  if (contains(key)) {
    replace_module(key, module);
  } else {
    register_module(key, module);
  }
  modules_.set(key, std::move(module));
}

}  // namespace tenon::nn
