#include "aten/core/operator_entry.h"
#include "tests/ops/aliases.h"
#include "tests/ops/checks.h"

namespace tenon::ops_test {
namespace {

Stack arguments_of(const Call& call, const std::vector<TensorBase>& outs = {}) {
  Stack stack = call.arguments();
  for (const TensorBase& out : outs) stack.emplace_back(out);
  return stack;
}

void check(const Case& c, const std::string& how, const OperatorEntry& op, Stack arguments) {
  const std::string text = alias_violation(op, std::move(arguments));
  if (!text.empty()) c.fail("aliases", how + text);
}

}  // namespace

void check_aliases(const Case& c) {
  check(c, "", *c.forms.op, arguments_of(c.call()));
  if (c.forms.out) {
    std::vector<TensorBase> empty_outs, fitting;
    for (const auto& result : c.expected.results) {
      if (!result.defined || result.number) return;
      empty_outs.push_back(empty({0}, result.cells.dtype, kCPU));
      fitting.push_back(empty(result.sizes, result.cells.dtype, kCPU));
    }
    check(c, "out= empty: ", *c.forms.out, arguments_of(c.call(), empty_outs));
    check(c, "out= fitting: ", *c.forms.out, arguments_of(c.call(), fitting));
  }
  Call call = c.call();
  if (!c.forms.inplace || call.num_tensors() == 0 || c.expected.results.size() != 1) return;
  const TensorBase self = rearranged(call.tensor(0), Arrangement::kContiguous);
  const auto& expected = c.expected.results[0];
  if (self.sizes() != IntArrayRef(expected.sizes) ||
      !can_cast(expected.cells.dtype, self.scalar_type())) {
    return;
  }
  call.set_tensor(0, self);
  check(c, "in place: ", *c.forms.inplace, arguments_of(call));
}

}  // namespace tenon::ops_test
