#include "aten/cpu/reduce.h"

#include <algorithm>
#include <cstring>

#include "aten/core/parallel.h"
#include "aten/iterator/element_copy.h"

namespace tenon::native {
namespace {

constexpr int64_t kGrain = 32768;  // elements that are worth a thread
constexpr int kMaxThreads = 64;  // more pieces than this a reduction to few values is not cut into

struct Dim {
  int64_t size;
  int64_t stride;      // of the input
  int64_t out_stride;  // of the output; not used where reduced
};
using Dims = SmallVector<Dim, 6>;

/// The dimensions that are kept and those that are reduced, each outermost first, neighbours
/// merged.
struct Geometry {
  Dims kept;
  Dims reduced;
  bool usable = false;  // an innermost dimension of stride 1 and no broadcast ones
  bool inner_reduced = false;

  int64_t outputs() const { return product(kept); }
  static int64_t product(const Dims& dims) {
    int64_t n = 1;
    for (const Dim& d : dims) n *= d.size;
    return n;
  }
};

Geometry analyse(const TensorBase& self, uint64_t mask, const TensorBase& out, bool has_columns) {
  struct Entry {
    Dim dim;
    bool reduced;
  };
  SmallVector<Entry, 6> entries;
  const bool keepdim = out.dim() == self.dim();
  size_t o = 0;
  for (int64_t i = 0; i < self.dim(); ++i) {
    const bool is_reduced = (mask >> i) & 1;
    const int64_t out_stride = is_reduced ? 0 : out.strides()[o];
    if (!is_reduced || keepdim) ++o;
    if (self.sizes()[i] != 1) {
      entries.push_back({{self.sizes()[i], self.strides()[i], out_stride}, is_reduced});
    }
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.dim.stride > b.dim.stride; });
  Geometry g;
  bool previous_reduced = false;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    Dims& list = e.reduced ? g.reduced : g.kept;
    const bool merge = i > 0 && previous_reduced == e.reduced &&
                       list.back().stride == e.dim.size * e.dim.stride &&
                       (e.reduced || list.back().out_stride == e.dim.size * e.dim.out_stride);
    if (merge) {
      list.back() = {list.back().size * e.dim.size, e.dim.stride, e.dim.out_stride};
    } else {
      list.push_back(e.dim);
    }
    previous_reduced = e.reduced;
  }
  g.inner_reduced = entries.empty() || entries.back().reduced;
  g.usable = entries.empty() || entries.back().dim.stride == 1;
  // Where only dimensions of one element are reduced, every element is a row of its own.
  if (g.reduced.empty() && !has_columns) g.inner_reduced = g.usable = true;
  return g;
}

/// Calls f(input offset, output offset) for every index of the dimensions.
template <class F>
void for_each_index(const Dims& dims, size_t count, F&& f) {
  SmallVector<int64_t, 6> index(count, 0);
  int64_t in = 0;
  int64_t out = 0;
  while (true) {
    f(in, out);
    size_t d = count;
    while (d-- > 0) {
      in += dims[d].stride;
      out += dims[d].out_stride;
      if (++index[d] < dims[d].size) break;
      in -= dims[d].size * dims[d].stride;
      out -= dims[d].size * dims[d].out_stride;
      index[d] = 0;
    }
    if (d == static_cast<size_t>(-1)) return;
  }
}

/// Accumulators of a piece of work: on the stack where they are few.
class Accumulators {
 public:
  explicit Accumulators(size_t bytes) : bytes_(bytes) {
    data_ = bytes <= sizeof(inline_) ? inline_ : memory::allocate(bytes);
  }
  ~Accumulators() {
    if (data_ != inline_) memory::deallocate(data_, bytes_);
  }
  Accumulators(const Accumulators&) = delete;
  Accumulators& operator=(const Accumulators&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  size_t bytes_;
  void* data_;
  alignas(64) char inline_[512];
};

class Reduction {
 public:
  Reduction(const Geometry& g, const char* in, char* out, size_t out_item, const ReduceLoops& loops,
            const ReduceContext& context)
      : g_(g), in_(in), out_(out), out_item_(out_item), loops_(loops), context_(context) {
    work_per_output_ = std::max<int64_t>(Geometry::product(g.reduced), 1);
  }

