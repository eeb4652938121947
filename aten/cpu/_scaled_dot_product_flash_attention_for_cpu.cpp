#include "tenon/native/_scaled_dot_product_flash_attention_for_cpu.h"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "aten/common/contiguous.h"
#include "aten/cpu/attention.h"
#include "aten/iterator/element_copy.h"
#include "tenon/native/_scaled_dot_product_flash_attention_for_cpu_backward.h"

namespace tenon {
namespace {

/// In that dtype, with the elements of a row one after the other.
TensorBase with_rows(const TensorBase& t, ScalarType type) {
  const bool rows = t.scalar_type() == type && (t.stride(-1) == 1 || t.size(-1) == 1);
  return rows ? t : native::contiguous_copy(t, type);
}

template <class T>
native::Heads<T> heads_of(const TensorBase& t) {
  return {t.data_ptr<std::remove_const_t<T>>(), t.stride(0), t.stride(1), t.stride(2)};
}

/// The tensors that a kernel reads in the dtype that it computes in, and its description of them.
struct Operands {
  TensorBase query, key, value, mask;

  Operands(const Tensor& q, const Tensor& k, const Tensor& v, const std::optional<Tensor>& m)
      : query(with_rows(q, type_of(q))), key(with_rows(k, type_of(q))),
        value(with_rows(v, type_of(q))) {
    if (!m || !m->defined()) return;
    const bool as_is = m->scalar_type() == kBool || m->scalar_type() == type();
    mask = as_is ? static_cast<const TensorBase&>(*m) : native::contiguous(*m, type());
  }

  static ScalarType type_of(const Tensor& t) { return to_opmath_type(t.scalar_type()); }
  ScalarType type() const { return query.scalar_type(); }

  template <class T>
  native::Attention<T> problem(bool causal, std::optional<double> scale) const {
    native::Attention<T> a{};
    a.batches = query.size(0);
    a.heads = query.size(1);
    a.shared = a.heads / key.size(1);
    a.rows = query.size(2);
    a.keys = key.size(2);
    a.width = query.size(3);
    a.scale = static_cast<T>(scale.value_or(1 / std::sqrt(static_cast<double>(a.width))));
    a.causal = causal;
    a.query = heads_of<const T>(query);
    a.key = heads_of<const T>(key);
    a.value = heads_of<const T>(value);
    if (!mask.defined()) return a;
    // The last dimensions are those of the scores; what is missing or 1 is the same for all.
    const auto stride = [&](int64_t from_end) {
      return mask.dim() < from_end || mask.size(-from_end) == 1 ? 0 : mask.stride(-from_end);
    };
    a.mask = {nullptr, nullptr, stride(4), stride(3), stride(2), stride(1)};
    if (mask.scalar_type() == kBool) {
      a.mask.seen = mask.data_ptr<bool>();
    } else {
      a.mask.added = mask.data_ptr<T>();
    }
    return a;
  }
};

bool is_direct(const TensorBase& out, ScalarType type) {
  return out.scalar_type() == type && (out.stride(-1) == 1 || out.size(-1) == 1);
}

/// What a kernel writes to: `out`, or a tensor that is converted into it.
TensorBase target_of(const TensorBase& out, ScalarType type) {
  return is_direct(out, type) ? out : empty(out.sizes(), type, out.device());
}

}  // namespace

void native::_scaled_dot_product_flash_attention_for_cpu_cpu(
    const Tensor& query, const Tensor& key, const Tensor& value, double, bool is_causal,
    const std::optional<Tensor>& attn_mask, std::optional<double> scale, const Tensor& output,
    const Tensor& logsumexp) {
  if (query.numel() == 0) return;
  const Operands in(query, key, value, attn_mask);
  const TensorBase out = target_of(output, in.type());
  TENON_DISPATCH_FLOATING(in.type(), "_scaled_dot_product_flash_attention_for_cpu", {
    Attention<scalar_t> a = in.problem<scalar_t>(is_causal, scale);
    a.out = heads_of<scalar_t>(out);
    a.logsumexp = heads_of<scalar_t>(logsumexp);
    attention_forward(a);
  });
  if (!out.is_same(output)) copy(output, out);
}

void native::_scaled_dot_product_flash_attention_for_cpu_backward_cpu(
    const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
    const Tensor& out, const Tensor& logsumexp, double, bool is_causal,
    const std::optional<Tensor>& attn_mask, std::optional<double> scale, const Tensor& grad_query,
    const Tensor& grad_key, const Tensor& grad_value) {
  if (query.numel() == 0) {
    for (const Tensor* grad : {&grad_key, &grad_value}) {
      if (grad->numel() > 0) std::memset(grad->mutable_data_ptr(), 0, grad->nbytes());
    }
    return;
  }
  const Operands in(query, key, value, attn_mask);
  const TensorBase grad = with_rows(grad_out, in.type()), result = with_rows(out, in.type());
  const TensorBase sums = contiguous(logsumexp, in.type());
  const TensorBase gq = target_of(grad_query, in.type()), gk = target_of(grad_key, in.type()),
                   gv = target_of(grad_value, in.type());
  TENON_DISPATCH_FLOATING(in.type(), "_scaled_dot_product_flash_attention_for_cpu_backward", {
    Attention<scalar_t> a = in.problem<scalar_t>(is_causal, scale);
    a.out = heads_of<scalar_t>(result);
    a.logsumexp = heads_of<scalar_t>(sums);
    attention_backward(
        a, AttentionGradients<scalar_t>{heads_of<const scalar_t>(grad), heads_of<scalar_t>(gq),
                                        heads_of<scalar_t>(gk), heads_of<scalar_t>(gv)});
  });
  if (!gq.is_same(grad_query)) copy(grad_query, gq);
  if (!gk.is_same(grad_key)) copy(grad_key, gk);
  if (!gv.is_same(grad_value)) copy(grad_value, gv);
}

}  // namespace tenon
