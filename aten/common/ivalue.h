#pragma once

#include "aten/dispatch/value.h"
#include "tenon/tensor.h"

namespace tenon {

/// A Value with the names that PyTorch's C++ interface has for it: what a custom Function keeps and
/// an archive holds. Conversions throw TypeError on a mismatch, as Value's.
class IValue : public Value {
 public:
  using Value::Value;
  IValue() = default;
  IValue(Value value) : Value(std::move(value)) {}
  IValue(const std::string& text) : Value(std::string_view(text)) {}
  IValue(const std::vector<Tensor>& tensors) : Value(Tensors(tensors.begin(), tensors.end())) {}
  template <class T>
  IValue(const std::optional<T>& value) : Value(value ? Value(*value) : Value()) {}

  bool isNone() const { return is_none(); }
  bool isTensor() const { return is_tensor(); }
  bool isBool() const { return has<bool>(); }
  bool isInt() const { return has<int64_t>(); }
  bool isDouble() const { return has<double>(); }
  bool isScalar() const { return isInt() || isDouble() || isBool() || has<Scalar>(); }
  bool isString() const { return has<std::string>(); }
  bool isIntList() const { return has<Ints>(); }
  bool isDoubleList() const { return has<Doubles>(); }
  bool isBoolList() const { return has<Bools>(); }
  bool isTensorList() const { return is_tensor_list(); }
  bool isList() const {
    return isIntList() || isDoubleList() || isBoolList() || isTensorList() || has<Scalars>();
  }
  bool isDevice() const { return has<Device>(); }
  bool isGenerator() const { return has<Generator>(); }

  Tensor toTensor() const { return to_tensor(); }
  bool toBool() const { return to_bool(); }
  int64_t toInt() const { return to_int(); }
  double toDouble() const { return to_double(); }
  Scalar toScalar() const { return to_scalar(); }
  const std::string& toStringRef() const { return to_str(); }
  Ints toIntVector() const { return to_ints(); }
  Doubles toDoubleVector() const { return to_doubles(); }
  std::vector<Tensor> toTensorVector() const {
    const Tensors& all = to_tensors();
    return {all.begin(), all.end()};
  }
  Device toDevice() const { return to_device(); }
  ScalarType toScalarType() const { return to_enum<ScalarType>(); }
  Generator toGenerator() const { return to_generator(); }

 private:
  template <class T>
  bool has() const {
    return std::holds_alternative<T>(variant());
  }
};

}  // namespace tenon