  void run() const {
    const Dim inner = g_.kept.empty() ? Dim{1, 0, 0} : g_.kept.back();
    const size_t outer = g_.kept.empty() ? 0 : g_.kept.size() - 1;
    int64_t outer_count = 1;
    for (size_t i = 0; i < outer; ++i) outer_count *= g_.kept[i].size;
    // A block of outputs along the innermost kept dimension is one piece of work.
    const int64_t threads = get_num_threads();
    int64_t block = std::min(inner.size, kMaxColumns);
    if (outer_count * work_per_output_ * inner.size > kGrain && outer_count < threads) {
      const int64_t share = (inner.size * outer_count + threads - 1) / threads;
      block = std::clamp<int64_t>((share + 63) / 64 * 64, 1, block);
    }
    const int64_t blocks = (inner.size + block - 1) / block;
    const bool few = outer_count * blocks < threads && work_per_output_ > kGrain;
    const auto piece = [&](int64_t index) {
      int64_t rest = index / blocks;
      int64_t in = 0;
      int64_t out = 0;
      for (size_t d = outer; d-- > 0;) {
        in += rest % g_.kept[d].size * g_.kept[d].stride;
        out += rest % g_.kept[d].size * g_.kept[d].out_stride;
        rest /= g_.kept[d].size;
      }
      const int64_t start = index % blocks * block;
      const int64_t n = std::min(block, inner.size - start);
      reduce_block(at(in + start * inner.stride), inner.stride, n,
                   out_ + (out + start * inner.out_stride) * static_cast<int64_t>(out_item_),
                   inner.out_stride, few);
    };
    const int64_t per_piece = std::max<int64_t>(block * work_per_output_, 1);
    if (few) {
      for (int64_t i = 0; i < outer_count * blocks; ++i) piece(i);
    } else {
      parallel_for(0, outer_count * blocks, std::max<int64_t>(kGrain / per_piece, 1),
                   [&](int64_t begin, int64_t end) {
                     for (int64_t i = begin; i < end; ++i) piece(i);
                   });
    }
  }

 private:
  const char* at(int64_t offset) const {
    return in_ + offset * static_cast<int64_t>(loops_.item_size);
  }

  /// n outputs, `step` apart in the input.
  void reduce_block(const char* in, int64_t step, int64_t n, char* out, int64_t out_step,
                    bool split) const {
    // Few outputs of much work each: the outermost reduced dimension is cut, too.
    const int64_t length = split && !g_.reduced.empty() ? g_.reduced[0].size : 1;
    const int64_t pieces = std::min<int64_t>({get_num_threads(), kMaxThreads, length});
    const size_t bytes = loops_.acc_size * static_cast<size_t>(n);
    Accumulators acc(bytes * static_cast<size_t>(pieces));
    if (pieces == 1) {
      accumulate(in, step, n, g_.reduced, acc.data());
    } else {
      parallel_for(0, pieces, 1, [&](int64_t begin, int64_t end) {
        for (int64_t p = begin; p < end; ++p) {
          Dims dims = g_.reduced;
          const int64_t from = length * p / pieces;
          dims[0].size = length * (p + 1) / pieces - from;
          accumulate(in + from * dims[0].stride * static_cast<int64_t>(loops_.item_size), step, n,
                     dims, acc.data() + static_cast<size_t>(p) * bytes);
        }
      });
    }
    for (int64_t p = 1; p < pieces; ++p) {
      loops_.combine(acc.data(), acc.data() + static_cast<size_t>(p) * bytes, n);
    }
    loops_.finish(acc.data(), out, out_step, n, context_);
  }

  void accumulate(const char* in, int64_t step, int64_t n, const Dims& reduced, char* acc) const {
    const Dim inner = reduced.empty() ? Dim{1, 1, 0} : reduced.back();
    bool first = true;
    for_each_index(reduced, reduced.empty() ? 0 : reduced.size() - 1, [&](int64_t offset, int64_t) {
      const char* p = in + offset * static_cast<int64_t>(loops_.item_size);
      if (g_.inner_reduced) {
        loops_.rows(p, step, n, inner.size, acc, first);
      } else if (inner.stride == n && n * 2 <= kNarrow) {
        narrow_columns(p, inner.size, n, acc, first);
      } else {
        loops_.columns(p, inner.stride, inner.size, n, acc, first);
      }
      first = false;
    });
  }

  static constexpr int64_t kNarrow = 256;

