#pragma once

// What generated libraries of the stable interface call (--target stable): types and shapes of
// results, rows, and operators by the names that composed forms use. It becomes part of each
// library.

#include <algorithm>
#include <cmath>

#define TENON_PARALLEL(begin, end, grain, f) tenon::stable::parallel_for(begin, end, grain, f)

#include "aten/core/scalar.h"
#include "aten/cpu/standalone/array.h"
#include "aten/iterator/pointwise_op.h"
#include "aten/iterator/rows.h"
#include "aten/stable/stable_library.h"

namespace tenon::stable {
using IntArrayRef = Ints;
using OptionalIntArrayRef = std::optional<Ints>;
}  // namespace tenon::stable

namespace tenon_stable {

using tenon::stable::BackwardCall;
using tenon::stable::Error;
using tenon::stable::Ints;
using tenon::stable::Tensor;
using Tensors = std::initializer_list<const Tensor*>;  // null or undefined: absent
using Numbers = std::vector<tenon::Scalar>;

// ---- Numbers and dtypes

inline tenon::Scalar number(const tenon::stable::Scalar& s) {
  if (s.is_boolean()) return s.to<bool>();
  if (s.is_integral()) return s.to<int64_t>();
  if (s.is_complex()) return s.to<std::complex<double>>();
  return s.to<double>();
}
inline tenon::Scalar number(double value) { return value; }
inline tenon::Scalar number(int64_t value) { return value; }
inline tenon::Scalar number(bool value) { return value; }
inline tenon::stable::Scalar as_stable(const tenon::Scalar& s) {
  if (s.is_boolean()) return s.toBool();
  if (s.is_integral(false)) return s.toLong();
  if (s.is_complex()) return s.toComplexDouble();
  return s.toDouble();
}

inline const Tensor* pointer(const Tensor& t) { return &t; }
inline const Tensor* pointer(const std::optional<Tensor>& t) {
  return t && t->defined() ? &*t : nullptr;
}

/// The promoted dtype of the tensors and numbers whose bits are set.
inline tenon::ScalarType promoted(Tensors tensors, const Numbers& numbers, uint32_t tensor_mask,
                                  uint32_t number_mask) {
  const auto counts = [](uint32_t mask, size_t k) { return (mask >> k & 1) != 0; };
  std::optional<tenon::stable::ScalarType> same;
  bool alike = true;
  size_t k = 0;
  for (const Tensor* t : tensors) {
    if (t && t->defined() && counts(tensor_mask, k)) {
      alike &= !same || *same == t->scalar_type();
      same = t->scalar_type();
    }
    ++k;
  }
  const bool floating = same && tenon::is_floating_point(static_cast<tenon::ScalarType>(*same));
  for (k = 0; k < numbers.size(); ++k)
    alike &= !counts(number_mask, k) || (floating && !numbers[k].is_complex());
  if (same && alike) return static_cast<tenon::ScalarType>(*same);
  std::vector<TenonValue> values;
  k = 0;
  for (const Tensor* t : tensors) {
    if (t && t->defined() && counts(tensor_mask, k))
      values.push_back(tenon::stable::detail::lend(*t));
    ++k;
  }
  for (k = 0; k < numbers.size(); ++k) {
    if (counts(number_mask, k))
      values.push_back(tenon::stable::detail::lend(as_stable(numbers[k])));
  }
  int32_t dtype = 0;
  tenon::stable::check(tenon::stable::table->result_type(
      values.data(), static_cast<int64_t>(values.size()), &dtype));
  return static_cast<tenon::ScalarType>(dtype);
}
inline tenon::ScalarType default_dtype() {
  return static_cast<tenon::ScalarType>(tenon::stable::table->default_dtype());
}

struct Types {
  tenon::ScalarType common, output;
};
inline Types types_of(const tenon::native::PointwiseOp& op, Tensors inputs,
                      const Numbers& numbers) {
  using tenon::schema::Promotion;
  tenon::ScalarType common = promoted(inputs, numbers, op.promoting_inputs, op.promoting_scalars);
  const bool integral = tenon::is_integral(common, true);
  if (integral && tenon::schema::makes_floating(op.promotion)) common = default_dtype();
  if (common == tenon::kBool && op.promotion == Promotion::kBoolToLong) common = tenon::kLong;
  tenon::ScalarType output = common;
  if (op.promotion == Promotion::kComplexToFloat && common == tenon::kComplexFloat)
    output = tenon::kFloat;
  if (op.promotion == Promotion::kComplexToFloat && common == tenon::kComplexDouble)
    output = tenon::kDouble;
  if (tenon::schema::gives_bool(op.promotion)) output = tenon::kBool;
  return {common, output};
}

struct Array : tenon_array {
  Array() : tenon_array{} {}
  explicit Array(const Tensor& t)
      : tenon_array{t.numel() ? t.data_ptr() : nullptr, static_cast<int32_t>(t.scalar_type()),
                    static_cast<int32_t>(t.dim()), t.sizes().data(), t.strides().data()} {}
};

inline std::string text_of(Ints sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

/// `sizes` broadcast with those of one more tensor.
inline void broadcast(std::vector<int64_t>& sizes, Ints other, const char* op) {
  std::vector<int64_t> wide(std::max(sizes.size(), other.size()), 1);
  std::copy(sizes.begin(), sizes.end(), wide.end() - static_cast<int64_t>(sizes.size()));
  sizes.swap(wide);
  for (size_t i = 0; i < other.size(); ++i) {
    int64_t& size = sizes[sizes.size() - other.size() + i];
    if (size == 1) size = other[i];
    if (other[i] != 1 && other[i] != size)
      throw Error(std::string("[") + op + "] shapes " + text_of(sizes) + " and " + text_of(other) +
                      " do not broadcast",
                  TENON_VALUE_ERROR);
  }
}

inline void check_same_device(const Tensor& a, const Tensor& b, const char* op) {
  if (a.device() != b.device())
    throw Error(std::string("[") + op + "] expected all tensors on one device");
}

inline Tensor make(Ints sizes, const Tensor& like, tenon::ScalarType dtype, Ints strides = {}) {
  return tenon::stable::empty(sizes, static_cast<tenon::stable::ScalarType>(dtype), like.device(),
                              strides);
}

/// Whether the elements fill their memory without gaps.
inline bool is_dense(const Tensor& t) {
  if (t.is_contiguous()) return true;
  std::vector<std::pair<int64_t, int64_t>> order;  // stride and size
  for (size_t d = 0; d < t.sizes().size(); ++d) order.emplace_back(t.strides()[d], t.sizes()[d]);
  std::sort(order.begin(), order.end());
  int64_t step = 1;
  for (const auto& [stride, size] : order) {
    if (size != 1 && stride != step) return false;
    step *= size;
  }
  return true;
}

/// Results of a pointwise call are as the inputs in memory if these are alike, else row-major.
inline Tensor make_elementwise(Tensors inputs, tenon::ScalarType dtype, const char* op) {
  const Tensor& first = **inputs.begin();
  const Ints sizes = first.sizes(), strides = first.strides();
  bool alike = true;
  for (const Tensor* t : inputs) {
    if (t == &first) continue;
    check_same_device(*t, first, op);
    alike = alike && t->sizes() == sizes && t->strides() == strides;
  }
  if (alike && is_dense(first)) return make(sizes, first, dtype, strides);
  std::vector<int64_t> all;
  for (const Tensor* t : inputs) broadcast(all, t->sizes(), op);
  return make(all, first, dtype);
}

inline Types make_pointwise(const tenon::native::PointwiseOp& op, Tensors inputs,
                            const Numbers& numbers, Tensor* outputs) {
  const Types types = types_of(op, inputs, numbers);
  for (int k = 0; k < op.num_outputs; ++k)
    outputs[k] = make_elementwise(inputs, types.output, op.name);
  return types;
}

// ---- Rows

struct Rows {
  std::vector<int64_t> sizes;
  uint32_t mask = 0;
  bool keepdim = false;
  const char* op;

  Rows(const char* name, Tensors elements, bool keep) : keepdim(keep), op(name) {
    for (const Tensor* t : elements) broadcast(sizes, t->sizes(), name);
  }
  int64_t dim() const { return static_cast<int64_t>(sizes.size()); }
  bool in_row(size_t d) const { return mask >> d & 1; }
  Rows& over_all() {
    mask = (1u << dim()) - 1;
    return *this;
  }
  Rows& over(int64_t d) {
    const int64_t n = std::max<int64_t>(dim(), 1);
    if (d < -n || d >= n)
      throw Error("Dimension out of range (expected to be in range of [" + std::to_string(-n) +
                      ", " + std::to_string(n - 1) + "], but got " + std::to_string(d) + ")",
                  TENON_INDEX_ERROR);
    if (d < 0) d += n;
    if (dim() > 0 && (mask >> d & 1))
      throw Error(std::string("[") + op + "] dim " + std::to_string(d) +
                  " appears multiple times in the list of dims");
    if (dim() > 0) mask |= 1u << d;
    return *this;
  }
  Rows& over(const std::optional<Ints>& dims) {
    if (!dims || dims->empty()) return over_all();
    for (const int64_t d : *dims) over(d);
    return *this;
  }
  Rows& over(Ints dims) { return over(std::optional<Ints>(dims)); }
  Rows& over_sizes(Ints last) {
    const auto n = static_cast<int64_t>(last.size());
    bool same = n <= dim();
    for (int64_t d = 0; same && d < n; ++d)
      same = sizes[static_cast<size_t>(dim() - n + d)] == last[static_cast<size_t>(d)];
    if (!same)
      throw Error(std::string("[") + op + "] expected the last dimensions to be " + text_of(last) +
                  ", got an input of shape " + text_of(sizes));
    for (int64_t d = 0; d < n; ++d) mask |= 1u << (dim() - 1 - d);
    return *this;
  }

  std::vector<int64_t> chosen(bool row) const {
    std::vector<int64_t> out;
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (in_row(d) == row) out.push_back(sizes[d]);
    }
    return out;
  }
  std::vector<int64_t> shape(tenon::native::RowOperand kind) const {
    if (kind == tenon::native::RowOperand::Element) return sizes;
    if (kind == tenon::native::RowOperand::Column) return chosen(true);
    if (!keepdim) return chosen(false);
    std::vector<int64_t> out = sizes;
    for (size_t d = 0; d < out.size(); ++d) {
      if (in_row(d)) out[d] = 1;
    }
    return out;
  }
  static int64_t product(Ints all) {
    int64_t n = 1;
    for (const int64_t size : all) n *= size;
    return n;
  }
  int64_t rows() const { return product(chosen(false)); }
  int64_t length() const { return product(chosen(true)); }
  std::vector<int64_t> row_last() const {
    std::vector<int64_t> order;
    for (const bool row : {false, true}) {
      for (size_t d = 0; d < sizes.size(); ++d) {
        if (in_row(d) == row) order.push_back(static_cast<int64_t>(d));
      }
    }
    return order;
  }

  // As operators compute: elements [rows, length], values of rows [rows, 1], columns [1, length].
  static Tensor expanded(const Tensor& t, const std::vector<int64_t>& to) {
    return tenon::stable::call("aten::expand", t, to);
  }
  static Tensor reshaped(const Tensor& t, const std::vector<int64_t>& to) {
    return tenon::stable::call("aten::reshape", t, to);
  }
  static Tensor permuted(const Tensor& t, const std::vector<int64_t>& order) {
    return tenon::stable::call("aten::permute", t, order);
  }
  Tensor element_rows(const Tensor& t) const {
    return reshaped(permuted(expanded(t, sizes), row_last()), {rows(), length()});
  }
  Tensor row_values(const Tensor& t) const { return reshaped(t, {rows(), 1}); }
  Tensor column_values(const Tensor& t) const { return reshaped(t, {1, length()}); }
  Tensor or_number(const std::optional<Tensor>& t, double absent, bool column,
                   const Tensor& like) const {
    if (t && t->defined()) return column ? column_values(*t) : row_values(*t);
    return expanded(tenon::stable::call("aten::scalar_tensor", absent, like.scalar_type(),
                                        std::nullopt, like.device()),
                    {1, 1});
  }
  Tensor from_elements(const Tensor& t) const {
    std::vector<int64_t> sorted = chosen(false);
    for (const int64_t size : chosen(true)) sorted.push_back(size);
    const std::vector<int64_t> order = row_last();
    std::vector<int64_t> back(order.size());
    for (size_t d = 0; d < order.size(); ++d)
      back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
    return permuted(reshaped(expanded(t, {rows(), length()}), sorted), back);
  }
  Tensor from_rows(const Tensor& t) const {
    return reshaped(expanded(t, {rows(), 1}), shape(tenon::native::RowOperand::Row));
  }
  Tensor column_sums(const Tensor& t) const {
    return reshaped(tenon::stable::call("aten::sum", expanded(t, {rows(), length()}), 0, false),
                    chosen(true));
  }
};

/// The promoted dtype, after results are allocated. `wanted`: bit k of result k.
inline tenon::ScalarType make_rows(const tenon::native::RowOp& op, const Rows& rows, Tensors inputs,
                                   Tensor* outputs, uint32_t wanted = ~0u) {
  using DType = tenon::native::RowOutput::DType;
  uint32_t mask = 0;
  const Tensor* like = nullptr;
  int k = 0;
  for (const Tensor* t : inputs) {
    if (t && t->defined()) {
      if (op.inputs[k].promotes) mask |= 1u << k;
      if (!like) like = t;
      check_same_device(*t, *like, op.name);
    }
    ++k;
  }
  tenon::ScalarType common = promoted(inputs, {}, mask, 0);
  const bool integral = tenon::is_integral(common, true);
  if (op.floating && integral) common = default_dtype();
  for (k = 0; k < op.num_outputs; ++k) {
    if (!(wanted >> k & 1)) continue;
    const DType dtype = op.outputs[k].dtype;
    const bool sum = dtype == DType::Sum && tenon::is_integral(common, true);
    const tenon::ScalarType type = dtype == DType::Bool          ? tenon::kBool
                                   : dtype == DType::Long || sum ? tenon::kLong
                                                                 : common;
    outputs[k] = make(rows.shape(op.outputs[k].kind), *like, type);
  }
  return common;
}

/// A gradient in the shape of its argument.
inline Tensor fitted(const Tensor& grad, Ints sizes) {
  if (!grad.defined() || grad.sizes() == sizes) return grad;
  if (grad.numel() == Rows::product(sizes))
    return tenon::stable::call("aten::reshape", grad, sizes);
  return tenon::stable::call("aten::sum_to_size", grad, sizes);
}

/// Result i's gradient, zeros if there is none but another one.
inline Tensor gradient_of(const BackwardCall& call, size_t i, std::initializer_list<size_t> all) {
  if (Tensor own = call.gradient(i); own.defined()) return own;
  for (const size_t other : all) {
    if (const Tensor like = call.gradient(other); like.defined())
      return tenon::stable::call("aten::new_zeros", like, call.result_sizes(i));
  }
  return {};
}

}  // namespace tenon_stable

/// Tenon's operators, by the names that composed forms call.
namespace tenon_stable::ops {

using namespace tenon::stable;
inline constexpr ScalarType kLong = ScalarType::Int64;

inline Tensor expand(const Tensor& t, const std::vector<int64_t>& sizes) {
  return Rows::expanded(t, sizes);
}
inline Tensor scalar_tensor(const Scalar& number) { return call("aten::scalar_tensor", number); }
inline Tensor scalar_tensor(const Scalar& number, const TensorOptions& options) {
  return call("aten::scalar_tensor", number, options.type, std::nullopt, options.place);
}
inline Tensor arange(int64_t end, const TensorOptions& options) {
  return call("aten::arange", end, options.type, std::nullopt, options.place);
}

}  // namespace tenon_stable::ops
