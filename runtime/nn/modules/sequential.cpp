#include "runtime/nn/modules/sequential.h"

namespace tenon::nn {

SequentialImpl::SequentialImpl(OrderedDict<std::string, AnyModule>&& ordered_dict) {
  modules_.reserve(ordered_dict.size());
  for (auto& item : ordered_dict) push_back(item.key(), std::move(item.value()));
}

SequentialImpl::SequentialImpl(std::initializer_list<NamedAnyModule> named_modules) {
  modules_.reserve(named_modules.size());
  for (const NamedAnyModule& named : named_modules) push_back(named.name(), named.module());
}

std::shared_ptr<Module> SequentialImpl::clone(const std::optional<Device>& device) const {
  auto clone = std::make_shared<SequentialImpl>();
  const std::vector<std::string> names = named_children().keys();
  for (size_t i = 0; i < size(); ++i) clone->push_back(names[i], modules_[i].clone(device));
  clone->train(is_training());
  return clone;
}

void SequentialImpl::pretty_print(std::ostream& out) const { out << "torch::nn::Sequential"; }

AnyValue SequentialImpl::forward_values(std::vector<AnyValue>&& inputs) {
  TENON_CHECK(!is_empty(), "Cannot call forward() on an empty Sequential");
  AnyValue value = modules_[0].forward_values(std::move(inputs));
  for (size_t i = 1; i < size(); ++i) {
    std::vector<AnyValue> one;
    one.push_back(std::move(value));
    value = modules_[i].forward_values(std::move(one));
  }
  return value;
}

void SequentialImpl::push_back(std::string name, AnyModule module) {
  register_module(std::move(name), module.ptr());
  modules_.push_back(std::move(module));
}

std::shared_ptr<Module> SequentialImpl::ptr(size_t index) const {
  check_index(index);
  return modules_[index].ptr();
}

void SequentialImpl::check_index(size_t index) const {
  TENON_CHECK_INDEX(index < size(), "Index out of range: index must be below ", size(), ", got ",
                    index);
}

}  // namespace tenon::nn
