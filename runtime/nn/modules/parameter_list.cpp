#include "runtime/nn/modules/parameter_list.h"

namespace tenon::nn {
namespace {

/// "(0): Parameter containing: [Float of size [1, 2]]" for each.
void print_parameters(std::ostream& out, const OrderedDict<std::string, Tensor>& parameters) {
  for (const auto& parameter : parameters) {
    out << '(' << parameter.key() << "): Parameter containing: [" << parameter->scalar_type()
        << " of size " << parameter->sizes() << "]\n";
  }
}

Tensor copy_of(const Tensor& parameter, const std::optional<Device>& device) {
  const Tensor data = parameter.detach();
  return (device && data.device() != *device ? data.to(*device) : data.clone())
      .requires_grad_(parameter.requires_grad());
}

}  // namespace

std::shared_ptr<Module> ParameterListImpl::clone(const std::optional<Device>& device) const {
  auto clone = std::make_shared<ParameterListImpl>();
  for (const auto& parameter : parameters_) clone->append(copy_of(parameter.value(), device));
  clone->train(is_training());
  return clone;
}

void ParameterListImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::ParameterList(\n";
  print_parameters(out, parameters_);
  out << ')';
}

void ParameterListImpl::append(const Tensor& parameter) {
  register_parameter(std::to_string(size()), parameter, parameter.requires_grad());
}

Tensor& ParameterListImpl::at(size_t index) {
  TENON_CHECK_INDEX(index < size(), "Index out of range: index must be below ", size(), ", got ",
                    index);
  return parameters_[index].value();
}

ParameterDictImpl::ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters) {
  for (const auto& parameter : parameters) insert(parameter.key(), parameter.value());
}

std::shared_ptr<Module> ParameterDictImpl::clone(const std::optional<Device>& device) const {
  auto clone = std::make_shared<ParameterDictImpl>();
  for (const auto& parameter : parameters_)
    clone->insert(parameter.key(), copy_of(parameter.value(), device));
  clone->train(is_training());
  return clone;
}

void ParameterDictImpl::pretty_print(std::ostream& out) const {
  out << "torch::nn::ParameterDict(\n";
  print_parameters(out, parameters_);
  out << ')';
}

Tensor& ParameterDictImpl::insert(const std::string& key, const Tensor& parameter) {
  return register_parameter(key, parameter, parameter.requires_grad());
}

Tensor ParameterDictImpl::pop(const std::string& key) {
  Tensor parameter = get(key);
  parameters_.erase(key);
  return parameter;
}

void ParameterDictImpl::update(const ParameterDictImpl& other) {
  for (const auto& parameter : other.parameters_) get(parameter.key());
  for (const auto& parameter : other.parameters_) parameters_[parameter.key()] = parameter.value();
}

}  // namespace tenon::nn
