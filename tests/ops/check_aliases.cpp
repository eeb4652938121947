#include "aten/dispatch/operator_entry.h"
#include "tests/ops/aliases.h"
#include "tests/ops/checks.h"

namespace tenon::ops_test {
namespace {

void check(const Case& c, const std::string& how, const OperatorEntry& op, Stack arguments) {
  const std::string text = alias_violation(op, std::move(arguments));
  if (!text.empty()) c.fail("aliases", how + text);
}

}  // namespace

void check_aliases(const Case& c) {
  check(c, "", *c.forms.op, c.call().arguments());
  if (c.forms.out) {
    std::vector<TensorBase> empty_outs, fitting;
    for (const auto& result : c.expected.results) {
      if (!result.defined || result.number) return;
      empty_outs.push_back(empty({0}, result.cells.dtype, kCPU));
      fitting.push_back(empty(result.sizes, result.cells.dtype, kCPU));
    }
    check(c, "out= empty: ", *c.forms.out,
          with_outs(c.call().arguments(), *c.forms.out, empty_outs));
    check(c, "out= fitting: ", *c.forms.out,
          with_outs(c.call().arguments(), *c.forms.out, fitting));
  }
  Call call = c.call();
  const size_t num_selfs = call.num_selfs();
  if (!c.forms.inplace || num_selfs == 0 || c.expected.results.size() != num_selfs) return;
  for (size_t i = 0; i < num_selfs; ++i) {
    const TensorBase self = rearranged(call.tensor(i), Arrangement::kContiguous);
    const auto& expected = c.expected.results[i];
    if (self.sizes() != IntArrayRef(expected.sizes) ||
        !can_cast(expected.cells.dtype, self.scalar_type())) {
      return;
    }
    call.set_tensor(i, self);
  }
  check(c, "in place: ", *c.forms.inplace, call.arguments());
}

}  // namespace tenon::ops_test
