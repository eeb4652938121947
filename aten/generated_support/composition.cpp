#include "aten/generated_support/composition.h"

#include <algorithm>
#include <string>

#include "aten/core/thread_state.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/scalar_tensor.h"

namespace tenon {

Tensor native::tensor_of_number(const Scalar& number) {
  Tensor tensor = scalar_tensor(number, TensorOptions(number.type()));
  tensor.unsafe_impl()->is_wrapped_number = true;
  return tensor;
}

void native::check_word(const char* op, const char* argument, std::optional<std::string_view> text,
                        std::initializer_list<std::string_view> words) {
  if (!text || std::find(words.begin(), words.end(), *text) != words.end()) return;
  std::string all = words.size() == 1 ? "" : words.size() == 2 ? "either " : "one of ";
  for (const std::string_view& word : words) {
    const bool first = &word == words.begin(), last = &word + 1 == words.end();
    all += (first ? "'" : last ? " or '" : ", '") + std::string(word) + "'";
  }
  TENON_CHECK(false, "[", op, "] ", argument, " argument must be ", all, ", got '", *text, "'");
}

void native::MissingArgument::raise() const {
  tenon::detail::raise<Error>("[", op, "] ", names, " must be given");
}

namespace {

using Sizes = DimVector;

/// The shape that the sizes are broadcast to together with `shape`; false if they cannot be.
bool broadcast(IntArrayRef sizes, Sizes& shape) {
  while (shape.size() < sizes.size()) shape.insert(shape.begin(), 1);
  const size_t before = shape.size() - sizes.size();
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t& size = shape[before + i];
    if (size == 1) size = sizes[i];
    if (sizes[i] != 1 && sizes[i] != size) return false;
  }
  return true;
}

bool same(IntArrayRef a, IntArrayRef b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end());
}

bool has_dtype_of_role(const native::FusedOperand& operand, ScalarType dtype) {
  const ScalarType own = operand.tensor->scalar_type();
  if (operand.role == native::FusedRole::kCondition) return own == kBool;
  if (operand.role == native::FusedRole::kPosition) return own == kLong;
  return own == dtype;
}

/// Finds the shape of all elements; false if they do not fit.
bool find_shape(std::initializer_list<native::FusedOperand> operands, Sizes& shape) {
  const Tensor* first = nullptr;
  for (const native::FusedOperand& one : operands) {
    const bool elements =
        one.role == native::FusedRole::kElement || one.role == native::FusedRole::kFull;
    if (first == nullptr && elements) first = one.tensor;
  }
  if (first == nullptr || !is_floating_point(first->scalar_type())) return false;
  // Autocast computes some of the operators in float on other devices than the CPU.
  const bool autocast = DispatchKeySet{thread_state.enabled_layers, 0}.has(DispatchLayer::Autocast);
  if (autocast && first->device().type() != kCPU && first->scalar_type() != kFloat) return false;
  for (const native::FusedOperand& one : operands) {
    if (one.tensor == nullptr) continue;
    if (!one.tensor->defined() || one.tensor->device() != first->device() ||
        !has_dtype_of_role(one, first->scalar_type()))
      return false;
    if (one.role <= native::FusedRole::kCondition && !broadcast(one.tensor->sizes(), shape))
      return false;
  }
  for (const native::FusedOperand& one : operands) {
    if (one.role == native::FusedRole::kFull && !same(one.tensor->sizes(), shape)) return false;
  }
  return std::find(shape.begin(), shape.end(), 0) == shape.end();
}

}  // namespace

bool native::can_fuse(std::initializer_list<FusedOperand> operands) {
  Sizes shape;
  return find_shape(operands, shape);
}

bool native::can_fuse(std::initializer_list<FusedOperand> operands, OptionalIntArrayRef over) {
  Sizes shape;
  if (!find_shape(operands, shape) || shape.empty() || shape.size() > 64) return false;
  const int64_t rank = static_cast<int64_t>(shape.size());
  const bool all = !over || over->empty();
  uint64_t in_row = 0;
  for (int64_t i = 0; i < static_cast<int64_t>(all ? rank : over->size()); ++i) {
    const int64_t dim = all ? i : (*over)[i];
    if (dim < -rank || dim >= rank) return false;
    const uint64_t bit = uint64_t{1} << (dim < 0 ? dim + rank : dim);
    if (in_row & bit) return false;
    in_row |= bit;
  }
  Sizes row, others;
  for (int64_t i = 0; i < rank; ++i) (in_row >> i & 1 ? row : others).push_back(shape[i]);
  for (const FusedOperand& one : operands) {
    if (one.tensor == nullptr || one.role <= FusedRole::kCondition) continue;
    // One kernel has the same columns for all rows: batched ones differ from example to example.
    if (one.role == FusedRole::kColumn && one.tensor->key_set().has(DispatchLayer::Batched))
      return false;
    if (!same(one.tensor->sizes(), one.role == FusedRole::kColumn ? row : others)) return false;
  }
  return true;
}

bool native::ends_in(const Tensor& tensor, IntArrayRef sizes) {
  const IntArrayRef all = tensor.sizes();
  return !sizes.empty() && sizes.size() <= all.size() &&
         std::equal(sizes.begin(), sizes.end(), all.end() - static_cast<ptrdiff_t>(sizes.size()));
}

std::vector<int64_t> native::last_dims(IntArrayRef sizes) {
  std::vector<int64_t> dims;
  for (size_t i = sizes.size(); i > 0; --i) dims.push_back(-static_cast<int64_t>(i));
  return dims;
}

Tensor native::copied(const Tensor& view) { return tenon::clone(view, MemoryFormat::Contiguous); }

std::vector<Tensor> native::copied(const std::vector<Tensor>& views) {
  std::vector<Tensor> copies;
  copies.reserve(views.size());
  for (const Tensor& view : views) copies.push_back(copied(view));
  return copies;
}

}  // namespace tenon