  /// Rows shorter than a few vectors are taken several at a time and folded at the end.
  void narrow_columns(const char* in, int64_t rows, int64_t n, char* acc, bool first) const {
    const int64_t together = kNarrow / n;
    const int64_t groups = rows / together;
    if (groups > 0) {
      const int64_t wide = together * n;
      Accumulators folded(loops_.acc_size * static_cast<size_t>(wide));
      loops_.columns(in, wide, groups, wide, folded.data(), true);
      for (int64_t k = 0; k < together; ++k) {
        const char* part = folded.data() + static_cast<size_t>(k * n) * loops_.acc_size;
        if (first) {
          std::memcpy(acc, part, loops_.acc_size * static_cast<size_t>(n));
        } else {
          loops_.combine(acc, part, n);
        }
        first = false;
      }
    }
    const int64_t done = groups * together;
    if (done < rows) {
      loops_.columns(in + done * n * static_cast<int64_t>(loops_.item_size), n, rows - done, n, acc,
                     first);
    }
  }

  const Geometry& g_;
  const char* in_;
  char* out_;
  size_t out_item_;
  const ReduceLoops& loops_;
  const ReduceContext& context_;
  int64_t work_per_output_;
};

/// A copy whose reduced dimensions come last, and its mask.
TensorBase reduced_last(const TensorBase& self, uint64_t mask, uint64_t& new_mask,
                        DimVector& order) {
  for (int64_t i = 0; i < self.dim(); ++i) {
    if (!((mask >> i) & 1)) order.push_back(i);
  }
  const size_t kept = order.size();
  for (int64_t i = 0; i < self.dim(); ++i) {
    if ((mask >> i) & 1) order.push_back(i);
  }
  DimVector sizes;
  DimVector strides;
  new_mask = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    sizes.push_back(self.sizes()[order[i]]);
    strides.push_back(self.strides()[order[i]]);
    if (i >= kept) new_mask |= uint64_t{1} << i;
  }
  TensorBase permuted = make_detached(self);
  permuted.unsafe_impl()->set_sizes_and_strides(sizes, strides);
  TensorBase copy = tenon::empty(sizes, self.scalar_type(), self.device());
  native::copy(copy, permuted);
  return copy;
}

/// `out` without the ones that stand for reduced dimensions.
TensorBase without_ones(const TensorBase& out, uint64_t mask, int64_t rank) {
  if (out.dim() != rank) return out;
  DimVector sizes;
  DimVector strides;
  for (int64_t i = 0; i < rank; ++i) {
    if ((mask >> i) & 1) continue;
    sizes.push_back(out.sizes()[i]);
    strides.push_back(out.strides()[i]);
  }
  TensorBase squeezed = make_detached(out);
  squeezed.unsafe_impl()->set_sizes_and_strides(sizes, strides);
  return squeezed;
}

void reduce_geometry(const TensorBase& self, const Geometry& g, const TensorBase& out,
                     const ReduceLoops& loops, const ReduceContext& context) {
  Reduction(g, static_cast<const char*>(self.const_data_ptr()),
            static_cast<char*>(out.mutable_data_ptr()), out.element_size(), loops, context)
      .run();
}

}  // namespace

void reduce(const TensorBase& self, uint64_t mask, const TensorBase& out, const ReduceLoops& loops,
            ReduceContext context) {
  const int64_t numel = self.numel();
  const int64_t outputs = out.numel();
  if (outputs == 0) return;
  context.count = numel / outputs;
  if (outputs == 1 && numel > 0 && numel <= kGrain && self.is_contiguous()) {
    alignas(16) char acc[64];
    loops.rows(self.const_data_ptr(), 0, 1, numel, acc, true);
    loops.finish(acc, out.mutable_data_ptr(), 0, 1, context);
    return;
  }
  if (numel == 0) {
    alignas(16) char acc[64];
    loops.identity(acc, 1);
    const TensorBase value = tenon::empty({}, out.scalar_type(), kCPU);
    loops.finish(acc, value.mutable_data_ptr(), 0, 1, context);
    native::copy(out, value);
    return;
  }
  const bool has_columns = loops.columns != nullptr;
  const Geometry g = analyse(self, mask, out, has_columns);
  if (g.usable && (g.inner_reduced || has_columns)) {
    reduce_geometry(self, g, out, loops, context);
    return;
  }
  uint64_t new_mask = 0;
  DimVector order;
  const TensorBase copy = reduced_last(self, mask, new_mask, order);
  const TensorBase target = without_ones(out, mask, self.dim());
  reduce_geometry(copy, analyse(copy, new_mask, target, has_columns), target, loops, context);
}

}  // namespace tenon::native
