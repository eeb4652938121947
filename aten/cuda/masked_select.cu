// What a condition selects, in row-major order: masked_select and nonzero. How much it is, the host
// has to know, and waits for. Blocks count what they select, one block adds up the counts, and each
// writes to its place: the order is the same in every run.
#include "tenon/native/masked_select.h"

#include "aten/common/contiguous.h"
#include "aten/common/masked_shape.h"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/scan.cuh"
#include "tenon/native/nonzero.h"
#include "tenon/ops/expand.h"

namespace tenon {
namespace {

constexpr int64_t kPerBlock = 4 * cuda::kBlock;
constexpr int kMaxDims = 16;

template <class T>
__device__ __forceinline__ bool is_chosen(T value) {
  if constexpr (cuda::kIsHalfType<T>) {
    return (value.bits & 0x7fff) != 0;
  } else {
    return !(value == T(0));
  }
}

/// counts[block] = chosen ones among its elements
template <class T>
__global__ void __launch_bounds__(cuda::kBlock)
    count_kernel(const T* flags, int64_t* counts, int64_t n) {
  const int64_t begin = int64_t{blockIdx.x} * kPerBlock, end = min(begin + kPerBlock, n);
  int count = 0, total;
  for (int64_t i = begin + threadIdx.x; i < end; i += cuda::kBlock) count += is_chosen(flags[i]);
  cuda::scan_block(count, total);
  if (threadIdx.x == 0) counts[blockIdx.x] = total;
}

/// One block: counts become the sums of those before, and behind the last comes that of all.
__global__ void __launch_bounds__(cuda::kBlock) places_kernel(int64_t* counts, int64_t blocks) {
  int64_t before = 0;
  for (int64_t start = 0; start < blocks; start += cuda::kBlock) {
    const int64_t i = start + threadIdx.x;
    int64_t total;
    const int64_t sum = cuda::scan_block(i < blocks ? counts[i] : int64_t{0}, total);
    if (i < blocks) counts[i] = before + sum;
    before += total;
  }
  if (threadIdx.x == 0) counts[blocks] = before;
}

/// store(place, index) for each chosen element
template <class T, class Store>
__global__ void __launch_bounds__(cuda::kBlock)
    write_kernel(const T* flags, const int64_t* places, int64_t n,
                 const __grid_constant__ Store store) {
  const int64_t begin = int64_t{blockIdx.x} * kPerBlock, end = min(begin + kPerBlock, n);
  int64_t before = places[blockIdx.x];
  for (int64_t start = begin; start < end; start += cuda::kBlock) {
    const int64_t i = start + threadIdx.x;
    const bool chosen = i < end && is_chosen(flags[i]);
    int total;
    const int rank = cuda::rank_in_block(chosen, total);
    if (chosen) store(before + rank, i);
    before += total;
  }
}

template <class T>
struct StoreElement {
  const T* from;
  T* to;
  __device__ void operator()(int64_t place, int64_t index) const { to[place] = from[index]; }
};

struct StoreIndices {
  int64_t* to;
  int rank;
  int64_t count;
  int64_t sizes[kMaxDims];
  __device__ void operator()(int64_t place, int64_t index) const {
    for (int d = rank - 1; d > 0; --d) {
      to[d * count + place] = index % sizes[d];
      index /= sizes[d];
    }
    if (rank > 0) to[place] = index;
  }
};

/// Where the chosen elements of `flags` go, and how many there are.
template <class T>
class Chosen {
 public:
  Chosen(const char* op, const T* flags, int64_t n, const cuda::LaunchScope& scope)
      : flags_(flags), n_(n), blocks_((n + kPerBlock - 1) / kPerBlock),
        places_(static_cast<size_t>(blocks_ + 1) * sizeof(int64_t)), scope_(scope) {
    TENON_CHECK(blocks_ < (int64_t{1} << 31), "[", op, "] too many elements: ", n);
    if (blocks_ > 0) {
      cuda::launch(count_kernel<T>, static_cast<unsigned>(blocks_), cuda::kBlock, 0, scope, flags,
                   places_.template as<int64_t>(), n);
    }
    cuda::launch(places_kernel, 1, cuda::kBlock, 0, scope, places_.template as<int64_t>(), blocks_);
    TENON_CUDA_CHECK(cudaMemcpyAsync(&count_, places_.template as<int64_t>() + blocks_,
                                     sizeof count_, cudaMemcpyDeviceToHost, scope));
    scope.stream().synchronize();
  }
  int64_t count() const { return count_; }

  template <class Store>
  void write(const Store& store) const {
    if (count_ == 0) return;
    cuda::launch(write_kernel<T, Store>, static_cast<unsigned>(blocks_), cuda::kBlock, 0, scope_,
                 flags_, places_.template as<const int64_t>(), n_, store);
  }

 private:
  const T* flags_;
  int64_t n_, blocks_, count_ = 0;
  cuda::Workspace places_;
  const cuda::LaunchScope& scope_;
};

}  // namespace

/// The indices of the elements that are not zero, one row each: [count, dim].
Tensor native::nonzero_cuda(const Tensor& self) {
  TENON_CHECK(self.dim() <= kMaxDims, "[nonzero] tensors of at most ", kMaxDims,
              " dimensions are supported on CUDA, got ", self.dim());
  const TensorBase in = native::contiguous(self);
  const cuda::LaunchScope scope(in);
  StoreIndices store{nullptr, static_cast<int>(in.dim()), 0, {}};
  for (int64_t d = 0; d < in.dim(); ++d) store.sizes[d] = in.size(d);
  return TENON_DISPATCH_ALL(in.scalar_type(), "nonzero", {
    using T = cuda::device_t<scalar_t>;
    const Chosen<T> chosen("nonzero", static_cast<const T*>(in.const_data_ptr()), in.numel(),
                           scope);
    const int64_t count = chosen.count();
    const Tensor result = tenon::empty({in.dim(), count}, kLong, in.device());
    store.to = static_cast<int64_t*>(result.mutable_data_ptr());
    store.count = count;
    chosen.write(store);
    // The indices of one dimension lie one behind the other.
    TensorBase rows = make_detached(result);
    rows.unsafe_impl()->set_sizes_and_strides(DimVector{count, in.dim()}, DimVector{1, count});
    return Tensor(rows);
  });
}

/// The elements where the mask is true, both broadcast to one shape, in row-major order: [count].
Tensor native::masked_select_cuda(const Tensor& self, const Tensor& mask) {
  const DimVector shape = masked_shape(self, mask);
  const auto broadcast = [&](const Tensor& t) {
    return native::contiguous(t.sizes() == IntArrayRef(shape) ? t
                                                              : ops::expand::call(t, shape, false));
  };
  const TensorBase values = broadcast(self), flags = broadcast(mask);
  const cuda::LaunchScope scope(values);
  const Chosen<bool> chosen("masked_select", static_cast<const bool*>(flags.const_data_ptr()),
                            flags.numel(), scope);
  const Tensor result = tenon::empty(chosen.count(), self.scalar_type(), self.device());
  cuda::dispatch_size(self.element_size(), [&]<class T>() {
    chosen.write(StoreElement<T>{static_cast<const T*>(values.const_data_ptr()),
                                 static_cast<T*>(result.mutable_data_ptr())});
  });
  return result;
}

}  // namespace tenon
