#include "aten/conjugate/unresolved_fallback.h"

#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/registration.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/copy.h"

namespace tenon::unresolved {
namespace {

/// Arguments without bits, and the way back.
class Resolved {
 public:
  Value argument(const Value& value, bool is_written) {
    if (value.is_tensor()) return tensor(value.to_tensor(), is_written);
    if (!value.is_tensor_list()) return value;
    Value::Tensors list;
    for (const TensorBase& t : value.to_tensors()) list.push_back(tensor(t, is_written));
    return list;
  }

  void finish() const {
    for (const auto& [original, copy] : written_) {
      if (original.sizes() != copy.sizes()) resize(original, copy.sizes());
      Tensor to(original);
      ops::copy_::call(to, Tensor(copy), false);
    }
  }

  /// The argument itself if the result is the copy of one.
  Value result(const Value& value) const {
    if (value.is_tensor()) return original_of(value.to_tensor());
    if (!value.is_tensor_list()) return value;
    Value::Tensors list;
    for (const TensorBase& t : value.to_tensors()) list.push_back(original_of(t));
    return list;
  }

 private:
  TensorBase tensor(const TensorBase& t, bool is_written) {
    if (!t.defined() || !t.key_set().has(Backend::Unresolved)) return t;
    // The same tensor twice stays one.
    for (const auto& [original, copy] : copies_) {
      if (!original.is_same(t)) continue;
      if (is_written) written_.emplace_back(t, copy);
      return copy;
    }
    TensorBase copy = ops::clone::call(Tensor(t), std::nullopt);
    copy.unsafe_impl()->is_wrapped_number = t.is_wrapped_number();
    copies_.emplace_back(t, copy);
    if (is_written) written_.emplace_back(t, copy);
    return copy;
  }

  TensorBase original_of(const TensorBase& t) const {
    for (const auto& [original, copy] : written_) {
      if (copy.is_same(t)) return original;
    }
    return t;
  }

  std::vector<std::pair<TensorBase, TensorBase>> copies_, written_;
};

}  // namespace

void fallback(const OperatorEntry& op, DispatchKeySet keys, Stack& stack) {
  const auto schema = schema_of(op);
  TENON_CHECK_NOT_IMPLEMENTED(
      !schema->is_view(), "[", op.qualified_name(),
      "] its result is a view of an argument, which has a conjugate or negative bit. Call "
      "resolve_conj() and resolve_neg() first (",
      op.info->source, ")");
  const ExcludeLayers exclude(static_cast<uint8_t>(~keys.layers));
  const size_t first = stack.size() - schema->args.size();
  Resolved resolved;
  Stack call;
  call.reserve(schema->args.size());
  for (size_t i = 0; i < schema->args.size(); ++i)
    call.push_back(resolved.argument(stack[first + i], schema->args[i].is_mutable()));
  op.call_boxed(call);
  resolved.finish();
  stack.resize(first);
  for (const Value& result : call) stack.push_back(resolved.result(result));
}

}  // namespace tenon::unresolved
