// Copies between GPUs, and between a GPU and the host; conversion and strides by a pointwise
// kernel.
#include "aten/cuda/copy.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_pointwise.cuh"
#include "aten/cuda/pinned.h"
#include "aten/iterator/element_copy.h"
#include "tenon/native/copy.h"

namespace tenon::cuda {
namespace {

struct Identity {
  static constexpr int kInputs = 1, kOutputs = 1, kScalars = 0;
  template <class V>
  __device__ __forceinline__ static void apply(const V* in, const V*, V* out) {
    out[0] = in[0];
  }
};

/// On one GPU, or from a CPU number. The source is read in its own compute type, so that one
/// conversion is made, to the destination's type.
void copy_by_kernel(const TensorBase& dst, const TensorBase& src) {
  static constexpr PointwisePart kParts[native::kNumComputeTypes] = {
      &pointwise_part<Identity, ComputeType::F32>, &pointwise_part<Identity, ComputeType::F64>,
      &pointwise_part<Identity, ComputeType::I32>, &pointwise_part<Identity, ComputeType::I64>,
      &pointwise_part<Identity, ComputeType::C64>, &pointwise_part<Identity, ComputeType::C128>};
  PointwisePlan plan;
  native::make_plan(plan, dst.sizes(), &dst, &src);
  plan.common = src.scalar_type();
  plan.compute = native::compute_type(src.scalar_type());
  plan.device = dst.device();
  run_pointwise("copy_", plan, nullptr, kParts);
}

/// Whether the elements lie in the same order, without gaps, in both.
bool same_bytes(const TensorBase& a, const TensorBase& b) {
  return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() &&
         ((a.is_contiguous() && b.is_contiguous()) ||
          (a.strides() == b.strides() && a.is_non_overlapping_and_dense()));
}

void on_one_device(const TensorBase& dst, const TensorBase& src) {
  if (!same_bytes(dst, src)) return copy_by_kernel(dst, src);
  const LaunchScope scope(dst);
  TENON_CUDA_CHECK(cudaMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), dst.nbytes(),
                                   cudaMemcpyDeviceToDevice, scope));
}

/// The copy runs on the source's stream, after the destination's and before what follows there.
void between_devices(const TensorBase& dst, const TensorBase& src) {
  if (!same_bytes(dst, src)) {
    const TensorBase packed = native::contiguous(src, dst.scalar_type());
    const TensorBase arrived = tenon::empty(src.sizes(), dst.scalar_type(), dst.device());
    between_devices(arrived, packed);
    copy_by_kernel(dst, arrived);
    return;
  }
  const LaunchScope from(src);
  const Stream to = current_stream(dst.device().index());
  Event ready, done;
  ready.record(to);
  ready.wait(from.stream());
  TENON_CUDA_CHECK(cudaMemcpyPeerAsync(dst.mutable_data_ptr(), dst.device().index(),
                                       src.const_data_ptr(), src.device().index(), dst.nbytes(),
                                       from));
  done.record(from.stream());
  done.wait(to);
}

void to_device(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  if (src.dim() == 0) return copy_by_kernel(dst, src);
  if (!same_bytes(dst, src)) {
    TensorBase packed = src;
    if (!src.is_contiguous()) {
      packed = tenon::empty(src.sizes(), src.scalar_type(), kCPU);
      native::copy(packed, src);
    }
    const TensorBase arrived = tenon::empty(src.sizes(), src.scalar_type(), dst.device());
    to_device(arrived, packed, non_blocking && packed.is_same(src));
    copy_by_kernel(dst, arrived);
    return;
  }
  const LaunchScope scope(dst);
  TENON_CUDA_CHECK(cudaMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), dst.nbytes(),
                                   cudaMemcpyHostToDevice, scope));
  if (non_blocking) {
    record_pinned(src, scope.stream());
  } else {
    // Pageable memory has been read when the call returns, but memory may be pinned elsewhere.
    scope.stream().synchronize();
  }
}

void to_host(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  if (!same_bytes(dst, src)) {
    TensorBase packed = native::contiguous(src, dst.scalar_type());
    if (packed.sizes() == dst.sizes() && dst.is_contiguous())
      return to_host(dst, packed, non_blocking);
    const TensorBase arrived = tenon::empty(src.sizes(), dst.scalar_type(), kCPU);
    to_host(arrived, packed, false);
    native::copy(dst, arrived);
    return;
  }
  const LaunchScope scope(src);
  TENON_CUDA_CHECK(cudaMemcpyAsync(dst.mutable_data_ptr(), src.const_data_ptr(), dst.nbytes(),
                                   cudaMemcpyDeviceToHost, scope));
  if (non_blocking && is_pinned(dst)) {
    record_pinned(dst, scope.stream());
  } else {
    scope.stream().synchronize();
  }
}

}  // namespace

void copy(const TensorBase& dst, const TensorBase& src, bool non_blocking) {
  if (dst.is_same(src)) return;
  if (dst.sizes() != src.sizes()) {
    const TensorBase* const both[] = {&dst, &src};
    const DimVector shape = native::broadcast_shape(both);
    TENON_CHECK(dst.sizes() == IntArrayRef(shape), "output with shape ", dst.sizes(),
                " doesn't match the broadcast shape ", shape);
  }
  native::check_no_internal_overlap(dst);
  native::check_no_partial_overlap(dst, src);
  if (dst.numel() == 0) return;
  if (dst.is_cuda() && src.is_cuda()) {
    return dst.device() == src.device() ? on_one_device(dst, src) : between_devices(dst, src);
  }
  if (dst.is_cuda() && src.is_cpu()) return to_device(dst, src, non_blocking);
  TENON_CHECK(src.is_cuda() && dst.is_cpu(), "[copy_] expected CPU and CUDA tensors, got devices ",
              dst.device(), " and ", src.device());
  to_host(dst, src, non_blocking);
}

namespace {

/// Results that need a temporary are copied below the operators.
[[maybe_unused]] const bool copy_is_registered = [] {
  native::register_device_copy(
      kCUDA, [](const TensorBase& dst, const TensorBase& src) { cuda::copy(dst, src); });
  return true;
}();

}  // namespace

}  // namespace tenon::cuda

namespace tenon {

Tensor& native::copy_cuda_(Tensor& self, const Tensor& src, bool non_blocking) {
  cuda::copy(self, src, non_blocking);
  return self;
}

}  // namespace tenon
