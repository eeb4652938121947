#pragma once

#include "runtime/nn/cloneable.h"

namespace tenon::nn {

/// Parameters by number, which are the module's own: ParameterList list(a, b). A tensor that does
/// not require grad stays one that does not.
class TENON_API ParameterListImpl : public Cloneable<ParameterListImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterListImpl() = default;
  template <std::convertible_to<Tensor>... Tensors>
  requires(sizeof...(Tensors) > 0) explicit ParameterListImpl(const Tensors&... tensors) {
    (append(tensors), ...);
  }

  /// A list of copies of the parameters.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Empty: clone() copies the parameters.
  void reset() override {}
  /// Prints "torch::nn::ParameterList(" and a line for each parameter.
  void pretty_print(std::ostream& out) const override;

  void append(const Tensor& parameter);
  /// An item of an OrderedDict: its value.
  void append(const OrderedDict<std::string, Tensor>::Item& item) { append(item.value()); }
  template <class Container>
  void extend(const Container& container) {
    for (const auto& parameter : container) append(parameter);
  }
  ParameterListImpl& operator+=(const ParameterListImpl& other) {
    extend(other);
    return *this;
  }

  /// Items: value() is the parameter.
  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }

  /// IndexError "Index out of range".
  Tensor& at(size_t index);
  const Tensor& at(size_t index) const { return const_cast<ParameterListImpl*>(this)->at(index); }
  Tensor& operator[](size_t index) { return at(index); }
  const Tensor& operator[](size_t index) const { return at(index); }
  size_t size() const noexcept { return parameters_.size(); }
  bool is_empty() const noexcept { return parameters_.is_empty(); }
};
TENON_MODULE(ParameterList);

/// Parameters by name, which are the module's own.
class TENON_API ParameterDictImpl : public Cloneable<ParameterDictImpl> {
 public:
  using Iterator = OrderedDict<std::string, Tensor>::Iterator;
  using ConstIterator = OrderedDict<std::string, Tensor>::ConstIterator;

  ParameterDictImpl() = default;
  explicit ParameterDictImpl(const OrderedDict<std::string, Tensor>& parameters);

  /// A dict of copies of the parameters.
  std::shared_ptr<Module> clone(const std::optional<Device>& device = std::nullopt) const override;
  /// Empty: clone() copies the parameters.
  void reset() override {}
  /// Prints "torch::nn::ParameterDict(" and a line for each parameter.
  void pretty_print(std::ostream& out) const override;

  /// Error "Parameter 'x' already defined".
  Tensor& insert(const std::string& key, const Tensor& parameter);
  /// Removes a parameter and returns it. Error "Parameter 'x' is not defined".
  Tensor pop(const std::string& key);
  void clear() { parameters_.clear(); }
  /// Takes the values of parameters that are there. Error "Parameter 'x' is not defined" for
  /// others.
  void update(const ParameterDictImpl& other);

  std::vector<std::string> keys() const { return parameters_.keys(); }
  std::vector<Tensor> values() const { return parameters_.values(); }
  Iterator begin() { return parameters_.begin(); }
  Iterator end() { return parameters_.end(); }
  ConstIterator begin() const { return parameters_.begin(); }
  ConstIterator end() const { return parameters_.end(); }
  size_t size() const noexcept { return parameters_.size(); }
  bool empty() const noexcept { return parameters_.is_empty(); }
  bool contains(const std::string& key) const noexcept { return parameters_.contains(key); }

  /// Error "Parameter 'x' is not defined".
  Tensor& get(const std::string& key) { return parameters_[key]; }
  const Tensor& get(const std::string& key) const { return parameters_[key]; }
  Tensor& operator[](const std::string& key) { return get(key); }
  const Tensor& operator[](const std::string& key) const { return get(key); }
};
TENON_MODULE(ParameterDict);

}  // namespace tenon::nn
