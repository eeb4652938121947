#pragma once

#include <memory>
#include <optional>

#include "aten/core/scalar_type.h"
#include "tenon/tensor.h"

/// Automatic mixed precision: while it is on for a device, in this thread, matrix products,
/// convolutions and linear layers of that device compute in a shorter dtype, and losses, norms and
/// the like, which need it, in float32. Tensors that are passed to these operators are cast on the
/// way in, and the casts are recorded, so that gradients have their leaves' dtype. The other
/// operators take what they get. Operators in place and with `out=` never cast, nor do tensors that
/// are double or not of floating point.
///
/// What is cast, by operator:
///   shorter   mm bmm addmm baddbmm addbmm matmul linear convolution conv1d conv2d conv3d
///             conv_transpose1d conv_transpose2d linalg_vecdot scaled_dot_product_attention prelu
///             CPU: lstm;  CUDA: mv
///   float32   mse_loss nll_loss nll_loss_nd cross_entropy_loss l1_loss smooth_l1_loss huber_loss
///             binary_cross_entropy_with_logits kl_div poisson_nll_loss hinge_embedding_loss
///             soft_margin_loss multi_margin_loss margin_ranking_loss triplet_margin_loss
///             cosine_embedding_loss cdist
///             CPU: prod binary_cross_entropy trace quantile nanquantile avg_pool3d linalg_svd
///             linalg_svdvals svd linalg_qr geqrf orgqr ormqr linalg_eig linalg_eigh linalg_eigvals
///             linalg_eigvalsh linalg_lstsq linalg_cond linalg_matrix_rank linalg_matrix_sqrth
///             linalg_tensorinv linalg_tensorsolve pinverse
///             CUDA: acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan
///             pow softplus layer_norm group_norm norm renorm dist cosine_similarity logsumexp,
///             and with dtype=float32 unless one is given: prod softmax log_softmax cumsum cumprod
///             sum
///   widest of the arguments'
///             CPU: cat stack
///             CUDA: addcdiv addcmul atan2 bilinear cat cross dot index_put scatter_add stack
/// An operator of one's own takes part by a kernel for DispatchKey::Autocast (docs/registration.md)
/// that casts with cached_cast() and calls on with the layer excluded.
namespace tenon::autocast {

/// Whether a device's operators cast; false in a new thread.
TENON_API bool is_enabled(DeviceType device);
/// What the shorter dtype is: bfloat16 on the CPU and float16 on CUDA unless set otherwise.
TENON_API ScalarType dtype(DeviceType device);
/// Whether the casts of leaves are kept until the end of the outermost scope.
TENON_API bool is_cache_enabled();
TENON_API void clear_cache();

/// What a thread's calls are cast to, with its cache; see AutocastState and AutocastGuard.
struct AutocastState {
  bool cpu = false, cuda = false, cache = true;
  ScalarType cpu_dtype = kBFloat16, cuda_dtype = kHalf;
};
TENON_API AutocastState state();

/// Autocast on or off until the end of the scope. `device`: CPU or CUDA. `dtype`: bfloat16 or
/// float16; what dtype(device) says if not given. The cache of leaves that require grad is emptied
/// at the end of the outermost scope; a cast of a leaf that was changed since, or was made
/// under no_grad, is not used again.
/// ValueError for another device or dtype.
class TENON_API AutocastGuard {
 public:
  explicit AutocastGuard(DeviceType device, std::optional<ScalarType> dtype = std::nullopt,
                         bool enabled = true, bool cache_enabled = true);
  /// The state of another place, as for computing again what was computed there.
  explicit AutocastGuard(const AutocastState& state);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  void enter(const AutocastState& state);

  AutocastState previous_;
};

/// `tensor` in dtype `to`, if it is on `device`, of floating point and not double; itself
/// otherwise.
TENON_API Tensor cached_cast(ScalarType to, const Tensor& tensor, DeviceType device);

}  // namespace tenon::autocast
