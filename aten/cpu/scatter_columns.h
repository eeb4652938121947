#pragma once

#include <algorithm>

#include "aten/core/parallel.h"
#include "aten/core/tensor_base.h"

namespace tenon::native {

/// What an operator allows as indices.
struct IndexBounds {
  const char* op;
  int64_t length, dim;

  /// The index, or an error: "[scatter] index 3 is out of bounds for dimension 0 with size 3".
  int64_t checked(int64_t index) const {
    if (TENON_UNLIKELY(static_cast<uint64_t>(index) >= static_cast<uint64_t>(length))) raise(index);
    return index;
  }
  [[noreturn]] void raise(int64_t index) const {
    detail::raise<Error>("[", op, "] index ", index, " is out of bounds for dimension ", dim,
                         " with size ", length);
  }
};

/// The columns along one dimension of an index tensor and of two tensors that it is walked with. A
/// column leads to elements of one column of `out`, so that each thread writes columns of its own,
/// and elements meet in their order whatever the number of threads.
class ScatterColumns {
 public:
  /// Elements from one place to the next.
  struct Steps {
    int64_t size, out, index, src;
  };
  /// `count` neighbouring columns by the offsets of the first.
  struct Piece {
    int64_t out, index, src, count;
  };

  /// Strides of tensors that have at least one dimension, each as many as `sizes`, the index's.
  ScatterColumns(IntArrayRef sizes, int64_t dim, IntArrayRef out, IntArrayRef index,
                 IntArrayRef src)
      : along_{sizes[dim], out[dim], index[dim], src[dim]} {
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (static_cast<int64_t>(i) == dim || sizes[i] == 1) continue;
      const Steps next{sizes[i], out[i], index[i], src[i]};
      if (!others_.empty() && continues(others_.back(), next)) {
        others_.back() = {others_.back().size * next.size, next.out, next.index, next.src};
      } else {
        others_.push_back(next);
      }
    }
    if (!others_.empty() && others_.back().out < along_.out) {
      across_ = others_.back();
      others_.pop_back();
    }
  }

  const Steps& along() const { return along_; }
  const Steps& across() const { return across_; }

  /// f(piece) for all columns, on several threads.
  template <class F>
  void for_each(F&& f) const {
    int64_t lines = 1;
    for (const Steps& s : others_) lines *= s.size;
    const int64_t threads = get_num_threads();
    // Threads share no cache line.
    const int64_t parts =
        lines >= 2 * threads ? 1 : std::clamp<int64_t>(across_.size / kNeighbours, 1, threads);
    const int64_t width = (across_.size + parts - 1) / parts;
    const int64_t work = std::max<int64_t>(1, width * along_.size);
    parallel_for(0, lines * parts, std::max<int64_t>(1, kWork / work),
                 [&](int64_t begin, int64_t end) {
                   for (int64_t unit = begin; unit < end; ++unit) {
                     const int64_t first = unit % parts * width;
                     Piece piece{first * across_.out, first * across_.index, first * across_.src,
                                 std::min(width, across_.size - first)};
                     int64_t line = unit / parts;
                     for (size_t i = others_.size(); i-- > 0; line /= others_[i].size) {
                       const int64_t at = line % others_[i].size;
                       piece.out += at * others_[i].out;
                       piece.index += at * others_[i].index;
                       piece.src += at * others_[i].src;
                     }
                     if (piece.count > 0) f(piece);
                   }
                 });
  }

 private:
  static constexpr int64_t kNeighbours = 16;
  static constexpr int64_t kWork = 32768;

  static bool continues(const Steps& outer, const Steps& inner) {
    return outer.out == inner.size * inner.out && outer.index == inner.size * inner.index &&
           outer.src == inner.size * inner.src;
  }

  Steps along_;
  Steps across_{1, 0, 0, 0};
  SmallVector<Steps, 5> others_;
};

/// out[index[k]] = f(out[index[k]], src[k]) for the elements of a column.
template <class T, class F>
void scatter_column(const ScatterColumns::Steps& along, const IndexBounds& bounds,
                    const int64_t* index, T* out, const T* src, F f) {
  if (along.index == 1 && along.out == 1 && along.src == 1) {
    for (int64_t k = 0; k < along.size; ++k) {
      T& element = out[bounds.checked(index[k])];
      element = f(element, src[k]);
    }
    return;
  }
  for (int64_t k = 0; k < along.size; ++k) {
    T& element = out[bounds.checked(index[k * along.index]) * along.out];
    element = f(element, src[k * along.src]);
  }
}

/// out[index[k][j]][j] = f(out[index[k][j]][j], src[k][j]) in the order of k.
template <class T, class F>
void scatter_columns(const ScatterColumns& columns, const IndexBounds& bounds, const int64_t* index,
                     T* out, const T* src, F f) {
  columns.for_each([&](const ScatterColumns::Piece& piece) {
    const auto along = columns.along(), across = columns.across();
    const int64_t* at = index + piece.index;
    const T* from = src + piece.src;
    T* to = out + piece.out;
    if (piece.count == 1) return scatter_column(along, bounds, at, to, from, f);
    const bool by_rows = across.index == 0 && across.out == 1 && across.src == 1;
    for (int64_t k = 0; k < along.size; ++k, at += along.index, from += along.src) {
      if (by_rows) {
        T* row = to + bounds.checked(*at) * along.out;
        for (int64_t j = 0; j < piece.count; ++j) row[j] = f(row[j], from[j]);
        continue;
      }
      for (int64_t j = 0; j < piece.count; ++j) {
        T& element = to[j * across.out + bounds.checked(at[j * across.index]) * along.out];
        element = f(element, from[j * across.src]);
      }
    }
  });
}

}  // namespace tenon::native
