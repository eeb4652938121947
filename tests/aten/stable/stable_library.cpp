// A library of the stable interface in C++: every type of argument and result, errors, threads, a
// derivative, and operators called by name.
#include "aten/stable/stable_library.h"

using namespace tenon::stable;

namespace {

Tensor scale(const Tensor& self, double factor) {
  check_value(factor >= 0, "[scale] factor must not be negative, got " + std::to_string(factor));
  Tensor out = empty_like(self);
  const Tensor in = call("aten::contiguous", self);
  const float* from = in.data_ptr<float>();
  float* to = out.data_ptr<float>();
  parallel_for(0, self.numel(), 1000, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[i] * static_cast<float>(factor);
  });
  return out;
}

Tensor scale_meta(const Tensor& self, double) { return empty_like(self); }

void scale_backward(BackwardCall& backward) {
  if (!backward.wanted(0) || !backward.gradient().defined()) return;
  backward.set(0, call("aten::mul", backward.gradient(), backward.argument<double>(1)));
}

/// x^2 + sum(list), with the gradient by operators alone.
Tensor gather_up(const Tensor& x, const std::vector<Tensor>& list) {
  Tensor sum = call("aten::mul", x, x);
  for (const Tensor& t : list) sum = call("aten::add", sum, t);
  return sum;
}

void gather_up_backward(BackwardCall& backward) {
  const Tensor grad = backward.gradient();
  const auto list = backward.argument<std::vector<Tensor>>(1);
  if (backward.wanted(0))
    backward.set(0, call("aten::mul", call("aten::mul", grad, backward.argument(0)), 2));
  if (backward.wanted(1)) backward.set(1, std::vector<Tensor>(list.size(), grad));
}

std::tuple<Tensor, int64_t, double, bool>
describe(const Tensor& t, Scalar number, Ints sizes, std::optional<double> maybe,
         const std::vector<bool>& flags, const std::string& text, ScalarType dtype, Device device,
         const std::optional<Tensor>& other) {
  int64_t sum = static_cast<int64_t>(text.size()) + static_cast<int64_t>(dtype) + device.type;
  for (const int64_t size : sizes) sum += size;
  for (const bool flag : flags) sum += flag ? 100 : 0;
  return {t, sum, number.to<double>() + maybe.value_or(1000), other.has_value()};
}

std::vector<Tensor> twice(const Tensor& t) { return {t, call("aten::clone", t)}; }

int32_t add_one_in_place(void*, TenonOperator, uint64_t, const TenonValue* arguments, int64_t,
                         TenonValue* results, int64_t) {
  return detail::guarded([&] {
    Tensor self = detail::From<Tensor>::get(arguments[0]);
    float* data = self.data_ptr<float>();
    for (int64_t i = 0; i < self.numel(); ++i) data[i] += 1;
    results[0] = detail::give(self);
  });
}

Tensor fails(const Tensor& self, int64_t how) {
  if (how == 0) return call("aten::view", self, std::vector<int64_t>{7});
  if (how == 1) throw std::runtime_error("a standard exception");
  if (how == 2) throw Error("an index", TENON_INDEX_ERROR);
  if (how == 3) return call("aten::no_such", self);
  if (how == 4) return call("aten::mul", self, "text");
  return Tensor(self).data_ptr<int64_t>() ? self : Tensor();
}

TENON_STABLE_LIBRARY(stable_test, m) {
  m.def("scale(Tensor self, float factor=2) -> Tensor");
  m.impl<scale>("scale", "CPU");
  m.impl<scale_meta>("scale", "Meta");
  m.derivative<scale_backward>("scale", 0);
  m.def("gather_up(Tensor x, Tensor[] list) -> Tensor");
  m.impl<gather_up>("gather_up", "CompositeExplicit");
  m.derivative<gather_up_backward>("gather_up", 1 | 2);
}

TENON_STABLE_LIBRARY(stable_test, m) {
  m.def("describe(Tensor t, Scalar number, int[] sizes, float? maybe, bool[] flags, str text, "
        "ScalarType dtype, Device device, Tensor? other) -> (Tensor, int, float, bool)");
  m.impl<describe>("describe", "CompositeExplicit");
  m.def("twice(Tensor t) -> Tensor[]");
  m.impl<twice>("twice", "CompositeExplicit");
  m.def("add_one_(Tensor(a!) self) -> Tensor(a!)");
  m.impl("add_one_", "CPU", add_one_in_place);
  m.def("fails(Tensor self, int how) -> Tensor");
  m.impl<fails>("fails", "CPU");
}

}  // namespace
