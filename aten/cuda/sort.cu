// sort and topk along a dimension. Elements become unsigned keys that order as they do, with their
// places, so that all differ and any order of equal ones is by place; blocks sort stretches in
// shared memory, which are then merged pairwise.
#include "tenon/native/sort.h"

#include "aten/common/contiguous.h"
#include "aten/cuda/cuda_allocator.h"
#include "aten/cuda/cuda_convert.cuh"
#include "aten/cuda/dispatch_size.h"
#include "aten/cuda/index_limit.h"
#include "aten/cuda/launch.h"
#include "tenon/native/topk.h"

namespace tenon {
namespace {

/// Key and place of an element, for keys of 32 bits and for longer ones.
using Short = uint64_t;
struct Long {
  uint64_t key, place;
  __device__ friend bool operator<(const Long& a, const Long& b) {
    return a.key != b.key ? a.key < b.key : a.place < b.place;
  }
};
__device__ __forceinline__ int64_t place_of(Short e) {
  return static_cast<int64_t>(e & 0xffffffffu);
}
__device__ __forceinline__ int64_t place_of(const Long& e) { return static_cast<int64_t>(e.place); }

template <class T>
using Entry = std::conditional_t<sizeof(T) == 8, Long, Short>;

/// A number that orders as v does: NaN is the largest, and 0 equals -0.
template <class T>
__device__ __forceinline__ auto key_of(T v) {
  if constexpr (cuda::kIsHalfType<T>) {
    return key_of(cuda::convert<float>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    constexpr U kSign = U{1} << (8 * sizeof(U) - 1);
    if (v != v) return ~U{0};
    const U bits = v == 0 ? U{0} : __builtin_bit_cast(U, v);
    return bits & kSign ? ~bits : bits | kSign;
  } else {
    using S = std::conditional_t<sizeof(T) == 8, int64_t, int32_t>;
    using U = std::make_unsigned_t<S>;
    return static_cast<U>(static_cast<U>(static_cast<S>(v)) ^ (U{1} << (8 * sizeof(U) - 1)));
  }
}

/// entries[row][j] of in[o][j][i], [outer, length, inner], with row = (o, i).
template <class T>
__global__ void take_kernel(const T* in, Entry<T>* entries, int64_t total, int64_t length,
                            int64_t inner, bool descending) {
  TENON_CUDA_LOOP(e, total) {
    const int64_t row = e / length, j = e % length;
    auto key = key_of(in[(row / inner * length + j) * inner + row % inner]);
    if (descending) key = ~key;
    if constexpr (std::is_same_v<Entry<T>, Short>) {
      entries[e] = static_cast<Short>(key) << 32 | static_cast<Short>(j);
    } else {
      entries[e] = {key, static_cast<uint64_t>(j)};
    }
  }
}

/// How many of the `n` entries in order come before one.
template <class E, class Index>
__device__ __forceinline__ Index count_before(const E* entries, Index n, const E& entry) {
  Index low = 0;
  while (low < n) {
    const Index middle = low + (n - low) / 2;
    if (entries[middle] < entry) {
      low = middle + 1;
    } else {
      n = middle;
    }
  }
  return low;
}

/// Merges neighbouring sorted runs of `width` within rows of `length`: an entry's new place is its
/// place in its own run and the number of the other's that come before it. Of each run only the
/// first `wanted` count.
template <class E, class Index>
__device__ __forceinline__ void merge_entry(const E* from, E* to, Index e, Index length,
                                            Index width, Index wanted) {
  const Index at = e % length, run = at / width, in_run = at - run * width;
  if (in_run >= wanted) return;
  const E* const row = from + (e - at);
  const Index other = run % 2 == 0 ? (run + 1) * width : (run - 1) * width;
  const Index others = other < length ? min(min(length - other, width), wanted) : 0;
  const E entry = from[e];
  const Index place = in_run + count_before(row + other, others, entry);
  if (place < wanted) to[(e - at) + run / 2 * 2 * width + place] = entry;
}

constexpr int kSorted = 1024;  ///< entries that a block sorts

/// Each block sorts `per_block` entries: as many whole rows, or, where a row is longer, a stretch.
template <class E>
__global__ void __launch_bounds__(cuda::kBlock)
    sort_kernel(E* entries, int64_t total, int64_t length, int per_block) {
  alignas(16) __shared__ unsigned char raw[2][kSorted * sizeof(E)];
  int64_t begin = int64_t{blockIdx.x} * per_block, end = total;
  if (length > per_block) {
    const int64_t stretches = (length + per_block - 1) / per_block, row = blockIdx.x / stretches;
    begin = row * length + blockIdx.x % stretches * per_block;
    end = (row + 1) * length;
  }
  const int n = static_cast<int>(min(int64_t{per_block}, end - begin));
  const int sorted = length > per_block ? n : static_cast<int>(length);
  E* from = reinterpret_cast<E*>(raw[0]);
  E* to = reinterpret_cast<E*>(raw[1]);
  for (int i = threadIdx.x; i < n; i += cuda::kBlock) from[i] = entries[begin + i];
  __syncthreads();
  for (int width = 1; width < sorted; width *= 2) {
    for (int i = threadIdx.x; i < n; i += cuda::kBlock) merge_entry(from, to, i, sorted, width, n);
    __syncthreads();
    E* const last = from;
    from = to;
    to = last;
  }
  for (int i = threadIdx.x; i < n; i += cuda::kBlock) entries[begin + i] = from[i];
}

template <class E, class Index>
__global__ void merge_kernel(const E* from, E* to, int64_t total, Index length, Index width,
                             Index wanted) {
  TENON_CUDA_LOOP(e, total) { merge_entry(from, to, static_cast<Index>(e), length, width, wanted); }
}

/// The first `count` of each row, to [outer, count, inner]: their elements and places.
template <class E, class T>
__global__ void give_kernel(const E* entries, const T* in, T* values, int64_t* places,
                            int64_t total, int64_t length, int64_t count, int64_t inner) {
  TENON_CUDA_LOOP(e, total) {
    const int64_t i = e % inner, j = e / inner % count, o = e / inner / count;
    const int64_t place = place_of(entries[(o * inner + i) * length + j]);
    values[e] = in[(o * length + place) * inner + i];
    places[e] = place;
  }
}

/// Entries in order: those in either half of `entries`, which has room for twice `total`.
template <class E>
E* order(E* entries, int64_t total, int64_t length, int64_t count, CUstream_st* stream) {
  const int64_t per_block = length > kSorted ? kSorted : kSorted / length * length;
  const int64_t blocks = length > kSorted ? total / length * ((length + kSorted - 1) / kSorted)
                                          : (total + per_block - 1) / per_block;
  TENON_CHECK(blocks < (int64_t{1} << 31), "[sort] too many elements: ", total);
  cuda::launch(sort_kernel<E>, static_cast<unsigned>(blocks), cuda::kBlock, 0, stream, entries,
               total, length, static_cast<int>(per_block));
  E *from = entries, *to = entries + total;
  const bool small = total < cuda::index_limit();
  for (int64_t width = kSorted; width < length; width *= 2) {
    if (small) {
      cuda::launch(merge_kernel<E, int>, cuda::blocks_for(total), cuda::kBlock, 0, stream, from, to,
                   total, static_cast<int>(length), static_cast<int>(width),
                   static_cast<int>(count));
    } else {
      cuda::launch(merge_kernel<E, int64_t>, cuda::blocks_for(total), cuda::kBlock, 0, stream, from,
                   to, total, length, width, count);
    }
    std::swap(from, to);
  }
  return from;
}

void order_rows(const char* op, const Tensor& self, int64_t dim, int64_t count, bool descending,
                const Tensor& values, const Tensor& indices) {
  if (values.numel() == 0) return;
  const TensorBase in = native::contiguous(self);
  const native::ContiguousOutput v(values), at(indices);
  const native::DimSplit split(in.sizes(), dim);
  const int64_t total = in.numel(), length = split.length, results = values.numel();
  TENON_CHECK(length < (int64_t{1} << 32), "[", op, "] rows of ", length,
              " elements are too long for CUDA");
  const cuda::LaunchScope scope(in);
  const size_t room = 2 * static_cast<size_t>(total);
  const cuda::Workspace entries(room * (in.element_size() == 8 ? sizeof(Long) : sizeof(Short)));
  TENON_DISPATCH_REAL(in.scalar_type(), op, {
    cuda::launch(take_kernel<scalar_t>, cuda::blocks_for(total), cuda::kBlock, 0, scope,
                 in.data_ptr<scalar_t>(), entries.as<Entry<scalar_t>>(), total, length, split.inner,
                 descending);
  });
  const auto finish = [&]<class E>(E* all) {
    const E* const ordered = order(all, total, length, count, scope);
    cuda::dispatch_size(in.element_size(), [&]<class T>() {
      cuda::launch(give_kernel<E, T>, cuda::blocks_for(results), cuda::kBlock, 0, scope, ordered,
                   static_cast<const T*>(in.const_data_ptr()), v.data<T>(), at.data<int64_t>(),
                   results, length, count, split.inner);
    });
  };
  in.element_size() == 8 ? finish(entries.as<Long>()) : finish(entries.as<Short>());
  v.copy_back();
  at.copy_back();
}

}  // namespace

void native::sort_stable_cuda(const Tensor& self, std::optional<bool>, int64_t dim, bool descending,
                              const Tensor& values, const Tensor& indices) {
  order_rows("sort", self, dim, self.dim() == 0 ? 1 : self.size(dim), descending, values, indices);
}

/// Equal elements come in the order of their indices.
void native::topk_cuda(const Tensor& self, int64_t k, int64_t dim, bool largest, bool,
                       const Tensor& values, const Tensor& indices) {
  order_rows("topk", self, dim, self.dim() == 0 ? 1 : k, largest, values, indices);
}

}  // namespace tenon
