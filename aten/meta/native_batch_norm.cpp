#include "tenon/native/native_batch_norm.h"

namespace tenon {

/// [N, C, ...] -> the same shape; the saved mean and inverse deviation have shape [C], [0] when not
/// training.
std::array<TensorSpec, 3> native::native_batch_norm_meta(const Tensor& input,
                                                         const std::optional<Tensor>& weight,
                                                         const std::optional<Tensor>& bias,
                                                         const std::optional<Tensor>& running_mean,
                                                         const std::optional<Tensor>& running_var,
                                                         bool training, double, double) {
  TENON_CHECK_VALUE(
      (running_mean && running_mean->defined()) == (running_var && running_var->defined()),
      "[batch_norm] running_mean and running_var must either both be None or neither be None");
  TENON_CHECK_VALUE(training || (running_mean && running_mean->defined()),
                    "[batch_norm] running_mean and running_var must be defined in evaluation mode");
  TENON_CHECK(input.dim() >= 2,
              "[batch_norm] Expected an input of at least 2 dimensions, got shape ", input.sizes());
  TENON_CHECK_NOT_IMPLEMENTED(is_floating_point(input.scalar_type()),
                              "[batch_norm] is not implemented for ", input.scalar_type());
  const int64_t channels = input.size(1);
  const auto check = [&](const std::optional<Tensor>& t, const char* name) {
    if (!t || !t->defined()) return;
    TENON_CHECK(t->numel() == channels, "[batch_norm] ", name, " should contain ", channels,
                " elements not ", t->numel());
    TENON_CHECK(t->device() == input.device(),
                "[batch_norm] Expected all tensors to be on the same device, got ", input.device(),
                " (input) and ", t->device(), " (", name, ")");
    TENON_CHECK(t->scalar_type() == input.scalar_type() ||
                    (is_reduced_floating_point(input.scalar_type()) && t->scalar_type() == kFloat),
                "[batch_norm] expected ", name, " to have the input's dtype ", input.scalar_type(),
                is_reduced_floating_point(input.scalar_type()) ? " or Float" : "", ", got ",
                t->scalar_type());
  };
  check(weight, "weight");
  check(bias, "bias");
  check(running_mean, "running_mean");
  check(running_var, "running_var");
  const int64_t saved = training ? channels : 0;
  const MemoryFormat format = input.suggest_memory_format();
  TensorSpec out(input.sizes(), input);
  if (format != MemoryFormat::Contiguous) out.strides = strides_of_format(input.sizes(), format);
  return {out, TensorSpec(saved, input), TensorSpec(saved, input)};
}

}  // namespace tenon
