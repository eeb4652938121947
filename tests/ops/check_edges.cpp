#include "aten/dispatch/operator_entry.h"
#include "tests/ops/checks.h"
#include "tests/ops/compare.h"

namespace tenon::ops_test {
namespace {

/// The call's results on the CPU and on the meta device agree in sizes and dtype, where the CPU
/// takes the arguments at all.
void compare_with_meta(const Case& c, const std::string& how, const Call& call) {
  std::vector<TensorBase> real;
  try {
    real = tensors_of(call.run(*c.forms.op));
  } catch (const Error&) {
    return;  // what is no valid call must be an error, and nothing worse
  }
  if (!c.wants("meta")) return;
  const Call on_meta = call.mapped([](const TensorBase& t) {
    return empty_strided(t.sizes(), t.strides(), t.scalar_type(), kMeta);
  });
  const auto meta = tensors_of(on_meta.run(*c.forms.op));
  for (size_t i = 0; i < real.size(); ++i) {
    if (i >= meta.size() || real[i].defined() != meta[i].defined()) {
      return c.fail(how, "other results on the meta device");
    }
    if (!real[i].defined()) continue;
    if (real[i].sizes() != meta[i].sizes() || real[i].scalar_type() != meta[i].scalar_type()) {
      c.fail(how, detail::concat("the CPU gives ", real[i].scalar_type(),
                                 list_text(real[i].sizes()), ", the meta device ",
                                 meta[i].scalar_type(), list_text(meta[i].sizes())));
    }
  }
}

Call resized(const Call& call, const std::function<std::vector<int64_t>(IntArrayRef)>& sizes) {
  return call.mapped([&](const TensorBase& t) {
    const TensorBase other = empty(sizes(t.sizes()), t.scalar_type(), kCPU);
    const ScalarType dtype = t.scalar_type();
    write_cells(other, convert(Cells{kLong, std::vector<int64_t>(other.numel(), 0), {}}, dtype));
    return other;
  });
}

/// An undefined tensor in an argument's place is an error or, where it is optional, stands for
/// none; so is one as `out`. Whatever happens, the call ends with a result or an Error.
void check_undefined_tensors(const Case& c) {
  const auto survives = [](const auto& call) {
    try {
      call();
    } catch (const Error&) {
    }
  };
  for (size_t i = 0; i < c.call().num_tensors(); ++i) {
    Call call = c.call();
    call.set_tensor(i, TensorBase());
    survives([&] { call.run(*c.forms.op); });
    if (c.forms.inplace) survives([&] { call.run(*c.forms.inplace); });
  }
  if (!c.forms.out) return;
  try {
    c.call().run(*c.forms.out, std::vector<TensorBase>(c.expected.results.size()));
    c.fail("undefined out", "expected an error, found none");
  } catch (const Error&) {
  }
}

/// Tensors on two devices are an error, but for 0-dim ones. Operators that only formulas call rely
/// on what the forward pass gave.
void check_mixed_devices(const Case& c) {
  if (!c.wants("devices") || c.sample.op.find("backward") != std::string::npos) return;
  const Call plain = c.call();
  const auto counts = [&](size_t i) {
    return plain.tensor(i).defined() && plain.tensor(i).dim() > 0;
  };
  for (size_t i = 0; i < plain.num_tensors(); ++i) {
    bool others = false;
    for (size_t k = 0; k < plain.num_tensors(); ++k) others |= k != i && counts(k);
    if (!counts(i) || !others) continue;
    Call call = c.call();
    const TensorBase t = call.tensor(i);
    call.set_tensor(i, empty_strided(t.sizes(), t.strides(), t.scalar_type(), kMeta));
    try {
      call.run(*c.forms.op);
    } catch (const Error&) {
      continue;
    }
    c.fail("devices",
           detail::concat("tensor argument ", i, " may be on another device than the others"));
  }
}

}  // namespace

void check_edges(const Case& c) {
  check_undefined_tensors(c);
  check_mixed_devices(c);
  if (c.expected.results.size() == 1 && c.expected.results[0].number) return;
  const Call call = c.call();
  if (call.num_tensors() == 0) return;
  compare_with_meta(c, "first dimension empty", resized(call, [](IntArrayRef sizes) {
                      auto list = sizes.vec();
                      if (!list.empty()) list[0] = 0;
                      return list;
                    }));
  compare_with_meta(c, "last dimension empty", resized(call, [](IntArrayRef sizes) {
                      auto list = sizes.vec();
                      if (!list.empty()) list.back() = 0;
                      return list;
                    }));
  compare_with_meta(c, "0-dim", resized(call, [](IntArrayRef) { return std::vector<int64_t>(); }));
  compare_with_meta(c, "one element", resized(call, [](IntArrayRef sizes) {
                      return std::vector<int64_t>(sizes.size(), 1);
                    }));
}

}  // namespace tenon::ops_test
