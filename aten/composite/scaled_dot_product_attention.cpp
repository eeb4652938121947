#include "tenon/native/scaled_dot_product_attention.h"

#include <cmath>
#include <limits>

#include "aten/composite/to_opmath_type.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/repeat_interleave.h"
#include "tenon/ops/softmax.h"

namespace tenon {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

}  // namespace

/// softmax(scale query key^T + mask) value (Vaswani et al. 2017): query [..., L, E], key [..., S,
/// E], value [..., S, Ev], the mask broadcast to [..., L, S], added where it is floating, and else
/// true where a key takes part. is_causal: row i sees the keys 0 to i. scale is 1 / sqrt(E) by
/// default. A row that sees nothing gives 0. enable_gqa: each head of key and value (dimension -3)
/// serves as many of query's.
Tensor native::scaled_dot_product_attention(const Tensor& query, const Tensor& key,
                                            const Tensor& value,
                                            const std::optional<Tensor>& attn_mask,
                                            double dropout_p, bool is_causal,
                                            std::optional<double> scale, bool enable_gqa) {
  constexpr const char* kOp = "scaled_dot_product_attention";
  TENON_CHECK(query.scalar_type() == key.scalar_type() && key.scalar_type() == value.scalar_type(),
              "[", kOp, "] Expected query, key, and value to have the same dtype, but got ",
              query.scalar_type(), ", ", key.scalar_type(), " and ", value.scalar_type());
  TENON_CHECK(query.device() == key.device() && key.device() == value.device(), "[", kOp,
              "] Expected query, key, and value to have the same device type, but got ",
              query.device(), ", ", key.device(), " and ", value.device());
  TENON_CHECK(query.dim() >= 2 && key.dim() >= 2 && value.dim() >= 2, "[", kOp,
              "] Expected query, key, and value to all be at least 2 dimensional, but got ",
              query.dim(), ", ", key.dim(), " and ", value.dim());
  TENON_CHECK(!is_causal || !attn_mask, "[", kOp,
              "] Explicit attn_mask should not be set when is_causal=True");
  Tensor keys = to_opmath_type(key), values = to_opmath_type(value);
  if (enable_gqa) {
    TENON_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, "[", kOp,
                "] enable_gqa expects heads in dimension -3, got shapes ", query.sizes(), ", ",
                key.sizes(), " and ", value.sizes());
    const int64_t heads = query.size(-3);
    for (Tensor* tensor : {&keys, &values}) {
      const int64_t own = tensor->size(-3);
      TENON_CHECK(own > 0 && heads % own == 0, "[", kOp,
                  "] Number of heads in key and value must divide the number of heads in query, "
                  "got ",
                  own, " and ", heads);
      *tensor = repeat_interleave(*tensor, heads / own, -3);
    }
  }
  // The root on both sides, so that the product does not overflow before it is scaled.
  const double root = std::sqrt(scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1)))));
  const Tensor left = to_opmath_type(query) * root;
  Tensor scores = tenon::matmul(left, keys.transpose(-2, -1) * root);
  std::optional<Tensor> blind;
  if (is_causal) {
    const Tensor seen = ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril();
    scores = scores.masked_fill(seen == false, kMinusInfinity);
  } else if (attn_mask) {
    TENON_CHECK(attn_mask->scalar_type() == kBool ||
                    attn_mask->scalar_type() == query.scalar_type(),
                "[", kOp,
                "] Expected attn_mask dtype to be bool or to match query dtype, but got "
                "attn_mask.dtype: ",
                attn_mask->scalar_type(), " and query.dtype: ", query.scalar_type());
    const bool choice = attn_mask->scalar_type() == kBool;
    scores = choice ? scores.masked_fill(*attn_mask == false, kMinusInfinity) : scores + *attn_mask;
    blind = (scores.detach() == kMinusInfinity).all(-1, true);
    // Before the softmax, so that no NaN meets the gradient.
    scores = scores.masked_fill(*blind, 0);
  }
  Tensor weights = softmax(scores, -1);
  if (blind) weights = weights.masked_fill(*blind, 0);
  if (dropout_p > 0) weights = tenon::dropout(weights, dropout_p, true);
  return tenon::matmul(weights, values).to(query.scalar_type());
}

}  // namespace tenon
