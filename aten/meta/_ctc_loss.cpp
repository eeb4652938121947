#include "tenon/native/_ctc_loss.h"

#include <algorithm>

#include "aten/meta/checks.h"
#include "tenon/native/_ctc_loss_backward.h"

namespace tenon {
namespace {

/// That each of the batch has a length in [0, most]; returns the largest.
int64_t check_lengths(const char* name, IntArrayRef lengths, int64_t batch, int64_t most) {
  TENON_CHECK(static_cast<int64_t>(lengths.size()) == batch, "[ctc_loss] ", name,
              " must be of size batch_size, got ", lengths.size(), " lengths for a batch of ",
              batch);
  int64_t largest = 0;
  for (const int64_t length : lengths) {
    TENON_CHECK(length >= 0, "[ctc_loss] Expected ", name, " to have value at least 0, but got ",
                "value ", length);
    TENON_CHECK(most < 0 || length <= most, "[ctc_loss] Expected ", name, " to have value at most ",
                most, ", but got value ", length);
    largest = std::max(largest, length);
  }
  return largest;
}

/// The largest length of a target.
int64_t check(const Tensor& log_probs, const Tensor& targets, IntArrayRef input_lengths,
              IntArrayRef target_lengths, int64_t blank) {
  TENON_CHECK(log_probs.numel() > 0, "[ctc_loss] log_probs tensor must not be empty, got sizes ",
              log_probs.sizes());
  TENON_CHECK(log_probs.dim() == 3, "[ctc_loss] Expected 3-dimensional log_probs, got sizes ",
              log_probs.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(log_probs.scalar_type() == kFloat ||
                                  log_probs.scalar_type() == kDouble,
                              "[ctc_loss] is not implemented for '", log_probs.scalar_type(), "'");
  meta::check_same_device("ctc_loss", "log_probs", log_probs, "targets", targets);
  TENON_CHECK(blank >= 0 && blank < log_probs.size(2), "[ctc_loss] blank must be in label range, ",
              "got ", blank, " of ", log_probs.size(2), " labels");
  const int64_t batch = log_probs.size(1);
  check_lengths("input_lengths", input_lengths, batch, log_probs.size(0));
  const int64_t longest = check_lengths("target_lengths", target_lengths, batch, -1);
  TENON_CHECK(targets.dim() == 1 || targets.dim() == 2,
              "[ctc_loss] Expected 1 to 2 dimensions, but got ", targets.dim(),
              "-dimensional tensor for argument #2 'targets'");
  if (targets.dim() == 1) {
    int64_t all = 0;
    for (const int64_t length : target_lengths) all += length;
    TENON_CHECK(targets.size(0) == all, "[ctc_loss] Expected tensor to have size ", all,
                " at dimension 0, but got size ", targets.size(0), " for argument #2 'targets'");
    return longest;
  }
  TENON_CHECK(targets.size(0) == batch, "[ctc_loss] Expected tensor to have size ", batch,
              " at dimension 0, but got size ", targets.size(0), " for argument #2 'targets'");
  TENON_CHECK(targets.size(1) >= longest, "[ctc_loss] Expected tensor to have size at least ",
              longest, " at dimension 1, but got size ", targets.size(1),
              " for argument #2 'targets'");
  return longest;
}

}  // namespace

/// log_probs [T, N, C], targets [N, S] or one after the other.
std::array<TensorSpec, 2> native::_ctc_loss_meta(const Tensor& log_probs, const Tensor& targets,
                                                 IntArrayRef input_lengths,
                                                 IntArrayRef target_lengths, int64_t blank, bool) {
  const int64_t longest = check(log_probs, targets, input_lengths, target_lengths, blank);
  return {TensorSpec(DimVector{log_probs.size(1)}, log_probs),
          TensorSpec(DimVector{log_probs.size(1), log_probs.size(0), 2 * longest + 1}, log_probs)};
}

TensorSpec native::_ctc_loss_backward_meta(const Tensor& grad_out, const Tensor& log_probs,
                                           const Tensor& targets, IntArrayRef input_lengths,
                                           IntArrayRef target_lengths,
                                           const Tensor& neg_log_likelihood,
                                           const Tensor& log_alpha, int64_t blank, bool) {
  const int64_t longest = check(log_probs, targets, input_lengths, target_lengths, blank);
  meta::check_same_device("_ctc_loss_backward", "log_probs", log_probs, "grad", grad_out);
  const DimVector batch{log_probs.size(1)};
  TENON_CHECK(grad_out.sizes() == IntArrayRef(batch) &&
                  neg_log_likelihood.sizes() == IntArrayRef(batch),
              "[_ctc_loss_backward] Expected grad and neg_log_likelihood of shape ", batch,
              ", got ", grad_out.sizes(), " and ", neg_log_likelihood.sizes());
  TENON_CHECK(log_alpha.dim() == 3 && log_alpha.size(0) == batch[0] &&
                  log_alpha.size(1) == log_probs.size(0) && log_alpha.size(2) >= 2 * longest + 1,
              "[_ctc_loss_backward] Expected log_alpha of shape ",
              DimVector{batch[0], log_probs.size(0), 2 * longest + 1}, ", got ", log_alpha.sizes());
  meta::check_same("_ctc_loss_backward", "log_probs", log_probs, "log_alpha", log_alpha);
  meta::check_same("_ctc_loss_backward", "log_probs", log_probs, "neg_log_likelihood",
                   neg_log_likelihood);
  return TensorSpec(log_probs.sizes(), log_probs);
}

}  // namespace tenon
