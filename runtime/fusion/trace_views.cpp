// Operators of elements move past views, so that a kernel computes them with what made the operand.
//
//     silu(reshape(layer_norm(x), s) * w)   reshape(silu(layer_norm(x) * reshape(w, ...)), s)
//     cat({-b, a}, -1) * sin + x            cat({-b * sin[..., :n] + x[..., :n], a * ...}, -1)

#include <algorithm>
#include <array>

#include "runtime/fusion/composition_text.h"
#include "runtime/fusion/shapes.h"
#include "runtime/fusion/trace.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/reshape.h"

namespace tenon::fusion {
namespace {

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, const FunctionSchema& schema) {
  return std::find(names.begin(), names.end(), schema.name) != names.end();
}

constexpr std::array<std::string_view, 4> kRows = {"layer_norm", "rms_norm", "softmax",
                                                   "log_softmax"};
constexpr std::array<std::string_view, 5> kReshapes = {"reshape", "view", "_unsafe_view", "flatten",
                                                       "unflatten"};
/// More would be as many kernels.
constexpr size_t kMaxPieces = 4;

/// Whether an operator computes each element by itself, and gives one new tensor.
bool is_of_elements(const OperatorEntry& op, const FunctionSchema& schema) {
  const std::string_view rule = op.info->batching ? op.info->batching : "";
  return rule.starts_with("elements") && !rule.ends_with("random") && schema.returns.size() == 1 &&
         schema.returns[0].type.is_tensor() && !schema.has_mutable_arg();
}

std::string braces(IntArrayRef numbers) {
  std::string text;
  for (const int64_t one : numbers) text += (text.empty() ? "" : ", ") + std::to_string(one);
  return "{" + text + "}";
}

/// A tensor operand that is no number; the first for which `holds`.
template <class Holds>
TensorBase find_operand(const Stack& stack, size_t first, const Holds& holds) {
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor() && holds(stack[i].to_tensor())) return stack[i].to_tensor();
  }
  return {};
}

}  // namespace

/// A tensor is written to: what was computed with it has no other way any more.
void Trace::forget_views() {
  of_rows_.clear();
  sources_.clear();
  pieces_.clear();
  makers_.clear();
  parts_.clear();
}

void Trace::note_views(const OperatorEntry& op, const FunctionSchema& schema, const Stack& given,
                       const Value& result) {
  if (!result.is_tensor() || schema.returns.size() != 1 || given.empty()) return;
  const TensorBase made = result.to_tensor();
  const TensorImpl* const impl = made.unsafe_impl();
  if (schema.name == "cat" && given[0].is_tensor_list()) {
    const Value::Tensors& parts = given[0].to_tensors();
    const bool same_rank = std::all_of(parts.begin(), parts.end(), [&](const TensorBase& one) {
      return one.dim() == made.dim() && one.scalar_type() == made.scalar_type();
    });
    int64_t dim = given[1].to_int();
    if (dim >= 0) dim -= made.dim();
    if (same_rank && parts.size() > 1 && parts.size() <= kMaxPieces) pieces_[impl] = {dim, parts};
    return;
  }
  if (!given[0].is_tensor()) return;
  const TensorBase self = given[0].to_tensor();
  const TensorImpl* const of = self.unsafe_impl();
  const bool is_same_shape = self.sizes() == made.sizes();
  if (is_one_of(kRows, schema) && is_same_shape) of_rows_.insert(impl);
  if (is_one_of(kReshapes, schema) && made.is_contiguous() && self.is_contiguous() && impl != of) {
    if (const auto found = sources_.find(of); found != sources_.end()) {
      sources_[impl] = found->second;
    } else if (of_rows_.contains(of) && !is_same_shape) {
      sources_[impl] = self;
    }
  }
  if (is_of_elements(op, schema) && !is_hidden()) makers_[impl] = {&op, given};
  if (is_of_elements(op, schema) && is_same_shape) {
    const bool any = find_operand(given, 0, [&](const TensorBase& t) {
                       return of_rows_.contains(t.unsafe_impl()) && t.sizes() == made.sizes();
                     }).defined();
    if (any) of_rows_.insert(impl);
  }
}

/// The operator with other operands; its result is recorded.
TensorBase Trace::call_with(const OperatorEntry& op, const FunctionSchema& schema,
                            const Stack& stack, size_t first, const Change& change) {
  Stack copy(stack.begin() + static_cast<ptrdiff_t>(first), stack.end());
  for (Value& value : copy) {
    if (value.is_tensor() && !value.to_tensor().is_wrapped_number())
      value = Value(change(value.to_tensor()));
  }
  const std::string text = call_text(op, schema, copy, 0);
  op.call_boxed(copy);
  const TensorBase made = copy.at(0).to_tensor();
  note_result(made, add_local(text));
  return made;
}

TensorBase Trace::reshaped(const TensorBase& t, IntArrayRef sizes) {
  if (t.sizes() == sizes) return t;
  const TensorBase made = tenon::reshape(Tensor(t), sizes);
  note_result(made, add_local("reshape(" + text_of(t) + ", " + braces(sizes) + ")"));
  return made;
}

