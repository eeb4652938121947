#include "tenon/native/multinomial.h"
#include "aten/batching/examples.h"
#include "aten/meta/structured.h"

#include "tenon/ops/all.h"
#include "tenon/ops/argmax.h"
#include "tenon/ops/cumsum.h"
#include "tenon/ops/div.h"
#include "tenon/ops/empty_like.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/exponential.h"
#include "tenon/ops/ge.h"
#include "tenon/ops/gt.h"
#include "tenon/ops/isfinite.h"
#include "tenon/ops/item.h"
#include "tenon/ops/logical_and.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/multinomial.h"
#include "tenon/ops/searchsorted.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/to.h"
#include "tenon/ops/topk.h"
#include "tenon/ops/uniform.h"

namespace tenon {

/// Indices [n] or [rows, n] drawn from the weights [categories] or [rows, categories], which need
/// not add up to 1; int64. With replacement each draw looks a number up in the running sums. One
/// alone, and without replacement, the largest of weight / E, E exponential, are drawn in order
/// (Efraimidis and Spirakis 2006).
Tensor native::multinomial(const Tensor& self, int64_t num_samples, bool replacement,
                           std::optional<Generator> generator) {
  TENON_CHECK(self.dim() == 1 || self.dim() == 2,
              "[multinomial] prob_dist must be 1 or 2 dim, got ", self.sizes());
  TENON_CHECK(self.is_floating_point(),
              "[multinomial] multinomial only supports floating-point dtypes for input, got: ",
              self.scalar_type());
  TENON_CHECK(num_samples > 0, "[multinomial] cannot sample n_sample <= 0 samples, got ",
              num_samples);
  TENON_CHECK(replacement || num_samples <= self.size(-1),
              "[multinomial] cannot sample n_sample > prob_dist.size(-1) samples without "
              "replacement, got ",
              num_samples, " of ", self.size(-1));
  TENON_CHECK(self.size(-1) <= int64_t{1} << 24,
              "[multinomial] number of categories cannot exceed 2^24, got ", self.size(-1));
  DimVector sizes(self.sizes());
  sizes.back() = num_samples;
  if (self.is_meta() || self.numel() == 0) {
    TENON_CHECK(self.size(-1) > 0, "[multinomial] there are no categories, got ", self.sizes());
    return tenon::empty(sizes, kLong, self.device());
  }
  const Tensor weights = self.detach();
  if (replacement && num_samples > 1) {
    TENON_CHECK(batching::all_of_examples(weights.ge(0)),
                "[multinomial] invalid multinomial distribution (encountering probability entry < "
                "0)");
    TENON_CHECK(batching::all_of_examples(weights.isfinite()),
                "[multinomial] invalid multinomial distribution (encountering probability entry = "
                "infinity or NaN)");
  } else {
    TENON_CHECK(batching::all_of_examples(weights.isfinite().logical_and(weights.ge(0))),
                "[multinomial] probability tensor contains either `inf`, `nan` or element < 0");
  }
  const Tensor wide = weights.to(kDouble);
  TENON_CHECK(batching::all_of_examples(wide.sum(IntArrayRef({-1})).gt(0)),
              "[multinomial] invalid multinomial distribution (sum of probabilities <= 0)");
  if (replacement && num_samples > 1) {
    const Tensor sums = wide.cumsum(-1);
    const Tensor at = Tensor(tenon::empty(sizes, kDouble, self.device())).uniform_(0, 1, generator);
    return searchsorted(sums / sums.narrow(-1, self.size(-1) - 1, 1), at);
  }
  const Tensor drawn = empty_like(weights).exponential_(1, generator);
  // What has no weight is not drawn before what has some.
  const Tensor keys = weights / drawn.masked_fill(drawn == 0, 1);
  if (num_samples == 1) return keys.argmax(-1, true);
  return std::get<1>(keys.topk(num_samples));
}

Tensor& native::multinomial_out(const Tensor& self, int64_t num_samples, bool replacement,
                                std::optional<Generator> generator, Tensor& out) {
  TENON_CHECK(out.scalar_type() == kLong,
              "[multinomial] multinomial expects Long tensor out, got: ", out.scalar_type());
  const Tensor result = ops::multinomial::call(self, num_samples, replacement, generator);
  structured::resize_out("multinomial", out, result.sizes(), kLong);
  return out.copy_(result);
}

}  // namespace tenon
