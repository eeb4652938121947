#include "aten/stable/values.h"

#include <cstdlib>
#include <cstring>

namespace tenon::stable_interface {
namespace {

TenonValue of_kind(TenonKind kind) {
  TenonValue value{};
  value.kind = kind;
  return value;
}

TenonValue of_scalar(const Scalar& s) {
  if (s.is_boolean()) {
    TenonValue value = of_kind(TENON_BOOL);
    value.as.integer = s.toBool();
    return value;
  }
  if (s.is_integral(false)) {
    TenonValue value = of_kind(TENON_INT);
    value.as.integer = s.toLong();
    return value;
  }
  if (s.is_complex()) {
    TenonValue value = of_kind(TENON_COMPLEX);
    const std::complex<double> z = s.toComplexDouble();
    value.as.complex[0] = z.real();
    value.as.complex[1] = z.imag();
    return value;
  }
  TenonValue value = of_kind(TENON_DOUBLE);
  value.as.number = s.toDouble();
  return value;
}

/// Everything but lists, which differ in who owns them. None for those.
TenonValue plain(const Value& value) {
  if (value.is_tensor()) {
    TenonValue out = of_kind(TENON_TENSOR);
    out.as.tensor = handle(value.to_tensor().unsafe_impl());
    return out;
  }
  if (const auto* b = std::get_if<bool>(&value.variant())) return of_scalar(Scalar(*b));
  if (const auto* i = std::get_if<int64_t>(&value.variant())) return of_scalar(Scalar(*i));
  if (const auto* d = std::get_if<double>(&value.variant())) return of_scalar(Scalar(*d));
  if (const auto* s = std::get_if<Scalar>(&value.variant())) return of_scalar(*s);
  if (const auto* d = std::get_if<Device>(&value.variant())) {
    TenonValue out = of_kind(TENON_DEVICE);
    out.as.device[0] = static_cast<int32_t>(d->type());
    out.as.device[1] = d->index();
    return out;
  }
  return of_kind(TENON_NONE);
}

template <class T>
TenonValue list(TenonKind kind, const T* data, size_t count) {
  TenonValue value = of_kind(kind);
  value.count = static_cast<int64_t>(count);
  value.as.ints = reinterpret_cast<const int64_t*>(data);
  return value;
}

[[noreturn]] void refuse(const Value& value) {
  detail::raise<NotImplementedError>("the stable interface ", TENON_INTERFACE_MAJOR, ".",
                                     TENON_INTERFACE_MINOR, " carries no value of type ",
                                     value.type_name());
}

/// A copy that release() frees.
template <class T>
TenonValue owned(TenonKind kind, const T* data, size_t count) {
  void* const copy = std::malloc(count * sizeof(T) + 1);
  TENON_CHECK(copy, "out of memory");
  if (count) std::memcpy(copy, data, count * sizeof(T));
  static_cast<char*>(copy)[count * sizeof(T)] = 0;  // ends a text
  return list(kind, static_cast<const T*>(copy), count);
}

}  // namespace

Lent::Lent(const Value* values, size_t count) {
  values_.reserve(count);
  for (size_t i = 0; i < count; ++i) values_.push_back(lend(values[i]));
}

TenonValue Lent::lend(const Value& value) {
  const Value::Variant& v = value.variant();
  if (const auto* text = std::get_if<std::string>(&v))
    return list(TENON_TEXT, text->c_str(), text->size());
  if (const auto* ints = std::get_if<Value::Ints>(&v))
    return list(TENON_INTS, ints->data(), ints->size());
  if (const auto* numbers = std::get_if<Value::Doubles>(&v))
    return list(TENON_DOUBLES, numbers->data(), numbers->size());
  if (const auto* bools = std::get_if<Value::Bools>(&v)) {
    const auto& copy = bools_.emplace_back(bools->begin(), bools->end());
    return list(TENON_BOOLS, copy.data(), copy.size());
  }
  if (value.is_tensor_list()) {
    auto& handles = tensors_.emplace_back();
    for (const TensorBase& t : value.to_tensors()) handles.push_back(handle(t.unsafe_impl()));
    return list(TENON_TENSORS, handles.data(), handles.size());
  }
  const TenonValue out = plain(value);
  if (out.kind == TENON_NONE && !value.is_none()) refuse(value);
  return out;
}

TenonValue give(const Value& value) {
  const Value::Variant& v = value.variant();
  if (const auto* text = std::get_if<std::string>(&v))
    return owned(TENON_TEXT, text->data(), text->size());
  if (const auto* ints = std::get_if<Value::Ints>(&v))
    return owned(TENON_INTS, ints->data(), ints->size());
  if (const auto* numbers = std::get_if<Value::Doubles>(&v))
    return owned(TENON_DOUBLES, numbers->data(), numbers->size());
  if (const auto* bools = std::get_if<Value::Bools>(&v)) {
    const std::vector<uint8_t> bytes(bools->begin(), bools->end());
    return owned(TENON_BOOLS, bytes.data(), bytes.size());
  }
  if (value.is_tensor_list()) {
    std::vector<TenonTensor> handles;
    for (const TensorBase& t : value.to_tensors())
      handles.push_back(handle(IntrusivePtr<TensorImpl>(t.impl()).detach()));
    return owned(TENON_TENSORS, handles.data(), handles.size());
  }
  const TenonValue out = plain(value);
  if (out.kind == TENON_NONE && !value.is_none()) refuse(value);
  if (out.kind == TENON_TENSOR)
    return [&] {
      TenonValue shared = out;
      shared.as.tensor = handle(IntrusivePtr<TensorImpl>::share(impl_of(out.as.tensor)).detach());
      return shared;
    }();
  return out;
}

Value read(const TenonValue& value) {
  const auto count = static_cast<size_t>(value.count);
  const auto tensor = [](TenonTensor t) {
    return t ? TensorBase(IntrusivePtr<TensorImpl>::share(impl_of(t))) : TensorBase();
  };
  switch (value.kind) {
  case TENON_NONE: return {};
  case TENON_TENSOR: return tensor(value.as.tensor);
  case TENON_BOOL: return value.as.integer != 0;
  case TENON_INT: return value.as.integer;
  case TENON_DOUBLE: return value.as.number;
  case TENON_COMPLEX: return Scalar(std::complex<double>(value.as.complex[0], value.as.complex[1]));
  case TENON_TEXT: return std::string_view(value.as.text, count);
  case TENON_INTS: return Value::Ints(value.as.ints, value.as.ints + count);
  case TENON_DOUBLES: return Value::Doubles(value.as.numbers, value.as.numbers + count);
  case TENON_BOOLS: return Value::Bools(value.as.bools, value.as.bools + count);
  case TENON_TENSORS: {
    Value::Tensors list;
    for (size_t i = 0; i < count; ++i) list.push_back(tensor(value.as.tensors[i]));
    return list;
  }
  case TENON_DEVICE:
    return Device(static_cast<DeviceType>(value.as.device[0]),
                  static_cast<DeviceIndex>(value.as.device[1]));
  default: break;
  }
  detail::raise<TypeError>("a library gave a value of kind ", value.kind,
                           ", which the stable interface ", TENON_INTERFACE_MAJOR, ".",
                           TENON_INTERFACE_MINOR, " does not have");
}

void release(TenonValue& value) noexcept {
  if (value.kind == TENON_TENSOR && value.as.tensor)
    IntrusivePtr<TensorImpl>::adopt(impl_of(value.as.tensor));
  if (value.kind == TENON_TENSORS) {
    for (int64_t i = 0; i < value.count; ++i) {
      if (value.as.tensors[i]) IntrusivePtr<TensorImpl>::adopt(impl_of(value.as.tensors[i]));
    }
  }
  const bool holds_list = value.kind >= TENON_TEXT && value.kind <= TENON_TENSORS;
  if (holds_list) std::free(const_cast<char*>(value.as.text));
  value = TenonValue{};
}

Results::~Results() {
  for (TenonValue& value : values_) release(value);
}

Value Results::take(size_t i) {
  Value value = read(values_[i]);
  release(values_[i]);
  return value;
}

}  // namespace tenon::stable_interface
