#include "tenon/native/ctc_loss.h"

#include <limits>
#include <vector>

#include "tenon/native/_ctc_loss.h"
#include "tenon/native/_ctc_loss_backward.h"
#include "tenon/ops/_ctc_loss.h"
#include "tenon/ops/_ctc_loss_backward.h"
#include "tenon/ops/clamp_min.h"
#include "tenon/ops/div.h"
#include "tenon/ops/eq.h"
#include "tenon/ops/masked_fill.h"
#include "tenon/ops/mean.h"
#include "tenon/ops/sum.h"

namespace tenon {
namespace {

std::vector<int64_t> numbers_of(const char* name, const Tensor& lengths) {
  TENON_CHECK(is_integral(lengths.scalar_type(), false), "[ctc_loss] ", name,
              " must be integral, got ", lengths.scalar_type());
  const Tensor own = lengths.to(kCPU).to(kLong).resolve_neg().contiguous();
  const auto* first = static_cast<const int64_t*>(own.const_data_ptr());
  return {first, first + own.numel()};
}

}  // namespace

/// -log of the probability that log_probs [T, N, C] or [T, C] spells targets (Graves et al. 2006).
/// The mean is of the losses by the lengths of their targets. zero_infinity: where the input is too
/// short for its target the loss is 0.
Tensor native::ctc_loss_IntList(const Tensor& log_probs, const Tensor& targets,
                                IntArrayRef input_lengths, IntArrayRef target_lengths,
                                int64_t blank, int64_t reduction, bool zero_infinity) {
  const bool batched = log_probs.dim() == 3;
  Tensor loss = std::get<0>(_ctc_loss(batched ? log_probs : log_probs.unsqueeze(1), targets,
                                      input_lengths, target_lengths, blank, zero_infinity));
  if (zero_infinity) loss = loss.masked_fill(loss == std::numeric_limits<double>::infinity(), 0);
  if (reduction == 1) {
    const Tensor lengths(empty(static_cast<int64_t>(target_lengths.size()), kLong, kCPU));
    std::copy(target_lengths.begin(), target_lengths.end(), lengths.mutable_data_ptr<int64_t>());
    return (loss / lengths.to(loss.device()).to(loss.scalar_type()).clamp_min(1)).mean();
  }
  if (reduction == 2) return loss.sum();
  return batched ? loss : loss.squeeze(0);
}

Tensor native::ctc_loss_Tensor(const Tensor& log_probs, const Tensor& targets,
                               const Tensor& input_lengths, const Tensor& target_lengths,
                               int64_t blank, int64_t reduction, bool zero_infinity) {
  return native::ctc_loss_IntList(log_probs, targets, numbers_of("input_lengths", input_lengths),
                                  numbers_of("target_lengths", target_lengths), blank, reduction,
                                  zero_infinity);
}

std::tuple<Tensor, Tensor> native::_ctc_loss_Tensor(const Tensor& log_probs, const Tensor& targets,
                                                    const Tensor& input_lengths,
                                                    const Tensor& target_lengths, int64_t blank,
                                                    bool zero_infinity) {
  return _ctc_loss(log_probs, targets, numbers_of("input_lengths", input_lengths),
                   numbers_of("target_lengths", target_lengths), blank, zero_infinity);
}

Tensor native::_ctc_loss_backward_Tensor(const Tensor& grad_out, const Tensor& log_probs,
                                         const Tensor& targets, const Tensor& input_lengths,
                                         const Tensor& target_lengths,
                                         const Tensor& neg_log_likelihood, const Tensor& log_alpha,
                                         int64_t blank, bool zero_infinity) {
  return _ctc_loss_backward(grad_out, log_probs, targets,
                            numbers_of("input_lengths", input_lengths),
                            numbers_of("target_lengths", target_lengths), neg_log_likelihood,
                            log_alpha, blank, zero_infinity);
}

}  // namespace tenon
