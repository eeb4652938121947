#include "tenon/native/_attention_double_backward.h"

#include <cmath>
#include <limits>

#include "aten/composite/to_opmath_type.h"
#include "tenon/ops/_safe_softmax.h"
#include "tenon/ops/add.h"
#include "tenon/ops/logical_not.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/matmul.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/repeat_interleave.h"
#include "tenon/ops/sub.h"
#include "tenon/ops/sum.h"
#include "tenon/ops/tril.h"

namespace tenon {
namespace {

constexpr double kMinusInfinity = -std::numeric_limits<double>::infinity();

Tensor turned(const Tensor& t) { return t.transpose(-2, -1); }
Tensor row_sums(const Tensor& t) { return t.sum(-1, true); }

/// The weights [B, H, L, S], in full.
Tensor weights_of(const Tensor& q, const Tensor& k, double scale, bool is_causal,
                  const std::optional<Tensor>& mask) {
  Tensor scores = tenon::matmul(q * scale, turned(k));
  if (is_causal) {
    const Tensor seen = ones({q.size(-2), k.size(-2)}, q.options().dtype(kBool)).tril();
    scores = scores.masked_fill(logical_not(seen), kMinusInfinity);
  }
  if (mask && mask->defined()) {
    scores = mask->scalar_type() == kBool ? scores.masked_fill(logical_not(*mask), kMinusInfinity)
                                          : scores + *mask;
  }
  return _safe_softmax(scores, -1);
}

}  // namespace

/// Gradients of grad_out, query, key and value in the backward of attention,
///
///     dV = P^T dO, dS = P (dO V^T - sum(P dO V^T)), dQ = scale dS K, dK = scale dS^T Q,
///
/// from those of dQ, dK and dV.
std::tuple<Tensor, Tensor, Tensor, Tensor> native::_attention_double_backward(
    const std::optional<Tensor>& ggQ, const std::optional<Tensor>& ggK,
    const std::optional<Tensor>& ggV, const Tensor& grad_out, const Tensor& query,
    const Tensor& key, const Tensor& value, bool is_causal, const std::optional<Tensor>& attn_mask,
    std::optional<double> scale, std::array<bool, 4> output_mask) {
  const int64_t shared = key.size(1) > 0 ? query.size(1) / key.size(1) : 1;
  const double factor = scale.value_or(1 / std::sqrt(static_cast<double>(query.size(-1))));
  // Each head of query with a key and a value of its own.
  const auto of_query = [&](const Tensor& t) {
    const Tensor own = to_opmath_type(t);
    return shared == 1 ? own : repeat_interleave(own, shared, 1);
  };
  const auto of_key = [&](const Tensor& t) {
    return shared == 1 ? t : t.unflatten(1, {key.size(1), shared}).sum(2);
  };
  const Tensor q = to_opmath_type(query), k = of_query(key), v = of_query(value);
  const Tensor g = to_opmath_type(grad_out);
  const Tensor p = weights_of(q, k, factor, is_causal, attn_mask);
  const Tensor dp = tenon::matmul(g, turned(v));
  const Tensor centred = dp - row_sums(p * dp);
  const Tensor ds = p * centred;
  Tensor to_grad, to_query, to_key, to_value, to_weights;
  const auto add_to = [](Tensor& sum, const Tensor& t) { sum = sum.defined() ? sum + t : t; };
  if (ggV && ggV->defined()) {
    const Tensor c = of_query(*ggV);
    add_to(to_grad, tenon::matmul(p, c));
    add_to(to_weights, tenon::matmul(g, turned(c)));
  }
  Tensor to_ds;
  if (ggQ && ggQ->defined()) {
    const Tensor a = to_opmath_type(*ggQ);
    add_to(to_ds, tenon::matmul(a, turned(k)) * factor);
    add_to(to_key, tenon::matmul(turned(ds), a) * factor);
  }
  if (ggK && ggK->defined()) {
    const Tensor b = of_query(*ggK);
    add_to(to_ds, tenon::matmul(q, turned(b)) * factor);
    add_to(to_query, tenon::matmul(ds, b) * factor);
  }
  if (to_ds.defined()) {
    const Tensor mean = row_sums(p * to_ds);
    const Tensor to_dp = p * (to_ds - mean);
    add_to(to_grad, tenon::matmul(to_dp, v));
    add_to(to_value, tenon::matmul(turned(to_dp), g));
    add_to(to_weights, to_ds * centred - mean * dp);
  }
  if (to_weights.defined()) {
    const Tensor to_scores = p * (to_weights - row_sums(p * to_weights));
    add_to(to_query, tenon::matmul(to_scores, k) * factor);
    add_to(to_key, tenon::matmul(turned(to_scores), q) * factor);
  }
  const auto result = [&](int place, const Tensor& t, bool keys) {
    if (!output_mask[static_cast<size_t>(place)] || !t.defined()) return Tensor();
    return (keys ? of_key(t) : t).to(query.scalar_type());
  };
  return {result(0, to_grad, false), result(1, to_query, false), result(2, to_key, true),
          result(3, to_value, true)};
}

}  // namespace tenon
