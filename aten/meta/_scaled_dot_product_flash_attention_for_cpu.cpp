#include "tenon/native/_scaled_dot_product_flash_attention_for_cpu.h"

#include "aten/common/opmath_type.h"
#include "aten/meta/checks.h"
#include "tenon/native/_scaled_dot_product_flash_attention_for_cpu_backward.h"

namespace tenon {
namespace {

constexpr const char* kOp = "scaled_dot_product_attention_flash_attention";

void check_mask(const Tensor& query, const Tensor& key, const Tensor& mask) {
  TENON_CHECK(mask.scalar_type() == query.scalar_type() || mask.scalar_type() == kBool, "[", kOp,
              "] Attention mask is the same data type as query, got ", mask.scalar_type(), " and ",
              query.scalar_type());
  meta::check_same_device(kOp, "query", query, "attn_mask", mask);
  TENON_CHECK(mask.dim() == 2 || mask.dim() == 4, "[", kOp, "] Attention mask dim in {2, 4}, got ",
              mask.dim());
  const DimVector scores{query.size(0), query.size(1), query.size(2), key.size(2)};
  meta::check_expandable(kOp, "Attention mask", mask.sizes(), scores);
}

void check(const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p,
           const std::optional<Tensor>& mask) {
  const ScalarType type = query.scalar_type();
  TENON_CHECK(is_floating_point(type), "[", kOp,
              "] Expected data type in FP32, FP64, BF16, FP16, but got ", type, " instead.");
  TENON_CHECK(query.dim() == 4 && key.dim() == 4 && value.dim() == 4, "[", kOp,
              "] Accept only 4 dims inputs shape of {B, H, T, K}, got ", query.sizes(), ", ",
              key.sizes(), " and ", value.sizes());
  TENON_CHECK(dropout_p == 0, "[", kOp, "] Currently do not support dropout > 0, got ", dropout_p);
  TENON_CHECK(query.size(3) == value.size(3) && key.size(3) == value.size(3), "[", kOp,
              "] Q/K/V should have the same head size, got ", query.sizes(), ", ", key.sizes(),
              " and ", value.sizes());
  for (const Tensor* t : {&key, &value}) {
    TENON_CHECK(t->scalar_type() == type, "[", kOp, "] expected scalar type ", type, " but found ",
                t->scalar_type());
    meta::check_same_device(kOp, "query", query, t == &key ? "key" : "value", *t);
  }
  TENON_CHECK(query.size(0) == key.size(0) && key.sizes() == value.sizes(), "[", kOp,
              "] Expected one batch size, and as many keys as values, got ", query.sizes(), ", ",
              key.sizes(), " and ", value.sizes());
  TENON_CHECK(query.numel() == 0 || (key.numel() > 0 && query.size(1) % key.size(1) == 0), "[", kOp,
              "] Expected keys, and heads that divide those of query, got ", query.sizes(), " and ",
              key.sizes());
  if (mask && mask->defined()) check_mask(query, key, *mask);
}

}  // namespace

/// output of query's sizes, and in its order of dimensions; logsumexp [B, H, L] lies as [B, L, H].
std::array<TensorSpec, 2> native::_scaled_dot_product_flash_attention_for_cpu_meta(
    const Tensor& query, const Tensor& key, const Tensor& value, double dropout_p, bool,
    const std::optional<Tensor>& attn_mask, std::optional<double>) {
  check(query, key, value, dropout_p, attn_mask);
  TensorSpec output(query.sizes(), query);
  const int64_t b = query.size(0), h = query.size(1), l = query.size(2), e = query.size(3);
  if (query.stride(1) < query.stride(2)) output.strides = DimVector{l * h * e, e, h * e, 1};
  return {output, TensorSpec(DimVector{b, h, l}, DimVector{l * h, 1, h},
                             to_opmath_type(query.scalar_type()), query.device())};
}

std::array<TensorSpec, 3> native::_scaled_dot_product_flash_attention_for_cpu_backward_meta(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& out, const Tensor& logsumexp, double dropout_p, bool,
    const std::optional<Tensor>& attn_mask, std::optional<double>) {
  check(query, key, value, dropout_p, attn_mask);
  meta::check_same_device(kOp, "query", query, "logsumexp", logsumexp);
  for (const Tensor* t : {&grad_out, &out}) {
    meta::check_same_device(kOp, "query", query, t == &out ? "out" : "grad_out", *t);
    TENON_CHECK(t->sizes() == query.sizes(), "[", kOp, "_backward] Expected ",
                t == &out ? "out" : "grad_out", " of query's shape ", query.sizes(), ", got ",
                t->sizes());
  }
  TENON_CHECK(logsumexp.sizes() == query.sizes().slice(0, 3), "[", kOp,
              "_backward] Expected logsumexp of shape ", query.sizes().slice(0, 3), ", got ",
              logsumexp.sizes());
  return {TensorSpec(query.sizes(), query), TensorSpec(key.sizes(), query),
          TensorSpec(value.sizes(), query)};
}

}  // namespace tenon
