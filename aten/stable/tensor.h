#pragma once

// Tensors, values and calls of the stable interface in C++17, without Tenon's own types.

#include <complex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "aten/stable/interface.h"

namespace tenon::stable {

/// The table, from the library's start on.
[[gnu::visibility("hidden")]] inline const TenonInterface* table = nullptr;

/// An error with its kind (TenonStatus), the class that Python shows.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& text, int32_t status = TENON_ERROR)
      : std::runtime_error(text), status_(status) {}
  int32_t status() const { return status_; }

 private:
  int32_t status_;
};

/// Throws what a function of the table reports.
inline void check(int32_t status) {
  if (status != TENON_OK) throw Error(table->error_text(), status);
}
/// Throws a ValueError with the text unless the condition holds.
inline void check_value(bool condition, const std::string& text) {
  if (!condition) throw Error(text, TENON_VALUE_ERROR);
}

/// The dtypes, by PyTorch's numbers.
enum class ScalarType : int32_t {
  UInt8 = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  Float16 = 5,
  Float32 = 6,
  Float64 = 7,
  Complex64 = 9,
  Complex128 = 10,
  Bool = 11,
  BFloat16 = 15
};

template <class T>
struct ScalarTypeOf;
template <>
struct ScalarTypeOf<uint8_t> : std::integral_constant<ScalarType, ScalarType::UInt8> {};
template <>
struct ScalarTypeOf<int8_t> : std::integral_constant<ScalarType, ScalarType::Int8> {};
template <>
struct ScalarTypeOf<int16_t> : std::integral_constant<ScalarType, ScalarType::Int16> {};
template <>
struct ScalarTypeOf<int32_t> : std::integral_constant<ScalarType, ScalarType::Int32> {};
template <>
struct ScalarTypeOf<int64_t> : std::integral_constant<ScalarType, ScalarType::Int64> {};
template <>
struct ScalarTypeOf<float> : std::integral_constant<ScalarType, ScalarType::Float32> {};
template <>
struct ScalarTypeOf<double> : std::integral_constant<ScalarType, ScalarType::Float64> {};
template <>
struct ScalarTypeOf<bool> : std::integral_constant<ScalarType, ScalarType::Bool> {};
template <>
struct ScalarTypeOf<std::complex<float>>
    : std::integral_constant<ScalarType, ScalarType::Complex64> {};
template <>
struct ScalarTypeOf<std::complex<double>>
    : std::integral_constant<ScalarType, ScalarType::Complex128> {};

struct TensorOptions;

struct Device {
  int32_t type = 0;  ///< 0: CPU, 1: CUDA, 14: meta, 20: PrivateUse1
  int32_t index = -1;
  bool is_cpu() const { return type == 0; }
  friend bool operator==(const Device& a, const Device& b) {
    return a.type == b.type && a.index == b.index;
  }
  friend bool operator!=(const Device& a, const Device& b) { return !(a == b); }
};

