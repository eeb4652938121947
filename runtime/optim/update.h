#pragma once

#include <optional>

#include "tenon/ops/full.h"
#include "tenon/ops/full_like.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"

// What the updates of optimizers are written with.

namespace tenon::optim::detail {

/// A complex tensor as pairs of real numbers: each part has a step of its own.
inline Tensor parts(const Tensor& t) {
  if (!t.is_complex()) return t;
  return view_as_real(t.requires_grad() && t.is_leaf() ? t : t.resolve_conj());
}

inline std::optional<Tensor> parts_if(bool condition, const Tensor& t) {
  return condition ? std::optional<Tensor>(parts(t)) : std::nullopt;
}

/// Like p, with `value` in each part.
inline Tensor filled_like(const Tensor& p, double value) {
  Tensor result = full_like(p, 0);
  if (value != 0) parts(result).fill_(value);
  return result;
}

/// A number of a state: in float32 it counts further than in the half types that may be the
/// default.
inline Tensor number(double value) {
  const ScalarType dtype = get_default_dtype() == kDouble ? kDouble : kFloat;
  return full({}, value, TensorOptions(dtype));
}

/// The value passes through the default dtype, as PyTorch has it, whatever the number's own.
inline void set_number(Tensor& number, double value) {
  number.copy_(full({}, value, TensorOptions(get_default_dtype())));
}

}  // namespace tenon::optim::detail
