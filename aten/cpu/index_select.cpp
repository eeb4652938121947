#include "tenon/native/index_select.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "aten/common/contiguous.h"
#include "aten/core/parallel.h"
#include "aten/cpu/dispatch_size.h"
#include "aten/cpu/index_range.h"

namespace tenon {
namespace {

/// Elements that lie one after the other both in a row and in what is selected of it.
struct IndexRun {
  int64_t from, to, length;
};

std::vector<IndexRun> index_runs_of(const int64_t* indices, int64_t count) {
  std::vector<IndexRun> runs;
  for (int64_t k = 0; k < count; ++k) {
    if (runs.empty() || indices[k] != runs.back().from + runs.back().length) {
      runs.push_back({indices[k], k, 0});
    }
    ++runs.back().length;
  }
  return runs;
}

/// Rows of `length` elements, of each of which the same runs are selected.
template <class T>
void select_runs(const T* in, T* out, int64_t rows, int64_t length, int64_t count,
                 const std::vector<IndexRun>& runs) {
  parallel_for(0, rows, std::max<int64_t>(1, 65536 / (count * static_cast<int64_t>(sizeof(T)))),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   for (const IndexRun& run : runs) {
                     const T* from = in + r * length + run.from;
                     T* to = out + r * count + run.to;
                     if (run.length == 1) {
                       *to = *from;
                     } else {
                       std::memcpy(to, from, static_cast<size_t>(run.length) * sizeof(T));
                     }
                   }
                 }
               });
}

/// As many elements as the copy of a run is worth.
constexpr int64_t kWorthRuns = 8;

}  // namespace

/// out[i][k][j] = self[i][index[k]][j]
void native::index_select_cpu(const Tensor& self, int64_t dim, const Tensor& index,
                              const Tensor& out) {
  if (out.numel() == 0) return;
  const int64_t d = wrap_dim(dim, self.dim());
  const TensorBase in = contiguous(self);
  const TensorBase at = contiguous(index, kLong);
  const DimSplit split(in.sizes(), d);
  const int64_t count = at.numel();
  const auto* indices = static_cast<const int64_t*>(at.const_data_ptr());
  const bool fits = all_in_range(indices, count, split.length);
  for (int64_t k = 0; !fits && k < count; ++k) {
    TENON_CHECK_INDEX(indices[k] >= 0 && indices[k] < split.length,
                      "[index_select] index out of range in self: index ", indices[k],
                      " is out of bounds for dimension ", d, " with size ", split.length);
  }
  const ContiguousOutput result(out);
  const auto* from = static_cast<const char*>(in.const_data_ptr());
  auto* to = static_cast<char*>(result.data());
  dispatch_size(in.element_size(), [&]<class T>() {
    const int64_t inner = split.inner;
    if (inner == 1 && split.outer > 1) {
      const std::vector<IndexRun> runs = index_runs_of(indices, count);
      if (static_cast<int64_t>(runs.size()) * kWorthRuns <= count) {
        return select_runs(reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to), split.outer,
                           split.length, count, runs);
      }
    }
    const int64_t grain = std::max<int64_t>(1, 65536 / (inner * static_cast<int64_t>(sizeof(T))));
    parallel_for(0, split.outer * count, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end;) {
        const int64_t o = i / count;
        const int64_t stop = std::min(end, (o + 1) * count);
        const char* block = from + o * split.length * inner * static_cast<int64_t>(sizeof(T));
        const int64_t* at_i = indices - o * count;
        if (inner == 1) {
          for (; i < stop; ++i)
            reinterpret_cast<T*>(to)[i] = reinterpret_cast<const T*>(block)[at_i[i]];
        } else {
          const size_t bytes = static_cast<size_t>(inner) * sizeof(T);
          for (; i < stop; ++i) std::memcpy(to + i * bytes, block + at_i[i] * bytes, bytes);
        }
      }
    });
  });
  result.copy_back();
}

}  // namespace tenon
