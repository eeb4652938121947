#include "tenon/native/cov.h"
#include "aten/batching/examples.h"

#include "tenon/native/corrcoef.h"
#include "tenon/ops/clamp.h"
#include "tenon/ops/full.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/real.h"
#include "tenon/ops/sqrt.h"
#include "tenon/ops/to.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"

namespace tenon {
namespace {

void check_weights(const char* name, const Tensor& weights, bool whole, int64_t observations) {
  TENON_CHECK(weights.dim() <= 1, "[cov] expected ", name,
              " to have one or fewer dimensions but got weights with ", weights.dim(),
              " dimensions");
  TENON_CHECK(whole ? is_integral(weights.scalar_type(), false) : weights.is_floating_point(),
              "[cov] expected ", name, " to have ", whole ? "integral" : "floating point",
              " dtype but got weights with ", weights.scalar_type(), " dtype");
  TENON_CHECK(weights.numel() == observations, "[cov] expected ", name,
              " to have the same numel as there are observations in the input but got ",
              weights.numel(), " != ", observations);
  TENON_CHECK(weights.numel() == 0 || batching::least_of_examples(weights).toDouble() >= 0,
              "[cov] ", name, " cannot be negative");
}

}  // namespace

/// [variables, observations] -> [variables, variables], or of one variable a number: covariances,
/// divided by the sum of weights less `correction`. fweights count observations, aweights weigh
/// them.
Tensor native::cov(const Tensor& self, int64_t correction, const std::optional<Tensor>& fweights,
                   const std::optional<Tensor>& aweights) {
  TENON_CHECK(self.dim() <= 2,
              "[cov] expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  TENON_CHECK(self.scalar_type() != kBool, "[cov] bool dtype is not supported for input");
  const Tensor in = self.dim() < 2 ? self.reshape({1, -1}) : self;
  const int64_t observations = in.size(1);
  std::optional<Tensor> weights;
  if (fweights) {
    check_weights("fweights", *fweights, true, observations);
    weights = *fweights;
  }
  if (aweights) {
    check_weights("aweights", *aweights, false, observations);
    weights = weights ? *weights * *aweights : *aweights;
  }
  const ScalarType type =
      is_integral(in.scalar_type(), true) ? get_default_dtype() : in.scalar_type();
  const Tensor x = in.to(type);
  const Tensor total = weights ? weights->sum() : full({}, observations, x.options().dtype(kLong));
  TENON_CHECK(!weights || observations == 0 || total.item<double>() != 0,
              "[cov] weights sum to zero, can't be normalized");
  const Tensor mean = (weights ? x * *weights : x).sum({1}, true) / total;
  Tensor divisor = total - correction;
  if (weights && aweights && correction != 0)
    divisor = total - correction * (*weights * *aweights).sum() / total;
  const Tensor apart = x - mean;
  const Tensor weighted = weights ? apart * *weights : apart;
  return (matmul(apart, weighted.transpose(0, 1).conj()) / divisor.clamp_min(0)).squeeze();
}

/// Pearson's coefficients: covariances over the deviations' products, clipped to [-1, 1], of
/// complex ones each part.
Tensor native::corrcoef(const Tensor& self) {
  TENON_CHECK(self.dim() <= 2,
              "[corrcoef] expected input to have two or fewer dimensions but got an input with ",
              self.dim(), " dimensions");
  const Tensor c = cov(self, 1, std::nullopt, std::nullopt);
  if (c.dim() == 0) return c / c;
  const Tensor variance = c.is_complex() ? tenon::real(c.diagonal()) : c.diagonal();
  const Tensor deviation = sqrt(variance);
  const Tensor r = c / deviation.unsqueeze(1) / deviation.unsqueeze(0);
  return r.is_complex() ? tenon::view_as_complex(tenon::view_as_real(r).clamp(-1, 1))
                        : r.clamp(-1, 1);
}

}  // namespace tenon
