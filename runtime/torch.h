#pragma once

/// For programs written against libtorch: its names, and Tenon behind them. torch, at and c10 hold
/// tenon's names by using-directives, so that a type is the same by whichever name.
/// docs/libtorch.md says what differs.

#include <unistd.h>

#include <complex>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "aten/common/ivalue.h"
#include "aten/core/device_interface.h"
#include "aten/core/generator.h"
#include "aten/core/parallel.h"
#include "aten/dispatch/warning.h"
#include "aten/registration/library.h"
#include "runtime/optim/optimizer.h"
#include "tenon/tenon.h"

namespace tenon::detail {

/// The message of a failed check, or the condition if there is no message.
template <class... Parts>
std::string message_or_condition(const char* condition, const Parts&... parts) {
  if constexpr (sizeof...(Parts) == 0) {
    return concat("Expected ", condition, " to be true, but got false.");
  } else {
    return concat(parts...);
  }
}

}  // namespace tenon::detail

namespace tenon {

namespace native {
inline bool is_nonzero(const Tensor& self) { return tenon::is_nonzero(self); }
}  // namespace native

/// var(x, 0) is of a dimension; a bool alone would be `unbiased`. So are std, var_mean and
/// std_mean.
template <std::integral Dim, class... Rest>
requires(!std::same_as<Dim, bool>) Tensor var(const Tensor& self, Dim dim, Rest... rest) {
  return var(self, OptionalIntArrayRef(static_cast<int64_t>(dim)), rest...);
}
template <std::integral Dim, class... Rest>
requires(!std::same_as<Dim, bool>) Tensor std(const Tensor& self, Dim dim, Rest... rest) {
  return std(self, OptionalIntArrayRef(static_cast<int64_t>(dim)), rest...);
}
template <std::integral Dim, class... Rest>
requires(!std::same_as<Dim, bool>) auto var_mean(const Tensor& self, Dim dim, Rest... rest) {
  return var_mean(self, OptionalIntArrayRef(static_cast<int64_t>(dim)), rest...);
}
template <std::integral Dim, class... Rest>
requires(!std::same_as<Dim, bool>) auto std_mean(const Tensor& self, Dim dim, Rest... rest) {
  return std_mean(self, OptionalIntArrayRef(static_cast<int64_t>(dim)), rest...);
}

}  // namespace tenon

namespace c10 {

using namespace tenon;

template <class T>
using optional = std::optional<T>;
template <class T>
using complex = std::complex<T>;
template <class T>
using intrusive_ptr = IntrusivePtr<T>;
using std::get;
using std::get_if;
using std::holds_alternative;
using std::in_place;
using std::make_optional;
using std::nullopt;
using std::nullopt_t;
using std::string_view;
using std::variant;
using std::visit;

/// The whole numbers from `begin` up to but without `end`; none unless begin < end.
template <class T>
class IntegerRange {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = const T*;
    using reference = T;

    explicit iterator(T value) : value_(value) {}
    T operator*() const { return value_; }
    iterator& operator++() {
      ++value_;
      return *this;
    }
    iterator operator++(int) {
      iterator before = *this;
      ++value_;
      return before;
    }
    friend bool operator==(iterator a, iterator b) { return a.value_ == b.value_; }

   private:
    T value_;
  };

  IntegerRange(T begin, T end) : begin_(begin), end_(begin < end ? end : begin) {}
  iterator begin() const { return iterator(begin_); }
  iterator end() const { return iterator(end_); }

 private:
  T begin_;
  T end_;
};
template <class T>
requires std::is_integral_v<T> IntegerRange<T> irange(T end) { return {T(0), end}; }
template <class T, class U>
requires(std::is_integral_v<T>&& std::is_integral_v<U>) IntegerRange<U> irange(T begin, U end) {
  return {static_cast<U>(begin), end};
}

/// The parts one after the other, as streams print them.
template <class... Parts>
std::string str(const Parts&... parts) {
  return tenon::detail::concat(parts...);
}
template <class T>
std::string to_string(const T& value) {
  return tenon::detail::concat(value);
}
template <class Parts>
std::string Join(const std::string& between, const Parts& parts) {
  std::string all;
  bool first = true;
  for (const auto& part : parts) {
    all += (first ? std::string() : between) + tenon::detail::concat(part);
    first = false;
  }
  return all;
}
/// A new, empty file that is removed with this object.
class TempFile {
 public:
  explicit TempFile(std::string name) : name(std::move(name)) {}
  TempFile(TempFile&& other) noexcept : name(std::exchange(other.name, {})) {}
  ~TempFile() {
    if (!name.empty()) std::remove(name.c_str());
  }

  std::string name;
};
/// In the folder that TMPDIR names, or in /tmp.
inline TempFile make_tempfile(const std::string& prefix = "torch-file-") {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder ? folder : "/tmp") + "/" + prefix + "XXXXXX";
  const int file = mkstemp(name.data());
  TENON_CHECK(file >= 0, "[make_tempfile] cannot make '", name, "'");
  close(file);
  return TempFile(std::move(name));
}

namespace guts {
using c10::to_string;
/// The key of a parameter's state in an optimizer: libtorch 1.13 writes it as a text.
inline const void* to_string(tenon::TensorImpl* parameter) { return parameter; }
}  // namespace guts

inline std::string demangle(const char* name) {
  struct Named : std::type_info {
    explicit Named(const char* name) : std::type_info(name) {}
  };
  return tenon::detail::type_name(Named(name));
}

}  // namespace c10

