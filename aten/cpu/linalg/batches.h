#pragma once

#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/core/tensor_base.h"
#include "aten/cpu/linalg/lapack.h"

namespace tenon::native::lapack {

/// The number of matrices [..., m, n] in a tensor.
inline int64_t matrix_count(const TensorBase& t) {
  return numel_of(t.sizes().slice(0, static_cast<size_t>(t.dim() - 2)));
}

/// Calls f(begin, end) for pieces of a batch of matrices, each of which costs about `flops`. Pieces
/// are computed in parallel, the library with one thread, if there are enough matrices for all
/// threads, or if a matrix is small. Otherwise f is called once, and the library uses the threads.
template <class F>
void for_matrices(int64_t batch, double flops, F&& f) {
  if (batch == 0) return;
  // Less is not worth waking a thread. The library's threads wait for each other in each of its
  // many steps, on busy cores for a time slice: an SVD of 200 rows took 2 ms with one thread, 80 to
  // 1200 ms with two.
  constexpr double kPiece = 1e5, kLarge = 5e8;
  const int64_t threads = in_parallel_region() ? 1 : get_num_threads();
  if (threads > 1 && batch < threads && flops >= kLarge) {
    const LibraryThreads scope(static_cast<int>(threads));
    f(int64_t{0}, batch);
    return;
  }
  const LibraryThreads scope(1);
  const auto grain = static_cast<int64_t>(kPiece / std::max(flops, 1.0)) + 1;
  parallel_for(0, batch, grain, f);
}

}  // namespace tenon::native::lapack
