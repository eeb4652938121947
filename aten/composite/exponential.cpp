#include "tenon/native/exponential.h"

#include <cmath>
#include <numbers>

#include "aten/iterator/element_copy.h"
#include "aten/iterator/plan.h"
#include "tenon/native/cauchy.h"
#include "tenon/native/geometric.h"
#include "tenon/native/log_normal.h"
#include "tenon/ops/add.h"
#include "tenon/ops/ceil.h"
#include "tenon/ops/div.h"
#include "tenon/ops/exp.h"
#include "tenon/ops/log.h"
#include "tenon/ops/log1p.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/normal.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/tan.h"
#include "tenon/ops/uniform.h"

namespace tenon {
namespace {

void check_continuous(const char* op, const char* distribution, const Tensor& self) {
  TENON_CHECK(self.is_floating_point(), "[", op, "] ", distribution,
              " distribution is a continuous probability distribution. dtype must be a floating "
              "point but you specified ",
              self.scalar_type());
}

/// self = transform(numbers), which changes numbers in place. They are double whatever self's
/// dtype, and draw(numbers) draws them in the order in which self's elements lie.
template <class Draw, class Transform>
Tensor& drawn_in_double(Tensor& self, Draw&& draw, Transform&& transform) {
  native::check_no_internal_overlap(self);
  if (self.is_meta()) return self;
  const bool in_place = self.scalar_type() == kDouble && self.is_non_overlapping_and_dense();
  Tensor numbers(in_place ? make_detached(self)
                          : tenon::empty_strided(self.sizes(),
                                                 native::output_strides(self.sizes(), {&self}),
                                                 kDouble, self.device()));
  // The operators that compute in self's memory are one change of it.
  if (in_place) numbers.unsafe_impl()->count_version_apart();
  draw(numbers);
  transform(numbers);
  if (!in_place) native::copy(self, numbers);
  return self;
}

template <class Transform>
Tensor& of_uniform(Tensor& self, const std::optional<Generator>& generator, Transform&& transform) {
  return drawn_in_double(
      self, [&](Tensor& numbers) { numbers.uniform_(0, 1, generator); }, transform);
}

}  // namespace

/// -log(1 - u) / lambd of uniform numbers u in [0, 1).
Tensor& native::exponential_(Tensor& self, double lambd, std::optional<Generator> generator) {
  check_continuous("exponential_", "Exponential", self);
  TENON_CHECK(lambd > 0,
              "[exponential_] exponential_ expects lambda > 0.0, but found lambda=", lambd);
  return of_uniform(self, generator, [&](Tensor& u) { u.mul_(-1).log1p_().mul_(-1 / lambd); });
}

/// median + sigma tan(pi (u - 1/2)).
Tensor& native::cauchy_(Tensor& self, double median, double sigma,
                        std::optional<Generator> generator) {
  check_continuous("cauchy_", "Cauchy", self);
  TENON_CHECK(sigma > 0, "[cauchy_] cauchy_ expects sigma > 0.0, but found sigma=", sigma);
  return of_uniform(self, generator, [&](Tensor& u) {
    u.sub_(0.5).mul_(std::numbers::pi).tan_().mul_(sigma).add_(median);
  });
}

/// How many trials it takes to the first success: ceil(log(u) / log(1 - p)).
Tensor& native::geometric_(Tensor& self, double p, std::optional<Generator> generator) {
  TENON_CHECK(p > 0 && p < 1, "[geometric_] geometric_ expects p to be in (0, 1), but got p=", p);
  TENON_CHECK_NOT_IMPLEMENTED(!self.is_complex() && self.scalar_type() != kBool,
                              "[geometric_] is not implemented for '", self.scalar_type(), "'");
  return of_uniform(self, generator, [&](Tensor& u) { u.log_().div_(std::log1p(-p)).ceil_(); });
}

/// exp of normal numbers, where there is no kernel that draws them one by one.
Tensor& native::log_normal_(Tensor& self, double mean, double std,
                            std::optional<Generator> generator) {
  TENON_CHECK(std > 0, "[log_normal_] log_normal_ expects std > 0.0, but found std=", std);
  TENON_CHECK_NOT_IMPLEMENTED(self.is_floating_point(), "[log_normal_] is not implemented for '",
                              self.scalar_type(), "'");
  return drawn_in_double(
      self, [&](Tensor& numbers) { numbers.normal_(mean, std, generator); },
      [](Tensor& numbers) { numbers.exp_(); });
}

}  // namespace tenon