namespace at {

using namespace tenon;
using c10::complex;
using c10::make_optional;
using c10::nullopt;
using c10::optional;

/// The work that threads besides this one do; Tenon has none of its own between operators.
inline void init_num_threads() {}
inline int get_num_interop_threads() { return 1; }
/// Accepted for libtorch's sake: nothing runs between operators.
inline void set_num_interop_threads(int count) {
  TENON_CHECK_VALUE(count > 0, "[set_num_interop_threads] count must be positive, got ", count);
}

/// Keeps the values' own dtype, as at::tensor does: int gives Int, double Double. A number gives a
/// tensor of one dimension. torch::tensor gives Long and the default dtype.
template <class T>
Tensor tensor(ArrayRef<T> values, const TensorOptions& options = {}) {
  return tenon::tensor(values,
                       options.dtype(options.dtype_opt().value_or(tenon::scalar_type_of<T>)));
}
template <class T>
Tensor tensor(const std::vector<T>& values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T>
Tensor tensor(std::initializer_list<T> values, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(values), options);
}
template <class T>
requires requires { tenon::ScalarTypeOf<T>::value; }
Tensor tensor(T value, const TensorOptions& options = {}) {
  return at::tensor(ArrayRef<T>(value), options);
}

using AutoDispatchBelowADInplaceOrView = BelowAutograd;
using AutoDispatchBelowAutograd = BelowAutograd;

}  // namespace at

namespace caffe2 {
/// dtypes are ScalarType; this names them by C++ types.
struct TypeMeta {
  template <class T>
  static tenon::ScalarType Make() {
    return tenon::scalar_type_of<T>;
  }
};
}  // namespace caffe2

namespace ska {

/// Also the type of Optimizer::state(), whatever its keys are called.
template <class Key, class T>
using flat_hash_map =
    std::conditional_t<std::is_same_v<T, std::unique_ptr<tenon::optim::OptimizerParamState>>,
                       tenon::optim::Optimizer::State, std::unordered_map<Key, T>>;

}  // namespace ska

namespace torch {

using namespace tenon;
using at::get_num_interop_threads;
using at::init_num_threads;
using at::set_num_interop_threads;
using c10::complex;
using c10::make_optional;
using c10::nullopt;
using c10::optional;

template <class F, class... Args>
void apply(F f, Args&&... args) {
  (f(std::forward<Args>(args)), ...);
}
template <bool... values>
using all_of = std::bool_constant<(values && ...)>;
template <bool... values>
using any_of = std::bool_constant<(values || ...)>;
template <bool condition, class T = void>
using enable_if_t = std::enable_if_t<condition, T>;
using std::decay_t;
using std::make_unique;

/// What PyTorch's reshape() calls where a view is possible.
inline Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return tenon::as_strided(self, size, stride);
}

inline ScalarType typeMetaToScalarType(ScalarType dtype) { return dtype; }
inline ScalarType scalarTypeToTypeMeta(ScalarType dtype) { return dtype; }

namespace utils {
/// All elements of the tensors, one after the other.
inline Tensor flatten_dense_tensors(TensorList tensors) {
  std::vector<Tensor> flat;
  for (const Tensor& one : tensors) flat.push_back(one.contiguous().view({-1}));
  return flat.size() == 1 ? flat[0] : cat(flat);
}
/// Slices of `flat` with the tensors' sizes; one without elements has memory of its own.
inline std::vector<Tensor> unflatten_dense_tensors(const Tensor& flat, TensorList tensors) {
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const Tensor& one : tensors) {
    parts.push_back(one.numel() == 0 ? zeros(one.sizes(), flat.options())
                                     : flat.narrow(0, at, one.numel()).view(one.sizes()));
    at += one.numel();
  }
  return parts;
}
}  // namespace utils

namespace cuda {
/// How many devices a library of CUDA kernels that the program loaded provides.
inline size_t device_count() {
  return has_device_interface(kCUDA) ? device_interface(kCUDA).device_count() : 0;
}
inline bool is_available() { return device_count() > 0; }
}  // namespace cuda

}  // namespace torch

// ---- macros ----

#define TORCH_API TENON_API
#define TORCH_ARG TENON_ARG
#define TORCH_MODULE TENON_MODULE
#define TORCH_MODULE_IMPL TENON_MODULE_IMPL
#define FORWARD_HAS_DEFAULT_ARGS TENON_FORWARD_DEFAULTS
#define TORCH_FN TENON_FN
#define TORCH_LIBRARY TENON_LIBRARY
#define TORCH_LIBRARY_FRAGMENT TENON_LIBRARY_FRAGMENT
#define TORCH_LIBRARY_IMPL TENON_LIBRARY_IMPL
#define TORCH_WARN TENON_WARN
#define TORCH_WARN_ONCE TENON_WARN_ONCE
#define TORCH_INTERNAL_ASSERT TENON_ASSERT
#define TORCH_INTERNAL_ASSERT_DEBUG_ONLY TENON_ASSERT

/// TORCH_CHECK(condition, parts of the message...): the message may be left out.
#define TORCH_CHECK(cond, ...)         \
  TENON_CHECK_AS(::tenon::Error, cond, \
                 ::tenon::detail::message_or_condition(#cond __VA_OPT__(, ) __VA_ARGS__))
#define TORCH_CHECK_INDEX TENON_CHECK_INDEX
#define TORCH_CHECK_VALUE TENON_CHECK_VALUE
#define TORCH_CHECK_TYPE TENON_CHECK_TYPE
#define TORCH_CHECK_NOT_IMPLEMENTED TENON_CHECK_NOT_IMPLEMENTED
#define AT_ASSERT TENON_ASSERT
#define AT_ASSERTM TORCH_CHECK
#define AT_ERROR(...) ::tenon::detail::raise<::tenon::Error>(__VA_ARGS__)