/// A view of numbers that somebody else keeps.
template <class T>
class Span {
 public:
  Span() = default;
  Span(const T* data, size_t size) : data_(data), size_(size) {}
  Span(const std::vector<T>& list) : data_(list.data()), size_(list.size()) {}
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  const T* data() const { return data_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](size_t i) const { return data_[i]; }
  std::vector<T> vec() const { return {begin(), end()}; }
  friend bool operator==(Span a, Span b) {
    if (a.size_ != b.size_) return false;
    for (size_t i = 0; i < a.size_; ++i) {
      if (a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  const T* data_ = nullptr;
  size_t size_ = 0;
};
using Ints = Span<int64_t>;

/// A reference to a tensor, or to none. Copies share it.
class Tensor {
 public:
  Tensor() = default;
  /// Takes over a reference.
  static Tensor adopt(TenonTensor handle) {
    Tensor t;
    t.handle_ = handle;
    return t;
  }
  static Tensor share(TenonTensor handle) {
    if (handle) table->tensor_retain(handle);
    return adopt(handle);
  }
  Tensor(const Tensor& other) : handle_(other.handle_) {
    if (handle_) table->tensor_retain(handle_);
  }
  Tensor(Tensor&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Tensor() {
    if (handle_) table->tensor_release(handle_);
  }

  bool defined() const { return handle_ != nullptr; }
  bool is_same(const Tensor& other) const { return handle_ == other.handle_; }
  TenonTensor get() const { return handle_; }
  /// Gives up the reference.
  TenonTensor detach_handle() { return std::exchange(handle_, nullptr); }

  int64_t dim() const { return table->tensor_dim(handle_); }
  int64_t numel() const { return table->tensor_numel(handle_); }
  Ints sizes() const { return {table->tensor_sizes(handle_), static_cast<size_t>(dim())}; }
  Ints strides() const { return {table->tensor_strides(handle_), static_cast<size_t>(dim())}; }
  /// Size of dimension d; d < 0 counts from the end.
  int64_t size(int64_t d) const {
    const int64_t n = dim();
    if (d < -n || d >= n)
      throw Error("dimension " + std::to_string(d) + " of a tensor with " + std::to_string(n),
                  TENON_INDEX_ERROR);
    return sizes()[static_cast<size_t>(d < 0 ? d + n : d)];
  }
  ScalarType scalar_type() const { return static_cast<ScalarType>(table->tensor_dtype(handle_)); }
  Device device() const {
    Device d;
    table->tensor_device(handle_, &d.type, &d.index);
    return d;
  }
  bool is_contiguous() const { return table->tensor_is_contiguous(handle_) != 0; }
  bool requires_grad() const { return table->tensor_requires_grad(handle_) != 0; }
  void* data_ptr() const {
    void* data = nullptr;
    check(table->tensor_data(handle_, &data));
    return data;
  }
  TensorOptions options() const;
  /// Operators that kernels need most.
  Tensor to(ScalarType dtype) const;
  Tensor contiguous() const;
  Tensor clone() const;
  Tensor detach() const;
  /// The only element.
  template <class T>
  T item() const;
  /// The elements as T; TypeError unless that is the tensor's element type.
  template <class T>
  T* data_ptr() const {
    if (scalar_type() != ScalarTypeOf<T>::value)
      throw Error("expected a tensor of dtype " +
                      std::to_string(static_cast<int>(ScalarTypeOf<T>::value)) +
                      ", got one of dtype " + std::to_string(static_cast<int>(scalar_type())),
                  TENON_TYPE_ERROR);
    return static_cast<T*>(data_ptr());
  }

 private:
  TenonTensor handle_ = nullptr;
};

struct TensorOptions {
  ScalarType type;
  Device place;
  explicit TensorOptions(ScalarType dtype, Device d = {}) : type(dtype), place(d) {}
  TensorOptions device(Device d) const { return TensorOptions(type, d); }
};
inline TensorOptions Tensor::options() const { return TensorOptions(scalar_type(), device()); }

/// An uninitialised tensor; without strides row-major.
inline Tensor empty(Ints sizes, ScalarType dtype, Device device = {}, Ints strides = {}) {
  TenonTensor handle = nullptr;
  check(table->tensor_empty(sizes.data(), strides.empty() ? nullptr : strides.data(),
                            static_cast<int64_t>(sizes.size()), static_cast<int32_t>(dtype),
                            device.type, device.index, &handle));
  return Tensor::adopt(handle);
}
inline Tensor empty_like(const Tensor& t) { return empty(t.sizes(), t.scalar_type(), t.device()); }

/// A number of any kind: an argument `Scalar`.
class Scalar {
 public:
  Scalar(bool v) : value_(v) {}
  Scalar(int v) : value_(int64_t{v}) {}
  Scalar(int64_t v) : value_(v) {}
  Scalar(double v) : value_(v) {}
  Scalar(std::complex<double> v) : value_(v) {}
  bool is_boolean() const { return std::holds_alternative<bool>(value_); }
  bool is_integral() const { return std::holds_alternative<int64_t>(value_); }
  bool is_floating_point() const { return std::holds_alternative<double>(value_); }
  bool is_complex() const { return std::holds_alternative<std::complex<double>>(value_); }
  /// The value as T; the imaginary part is dropped for a real T.
  template <class T>
  T to() const {
    return std::visit(
        [](auto v) {
          using V = decltype(v);
          if constexpr (std::is_same_v<V, std::complex<double>>) {
            if constexpr (std::is_same_v<T, V>)
              return v;
            else
              return static_cast<T>(v.real());
          } else {
            return static_cast<T>(v);
          }
        },
        value_);
  }
  Scalar conj() const {
    const auto* z = std::get_if<std::complex<double>>(&value_);
    return z ? Scalar(std::conj(*z)) : *this;
  }

 private:
  std::variant<bool, int64_t, double, std::complex<double>> value_;
};

// ---- Values: what C++ types are in a call

namespace detail {

inline TenonValue value_of_kind(TenonKind kind, int64_t integer = 0) {
  TenonValue v{};
  v.kind = kind;
  v.as.integer = integer;
  return v;
}

[[noreturn]] inline void wrong_kind(const char* expected, const TenonValue& v) {
  throw Error(std::string("expected ") + expected + ", got a value of kind " +
                  std::to_string(v.kind),
              TENON_TYPE_ERROR);
}

/// From a borrowed value.
template <class T>
struct From;
template <>
struct From<Tensor> {
  static Tensor get(const TenonValue& v) {
    if (v.kind == TENON_NONE) return {};
    if (v.kind != TENON_TENSOR) wrong_kind("a tensor", v);
    return Tensor::share(v.as.tensor);
  }
};
template <>
struct From<Scalar> {
  static Scalar get(const TenonValue& v) {
    switch (v.kind) {
    case TENON_BOOL: return v.as.integer != 0;
    case TENON_INT: return v.as.integer;
    case TENON_DOUBLE: return v.as.number;
    case TENON_COMPLEX: return std::complex<double>(v.as.complex[0], v.as.complex[1]);
    default: wrong_kind("a number", v);
    }
  }
};
template <>
struct From<int64_t> {
  static int64_t get(const TenonValue& v) {
    if (v.kind != TENON_INT && v.kind != TENON_BOOL) wrong_kind("an int", v);
    return v.as.integer;
  }
};
template <>
struct From<double> {
  static double get(const TenonValue& v) {
    if (v.kind == TENON_DOUBLE) return v.as.number;
    if (v.kind != TENON_INT && v.kind != TENON_BOOL) wrong_kind("a float", v);
    return static_cast<double>(v.as.integer);
  }
};
template <>
struct From<bool> {
  static bool get(const TenonValue& v) { return From<int64_t>::get(v) != 0; }
};
template <>
struct From<ScalarType> {
  static ScalarType get(const TenonValue& v) {
    return static_cast<ScalarType>(From<int64_t>::get(v));
  }
};
template <>
struct From<std::string_view> {
  static std::string_view get(const TenonValue& v) {
    if (v.kind != TENON_TEXT) wrong_kind("a string", v);
    return {v.as.text, static_cast<size_t>(v.count)};
  }
};
template <>
struct From<std::string> {
  static std::string get(const TenonValue& v) {
    return std::string(From<std::string_view>::get(v));
  }
};
template <>
struct From<Ints> {
  static Ints get(const TenonValue& v) {
    if (v.kind == TENON_INT) return {&v.as.integer, 1};
    if (v.kind != TENON_INTS) wrong_kind("a list of ints", v);
    return {v.as.ints, static_cast<size_t>(v.count)};
  }
};
template <>
struct From<std::vector<int64_t>> {
  static std::vector<int64_t> get(const TenonValue& v) { return From<Ints>::get(v).vec(); }
};
template <>
struct From<Span<double>> {
  static Span<double> get(const TenonValue& v) {
    if (v.kind != TENON_DOUBLES) wrong_kind("a list of floats", v);
    return {v.as.numbers, static_cast<size_t>(v.count)};
  }
};
template <>
struct From<std::vector<bool>> {
  static std::vector<bool> get(const TenonValue& v) {
    if (v.kind != TENON_BOOLS) wrong_kind("a list of bools", v);
    return std::vector<bool>(v.as.bools, v.as.bools + v.count);
  }
};
template <>
struct From<std::vector<Tensor>> {
  static std::vector<Tensor> get(const TenonValue& v) {
    if (v.kind != TENON_TENSORS) wrong_kind("a list of tensors", v);
    std::vector<Tensor> list;
    for (int64_t i = 0; i < v.count; ++i) list.push_back(Tensor::share(v.as.tensors[i]));
    return list;
  }
};
template <>
struct From<Device> {
  static Device get(const TenonValue& v) {
    if (v.kind != TENON_DEVICE) wrong_kind("a device", v);
    return {v.as.device[0], v.as.device[1]};
  }
};
template <class T>
struct From<std::optional<T>> {
  static std::optional<T> get(const TenonValue& v) {
    if (v.kind == TENON_NONE) return std::nullopt;
    return From<T>::get(v);
  }
};

/// A borrowed view of an argument of a call; lists of tensors need `room`.
inline TenonValue lend(const Tensor& t) {
  TenonValue v = value_of_kind(t.defined() ? TENON_TENSOR : TENON_NONE);
  v.as.tensor = t.get();
  return v;
}
inline TenonValue lend(bool b) { return value_of_kind(TENON_BOOL, b); }
inline TenonValue lend(int64_t i) { return value_of_kind(TENON_INT, i); }
inline TenonValue lend(int i) { return value_of_kind(TENON_INT, i); }
inline TenonValue lend(double d) {
  TenonValue v = value_of_kind(TENON_DOUBLE);
  v.as.number = d;
  return v;
}
inline TenonValue lend(std::complex<double> z) {
  TenonValue v = value_of_kind(TENON_COMPLEX);
  v.as.complex[0] = z.real();
  v.as.complex[1] = z.imag();
  return v;
}
inline TenonValue lend(const Scalar& s) {
  if (s.is_boolean()) return lend(s.to<bool>());
  if (s.is_integral()) return lend(s.to<int64_t>());
  if (s.is_complex()) return lend(s.to<std::complex<double>>());
  return lend(s.to<double>());
}
inline TenonValue lend(ScalarType t) { return lend(static_cast<int64_t>(t)); }
inline TenonValue lend(Device d) {
  TenonValue v = value_of_kind(TENON_DEVICE);
  v.as.device[0] = d.type;
  v.as.device[1] = d.index;
  return v;
}
inline TenonValue lend(std::string_view text) {
  TenonValue v = value_of_kind(TENON_TEXT);
  v.as.text = text.data();
  v.count = static_cast<int64_t>(text.size());
  return v;
}
inline TenonValue lend(const char* text) { return lend(std::string_view(text)); }
inline TenonValue lend(Ints list) {
  TenonValue v = value_of_kind(TENON_INTS);
  v.as.ints = list.data();
  v.count = static_cast<int64_t>(list.size());
  return v;
}
inline TenonValue lend(const std::vector<int64_t>& list) { return lend(Ints(list)); }
inline TenonValue lend(std::nullopt_t) { return value_of_kind(TENON_NONE); }
template <class T>
TenonValue lend(const std::optional<T>& v) {
  return v ? lend(*v) : value_of_kind(TENON_NONE);
}
inline TenonValue lend(const TenonValue& v) { return v; }

/// A value for somebody else to release.
inline TenonValue give(Tensor t) {
  TenonValue v = lend(t);
  t.detach_handle();
  return v;
}
inline TenonValue give(const std::vector<Tensor>& list) {
  TenonValue v = value_of_kind(TENON_TENSORS);
  auto* const handles =
      static_cast<TenonTensor*>(table->allocate(list.size() * sizeof(TenonTensor)));
  for (size_t i = 0; i < list.size(); ++i) handles[i] = Tensor(list[i]).detach_handle();
  v.as.tensors = handles;
  v.count = static_cast<int64_t>(list.size());
  return v;
}
inline TenonValue give(const std::optional<Tensor>& t) { return give(t ? *t : Tensor()); }
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> || std::is_same_v<T, Scalar>>>
TenonValue give(T number) {
  return lend(number);
}

/// Results of a call, released at the end.
struct Returned {
  static constexpr int64_t kRoom = 16;
  TenonValue values[kRoom] = {};
  int64_t count = 0;
  Returned() = default;
  Returned(const Returned&) = delete;
  Returned& operator=(const Returned&) = delete;
  ~Returned() {
    for (int64_t i = 0; i < count; ++i) table->release_value(&values[i]);
  }
};

template <class R>
struct Unpack {
  static R get(const Returned& r) {
    if (r.count != 1)
      throw Error("the operator gives " + std::to_string(r.count) + " results, one was expected");
    return From<R>::get(r.values[0]);
  }
};
template <>
struct Unpack<void> {
  static void get(const Returned&) {}
};
template <class... R>
struct Unpack<std::tuple<R...>> {
  static std::tuple<R...> get(const Returned& r) {
    if (r.count != static_cast<int64_t>(sizeof...(R)))
      throw Error("the operator gives " + std::to_string(r.count) + " results, " +
                  std::to_string(sizeof...(R)) + " were expected");
    return get(r, std::index_sequence_for<R...>());
  }

 private:
  template <size_t... I>
  static std::tuple<R...> get(const Returned& r, std::index_sequence<I...>) {
    return {From<R>::get(r.values[I])...};
  }
};

}  // namespace detail

/// Calls the overload of an operator, "aten::add", that takes the arguments; those at the end that
/// have defaults may be left out. `Result`: Tensor, std::vector<Tensor>, a number, a tuple, void.
template <class Result = Tensor, class... Args>
Result call(const char* name, const Args&... args) {
  const TenonValue values[] = {detail::lend(args)..., TenonValue{}};
  detail::Returned returned;
  check(table->call(name, values, sizeof...(Args), returned.values, detail::Returned::kRoom,
                    &returned.count));
  return detail::Unpack<Result>::get(returned);
}

inline Tensor Tensor::contiguous() const { return call("aten::contiguous", *this); }
inline Tensor Tensor::clone() const { return call("aten::clone", *this); }
inline Tensor Tensor::detach() const { return call("aten::detach", *this); }
inline Tensor Tensor::to(ScalarType dtype) const { return call("aten::to", *this, dtype); }
template <class T>
T Tensor::item() const {
  return call<Scalar>("aten::item", *this).to<T>();
}

/// Calls f(begin, end) for pieces of at least `grain` on several threads. f must not throw.
template <class F>
void parallel_for(int64_t begin, int64_t end, int64_t grain, const F& f) {
  table->parallel_for(
      begin, end, grain,
      [](void* context, int64_t b, int64_t e) { (*static_cast<const F*>(context))(b, e); },
      const_cast<F*>(&f));
}

/// Whether operators that are called now are recorded for gradients, have tangents or compute
/// batches. A backward computes by operators alone then.
inline bool is_recording() { return table->is_recording() != 0; }

}  // namespace tenon::stable
