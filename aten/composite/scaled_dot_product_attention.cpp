#include "tenon/native/scaled_dot_product_attention.h"

#include <cmath>
#include <limits>

#include "aten/composite/to_opmath_type.h"
#include "tenon/ops/_scaled_dot_product_flash_attention_for_cpu.h"
#include "tenon/ops/dropout.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/softmax.h"

namespace tenon {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

/// `t` with dimensions of 1 in front, up to four.
Tensor as_heads(Tensor t) {
  while (t.dim() < 4) t = t.unsqueeze(0);
  return t;
}

/// Whether there are so few rows of so many keys that tiles, whose lanes are rows, would be idle
/// for the most part. The scores are small then.
bool few_rows(const Tensor& query, const Tensor& key) {
  return query.size(-2) <= 4 && key.size(-2) >= 32 && key.numel() >= (1 << 15);
}

/// left [..., H, L, X] times right [..., own, X, Y], of which each head serves H / own of left's if
/// they are shared.
Tensor product_of_heads(const Tensor& left, const Tensor& right, bool shared) {
  if (!shared || left.size(-3) == right.size(-3)) return tenon::matmul(left, right);
  DimVector sizes(left.sizes());
  const size_t heads = sizes.size() - 3, rows = heads + 1;
  sizes[heads] = right.size(-3);
  sizes[rows] = left.size(-3) / right.size(-3) * left.size(-2);
  const Tensor out = tenon::matmul(left.reshape(sizes), right);
  DimVector whole(out.sizes());
  whole[whole.size() - 3] = left.size(-3);
  whole[whole.size() - 2] = left.size(-2);
  return out.reshape(whole);
}

/// Whether the scores need not be in memory: what kernels in tiles take. A mask that wants a
/// gradient gets it from the scores.
bool in_tiles(const Tensor& query, const Tensor& key, const Tensor& value,
              const std::optional<Tensor>& mask, double dropout_p, bool enable_gqa) {
  if (query.device().type() != DeviceType::CPU && query.device().type() != DeviceType::Meta)
    return false;
  const int64_t dims = query.dim();
  if (!is_floating_point(query.scalar_type()) || dropout_p > 0 || dims > 4 || key.dim() != dims ||
      key.sizes() != value.sizes() || query.size(-1) != key.size(-1) || query.numel() == 0 ||
      key.numel() == 0 || few_rows(query, key))
    return false;
  for (int64_t d = 0; d + 2 < dims; ++d) {
    const bool shared = enable_gqa && d == dims - 3 && query.size(d) % key.size(d) == 0;
    if (query.size(d) != key.size(d) && !shared) return false;
  }
  if (!mask) return true;
  if (mask->dim() > dims || (GradMode::is_enabled() && mask->requires_grad())) return false;
  const DimVector last{query.size(-2), key.size(-2)};
  for (int64_t d = 1; d <= mask->dim(); ++d) {
    const int64_t have = mask->size(-d), want = d <= 2 ? last[2 - d] : query.size(-d);
    if (have != want && have != 1) return false;
  }
  return true;
}

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
  TENON_CHECK(dropout_p >= 0 && dropout_p <= 1, "[", kOp,
              "] dropout probability has to be between 0 and 1, but got ", dropout_p);
  if (attn_mask && attn_mask->dim() > 0) {
    const int64_t columns = attn_mask->size(-1);
    const int64_t rows = attn_mask->dim() > 1 ? attn_mask->size(-2) : 1;
    TENON_CHECK((rows == 1 || rows == query.size(-2)) && (columns == 1 || columns == key.size(-2)),
                "[", kOp, "] Expected attn_mask to broadcast to [..., ", query.size(-2), ", ",
                key.size(-2), "], but got ", attn_mask->sizes());
  }
  TENON_CHECK(!is_causal || !attn_mask, "[", kOp,
              "] Explicit attn_mask should not be set when is_causal=True");
  TENON_CHECK(!attn_mask || attn_mask->scalar_type() == kBool ||
                  attn_mask->scalar_type() == query.scalar_type(),
              "[", kOp,
              "] Expected attn_mask dtype to be bool or to match query dtype, but got "
              "attn_mask.dtype: ",
              attn_mask ? attn_mask->scalar_type() : kBool,
              " and query.dtype: ", query.scalar_type());
  if (in_tiles(query, key, value, attn_mask, dropout_p, enable_gqa)) {
    std::optional<Tensor> mask;
    if (attn_mask) mask = as_heads(*attn_mask);
    if (query.dim() == 4)
      return std::get<0>(_scaled_dot_product_flash_attention_for_cpu(query, key, value, 0.0,
                                                                     is_causal, mask, scale));
    if (mask && mask->scalar_type() != kBool) mask = to_opmath_type(*mask);
    const auto heads = [](const Tensor& t) { return as_heads(to_opmath_type(t)); };
    Tensor out = std::get<0>(_scaled_dot_product_flash_attention_for_cpu(
        heads(query), heads(key), heads(value), 0.0, is_causal, mask, scale));
    for (int64_t d = query.dim(); d < 4; ++d) out = out.squeeze(0);
    return out.to(query.scalar_type()).contiguous();
  }
  Tensor keys = to_opmath_type(key), values = to_opmath_type(value);
  if (enable_gqa) {
    TENON_CHECK(query.dim() >= 3 && key.dim() >= 3 && value.dim() >= 3, "[", kOp,
                "] enable_gqa expects heads in dimension -3, got shapes ", query.sizes(), ", ",
                key.sizes(), " and ", value.sizes());
    const int64_t heads = query.size(-3);
    for (const Tensor& tensor : {keys, values}) {
      const int64_t own = tensor.size(-3);
      TENON_CHECK(own > 0 && heads % own == 0, "[", kOp,
                  "] Number of heads in key and value must divide the number of heads in query, "
                  "got ",
                  own, " and ", heads);
    }
  }
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  const Tensor left = to_opmath_type(query);
  keys = keys.transpose(-2, -1);
  Tensor scores;
  if (few_rows(query, key)) {  // without a copy of the keys
    scores = product_of_heads(left, keys, enable_gqa) * factor;
  } else {  // the root on both sides, so that the product does not overflow before it is scaled
    const double root = std::sqrt(std::abs(factor));
    scores = product_of_heads(left * std::copysign(root, factor), keys * root, enable_gqa);
  }
  std::optional<Tensor> blind;
  if (is_causal) {
    const Tensor seen = ones({query.size(-2), key.size(-2)}, query.options().dtype(kBool)).tril();
    scores = scores.masked_fill(seen == false, kMinusInfinity);
  } else if (attn_mask) {
    const bool choice = attn_mask->scalar_type() == kBool;
    scores = choice ? scores.masked_fill(*attn_mask == false, kMinusInfinity) : scores + *attn_mask;
    blind = (scores.detach() == kMinusInfinity).all(-1, true);
    // Before the softmax, so that no NaN meets the gradient.
    scores = scores.masked_fill(*blind, 0);
  }
  Tensor weights = softmax(scores, -1);
  if (blind) weights = weights.masked_fill(*blind, 0);
  if (dropout_p > 0) weights = tenon::dropout(weights, dropout_p, true);
  return product_of_heads(weights, values, enable_gqa).to(query.scalar_type());
}

}  // namespace tenon