/// A part of a tensor along a dimension from its end. An operator of elements is called on the
/// parts of its operands.
TensorBase Trace::narrowed(const TensorBase& t, int64_t dim, int64_t start, int64_t length) {
  if (t.dim() < -dim || t.size(dim) == 1) return t;
  const Part part = {t.unsafe_impl(), dim, start, length};
  if (const auto known = parts_.find(part); known != parts_.end()) return known->second;
  const auto maker = makers_.find(t.unsafe_impl());
  TensorBase made;
  if (maker != makers_.end()) {
    made = call_with(*maker->second.op, *schema_of(*maker->second.op), maker->second.arguments, 0,
                     [&](const TensorBase& one) { return narrowed(one, dim, start, length); });
  } else {
    made = tenon::narrow(Tensor(t), t.dim() + dim, start, length);
    // The function may have this part already, whose gradients are then added up first.
    const auto same = std::find_if(kept_.begin(), kept_.end(), [&](const TensorBase& one) {
      return is_same_place(one, made) && one.scalar_type() == made.scalar_type() &&
             texts_.contains(one.unsafe_impl());
    });
    if (same != kept_.end()) {
      made = *same;
    } else {
      note_result(made, add_local("narrow(" + text_of(t) + ", " + std::to_string(dim) + ", " +
                                  std::to_string(start) + ", " + std::to_string(length) + ")"));
    }
  }
  return parts_[part] = made;
}

/// f(reshape(x), y) is reshape(f(x, reshape(y))) if a kernel of rows computes x.
bool Trace::call_before_view(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                             size_t first) {
  if (!is_of_elements(op, schema)) return false;
  const auto source_of = [&](const TensorBase& t) {
    const auto found = sources_.find(t.unsafe_impl());
    return found == sources_.end() ? TensorBase() : found->second;
  };
  const TensorBase view =
      find_operand(stack, first, [&](const TensorBase& t) { return source_of(t).defined(); });
  if (!view.defined()) return false;
  const TensorBase source = source_of(view);
  std::unordered_map<const TensorImpl*, std::vector<int64_t>> sizes;
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor_list()) return false;
    if (!stack[i].is_tensor()) continue;
    const TensorBase t = stack[i].to_tensor();
    const TensorBase own = source_of(t);
    if (t.is_wrapped_number() || (own.defined() && own.sizes() == source.sizes())) continue;
    const auto other = sizes_in_shape(t.sizes(), view.sizes(), source.sizes());
    if (!other || !t.is_contiguous()) return false;
    sizes[t.unsafe_impl()] = *other;
  }
  const TensorBase before = call_with(op, schema, stack, first, [&](const TensorBase& t) {
    const auto other = sizes.find(t.unsafe_impl());
    return other == sizes.end() ? source_of(t) : reshaped(t, other->second);
  });
  op.call_boxed(stack);
  const TensorBase made = stack[first].to_tensor();
  TENON_CHECK(before.sizes() == source.sizes() && made.sizes() == view.sizes(), "[fuse] ",
              op.qualified_name(), " of a view gives ", made.sizes(), ", of its source ",
              before.sizes());
  note_result(made, add_local("reshape(" + text_of(before) + ", " + braces(made.sizes()) + ")"));
  of_rows_.insert(before.unsafe_impl());
  sources_[made.unsafe_impl()] = before;
  return true;
}

/// f(cat({x, y}), z) is cat({f(x, z[:n]), f(y, z[n:])}), unless the gradients of parts would be
/// added up in tensors of the whole.
bool Trace::call_on_pieces(const OperatorEntry& op, const FunctionSchema& schema, Stack& stack,
                           size_t first) {
  if (!is_of_elements(op, schema)) return false;
  const auto pieces_of = [&](const TensorBase& t) -> const Pieces* {
    const auto found = pieces_.find(t.unsafe_impl());
    return found == pieces_.end() ? nullptr : &found->second;
  };
  const TensorBase whole = find_operand(stack, first, pieces_of);
  if (!whole.defined()) return false;
  const Pieces pieces = *pieces_of(whole);
  const auto length = [&](const TensorBase& part) { return part.size(pieces.dim); };
  const auto fits = [&](const Pieces& other) {
    return other.dim == pieces.dim &&
           std::equal(
               other.parts.begin(), other.parts.end(), pieces.parts.begin(), pieces.parts.end(),
               [&](const TensorBase& a, const TensorBase& b) { return length(a) == length(b); });
  };
  for (size_t i = first; i < stack.size(); ++i) {
    if (stack[i].is_tensor_list()) return false;
    if (!stack[i].is_tensor() || stack[i].to_tensor().is_wrapped_number()) continue;
    // The result has the shape of the whole.
    const TensorBase t = stack[i].to_tensor();
    if (t.dim() > whole.dim()) return false;
    for (int64_t d = 1; d <= t.dim(); ++d) {
      if (t.size(-d) != 1 && t.size(-d) != whole.size(-d)) return false;
    }
  }
  depends_on_gradients_ = true;
  if (has_gradients_) return false;
  Pieces made = {pieces.dim, {}};
  int64_t start = 0;
  std::string text;
  for (size_t k = 0; k < pieces.parts.size(); ++k) {
    const int64_t n = length(pieces.parts[k]);
    made.parts.push_back(call_with(op, schema, stack, first, [&](const TensorBase& t) {
      const Pieces* const own = pieces_of(t);
      if (own && fits(*own)) return own->parts[k];
      return narrowed(t, pieces.dim, start, n);
    }));
    text += (text.empty() ? "" : ", ") + text_of(made.parts.back());
    start += n;
  }
  op.call_boxed(stack);
  const TensorBase result = stack[first].to_tensor();
  note_result(result, add_local("cat({" + text + "}, " + std::to_string(pieces.dim) + ")"));
  pieces_[result.unsafe_impl()] = std::move(made);
  return true;
}

}  // namespace tenon::fusion
