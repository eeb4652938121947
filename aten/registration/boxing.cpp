#include "aten/registration/boxing.h"

namespace tenon::detail {

std::vector<Tensor> Unbox<std::vector<Tensor>>::from(const Value& v) {
  const auto& list = v.to_tensors();
  return std::vector<Tensor>(list.begin(), list.end());
}

std::vector<std::optional<Tensor>> Unbox<std::vector<std::optional<Tensor>>>::from(const Value& v) {
  std::vector<std::optional<Tensor>> list;
  for (const TensorBase& t : v.to_tensors()) {
    list.push_back(t.defined() ? std::optional<Tensor>(t) : std::nullopt);
  }
  return list;
}

void box(Stack& stack, const Tensor& v) { stack.emplace_back(TensorBase(v)); }
void box(Stack& stack, TensorList v) { stack.emplace_back(Value::Tensors(v.begin(), v.end())); }
void box(Stack& stack, const std::vector<Tensor>& v) { box(stack, TensorList(v)); }
void box(Stack& stack, ArrayRef<std::optional<Tensor>> v) {
  Value::Tensors list;
  for (const auto& t : v) list.push_back(t ? TensorBase(*t) : TensorBase());
  stack.emplace_back(std::move(list));
}
void box(Stack& stack, const Scalar& v) { stack.emplace_back(v); }
void box(Stack& stack, bool v) { stack.emplace_back(v); }
void box(Stack& stack, int64_t v) { stack.emplace_back(v); }
void box(Stack& stack, double v) { stack.emplace_back(v); }
void box(Stack& stack, std::string_view v) { stack.emplace_back(v); }
void box(Stack& stack, const std::string& v) { stack.emplace_back(std::string_view(v)); }
void box(Stack& stack, Device v) { stack.emplace_back(v); }
void box(Stack& stack, ScalarType v) { stack.emplace_back(v); }
void box(Stack& stack, Layout v) { stack.emplace_back(v); }
void box(Stack& stack, MemoryFormat v) { stack.emplace_back(v); }
void box(Stack& stack, const Generator& v) { stack.emplace_back(v); }
void box(Stack& stack, IntArrayRef v) { stack.emplace_back(v); }
void box(Stack& stack, const OptionalIntArrayRef& v) {
  v ? stack.emplace_back(*v) : stack.emplace_back();
}
void box(Stack& stack, ArrayRef<double> v) { stack.emplace_back(v.vec()); }
void box(Stack& stack, ArrayRef<Scalar> v) { stack.emplace_back(v.vec()); }
void box(Stack& stack, const std::vector<int64_t>& v) { stack.emplace_back(v); }
void box(Stack& stack, const std::vector<double>& v) { stack.emplace_back(v); }
void box(Stack& stack, const std::vector<Scalar>& v) { stack.emplace_back(v); }
void box_none(Stack& stack) { stack.emplace_back(); }

}  // namespace tenon::detail
