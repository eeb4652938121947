#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "aten/core/allocator.h"
#include "aten/core/parallel.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/plan.h"

namespace tenon::native {

/// Scratch memory of one worker.
class Scratch {
 public:
  explicit Scratch(size_t bytes)
      : bytes_(bytes), data_(bytes ? memory::allocate(bytes) : nullptr) {}
  ~Scratch() {
    if (data_) memory::deallocate(data_, bytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  char* data() const { return static_cast<char*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

/// How a plan is cut: blocks of up to t0 x t1 elements of its two fastest dimensions.
///   Rows       every operand runs well along dimension 0: rows are handed out as they lie, several
///              to a block where they are short
///   Tiles      some operand is dense along dimension 1 instead: its tiles are transposed in cache
///   SmallRows  rows too short to be worth a call, or so short that writing each past the caches
///              would leave a part of a cache line at its ends: blocks of rows are packed into one
struct Blocking {
  enum class Kind { Rows, Tiles, SmallRows } kind = Kind::Rows;
  int64_t t0 = 0, t1 = 1;
  bool staged[kMaxOperands] = {};  ///< operands that go through a dense copy of the block
  size_t scratch = 0;              ///< bytes of those copies
  bool stream = false;             ///< outputs bypass the caches
};

/// Rows of n0 elements whose bytes together are whole cache lines.
inline int64_t rows_of_whole_lines(int64_t n0, int64_t element_size) {
  return 64 / std::gcd(n0 * element_size, int64_t{64});
}

/// Whether all outputs are dense along the plan's two fastest dimensions.
inline bool dense_outputs(const PointwisePlan& plan) {
  for (int k = 0; k < plan.num_outputs; ++k) {
    const PointwisePlan::Operand& out = plan.operands[k];
    const auto size = static_cast<int64_t>(element_size(out.dtype));
    if (out.data && (out.strides[0] != size || out.strides[1] != plan.sizes[0] * size))
      return false;
  }
  return true;
}

/// Whether an input is one value per row.
inline bool has_column(const PointwisePlan& plan) {
  for (int k = plan.num_outputs; k < plan.num_operands(); ++k) {
    const int64_t* strides = plan.operands[k].strides;
    if (strides[0] == 0 && strides[1] != 0) return true;
  }
  return false;
}

/// `stream`: outputs bypass the caches where they are written in whole cache lines.
inline Blocking choose_blocking(PointwisePlan& plan, bool stream) {
  Blocking b;
  const int64_t n0 = plan.sizes[0];
  const auto size_of = [&](int k) {
    return static_cast<int64_t>(element_size(plan.operands[k].dtype));
  };
  int64_t widest = 1;
  for (int k = 0; k < plan.num_operands(); ++k) widest = std::max(widest, size_of(k));
  const auto stage = [&](auto wanted) {
    for (int k = 0; k < plan.num_operands(); ++k) {
      b.staged[k] = plan.operands[k].data && wanted(plan.operands[k].strides, size_of(k));
      if (b.staged[k]) b.scratch += (b.t0 * b.t1 * size_of(k) + 63) / 64 * 64;
    }
  };

  for (int k = 0; k < plan.num_operands() && n0 >= 8; ++k) {
    int64_t* strides = plan.operands[k].strides;
    if (!plan.operands[k].data || strides[0] == 0 || strides[0] == size_of(k)) continue;
    for (int d = 1; d < plan.ndim; ++d) {
      if (strides[d] != size_of(k) || plan.sizes[d] < 8) continue;
      // The order of the outer dimensions is free: bring the dense one next to dimension 0.
      std::swap(plan.sizes[1], plan.sizes[d]);
      for (int j = 0; j < plan.num_operands(); ++j) {
        std::swap(plan.operands[j].strides[1], plan.operands[j].strides[d]);
      }
      b.kind = Blocking::Kind::Tiles;
      // One cache line of the transposed operand across, and rows long enough for the others.
      b.t0 = std::min<int64_t>(n0, 2048 / widest);
      b.t1 = std::min<int64_t>(plan.sizes[1], std::max<int64_t>(8, 64 / size_of(k)));
      stage([](const int64_t* s, int64_t size) { return s[0] != 0 && s[0] != size; });
      b.stream = stream && std::none_of(b.staged, b.staged + plan.num_outputs, std::identity());
      return b;
    }
  }
  constexpr int64_t kBlock = 2048;        // its copies stay in the first-level cache
  constexpr int64_t kLargeBlock = 16384;  // in the second
  constexpr int64_t kShortRow = 256;      // a call of the loop costs as much as so many elements
  constexpr int64_t kLongRow = 3000;      // the cache lines at its ends do not count
  const int64_t whole = rows_of_whole_lines(n0, size_of(0));
  // Repeating one value along 192 elements and more costs more than a call.
  const bool partial = whole > 1 && n0 >= 192 && has_column(plan);
  const int64_t longest = partial ? 0 : stream ? kLargeBlock / whole : kShortRow;
  if (n0 < 64 || (n0 <= longest && dense_outputs(plan))) {
    b.kind = Blocking::Kind::SmallRows;
    b.t0 = n0;
    b.t1 = std::max<int64_t>(1, kBlock / n0);
    b.t1 = std::min(plan.sizes[1], (b.t1 + whole - 1) / whole * whole);
    stage([&](const int64_t* s, int64_t size) {
      const bool dense = s[0] == size && s[1] == n0 * size;
      return !dense && (s[0] != 0 || s[1] != 0);
    });
    b.stream = stream && dense_outputs(plan);
    return b;
  }
  b.t0 = std::min<int64_t>(n0, 65536);
  b.t1 = std::min(plan.sizes[1], std::max<int64_t>(1, 8192 / b.t0));
  b.stream = stream && (!partial || n0 >= kLongRow);
  return b;
}

/// Position of a block: counts along the first two dimensions in blocks, along the others in
/// elements.
class BlockCounter {
 public:
  BlockCounter(const PointwisePlan& plan, const Blocking& b, int64_t start) : plan_(plan) {
    limit_[0] = (plan.sizes[0] + b.t0 - 1) / b.t0;
    limit_[1] = (plan.sizes[1] + b.t1 - 1) / b.t1;
    for (int d = 2; d < plan.ndim; ++d) limit_[d] = plan.sizes[d];
    for (int i = 0; i < plan.ndim; ++i) {
      const int d = dimension(i);
      at_[d] = start % limit_[d];
      start /= limit_[d];
    }
  }
  int64_t at(int d) const { return at_[d]; }
  void next() {
    for (int i = 0; i < plan_.ndim; ++i) {
      const int d = dimension(i);
      if (++at_[d] < limit_[d]) return;
      at_[d] = 0;
    }
  }
  static int64_t count(const PointwisePlan& plan, const Blocking& b) {
    int64_t n = ((plan.sizes[0] + b.t0 - 1) / b.t0) * ((plan.sizes[1] + b.t1 - 1) / b.t1);
    for (int d = 2; d < plan.ndim; ++d) n *= plan.sizes[d];
    return n;
  }

 private:
  /// Blocks follow each other along dimension 1 first: there lies a transposed operand's next line.
  static int dimension(int i) { return i < 2 ? 1 - i : i; }

  const PointwisePlan& plan_;
  int64_t limit_[kMaxPlanDims];
  int64_t at_[kMaxPlanDims];
};

/// Asks for rows that will be read soon: too short and far apart for the hardware to foresee them.
inline void prefetch_rows(const char* p, int64_t bytes, int64_t rows, int64_t stride) {
  for (int64_t j = 0; j < rows; ++j) {
    for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(p + j * stride + i, 0, 2);
  }
}

/// Whether an operand's rows are short and have other memory between them, as those of `x[:, :n]`:
/// the next one must be asked for.
inline bool is_apart(const PointwisePlan& plan, int k, int64_t n0) {
  constexpr int64_t kFewBytes = 16384;
  const PointwisePlan::Operand& operand = plan.operands[k];
  const int64_t bytes = n0 * static_cast<int64_t>(element_size(operand.dtype));
  return n0 == plan.sizes[0] && n0 * operand.strides[0] == bytes && bytes <= kFewBytes &&
         operand.strides[1] != bytes && operand.strides[1] != 0;
}

/// Runs blocks [begin, end) of a plan of at least two dimensions: row(data, strides, n) for every
/// run of n elements, where operand k's lie at data[k], strides[k] bytes apart. A row that has a
/// function block(data, strides0, strides1, n0, n1) is offered each block whole; where that returns
/// false, nothing was done.
template <class Row>
void run_blocks(const PointwisePlan& plan, const Blocking& b, int64_t begin, int64_t end,
                Row& row) {
  const int operands = plan.num_operands();
  const Scratch scratch(b.scratch);
  BlockCounter counter(plan, b, begin);
  // What each staged input's copy holds: a broadcast operand is the same for many blocks.
  const char* held[kMaxOperands] = {};
  int64_t held_n0[kMaxOperands] = {}, held_n1[kMaxOperands] = {};
  for (int64_t block = begin; block < end; ++block, counter.next()) {
    const int64_t i0 = counter.at(0) * b.t0, i1 = counter.at(1) * b.t1;
    const int64_t n0 = std::min(b.t0, plan.sizes[0] - i0), n1 = std::min(b.t1, plan.sizes[1] - i1);
    char* origin[kMaxOperands];  // the block in the operand's own memory
    char* data[kMaxOperands];    // where the rows read and write
    int64_t stride0[kMaxOperands], stride1[kMaxOperands];
    char* free = scratch.data();
    for (int k = 0; k < operands; ++k) {
      const PointwisePlan::Operand& operand = plan.operands[k];
      char* p = static_cast<char*>(operand.data);
      stride0[k] = operand.strides[0];
      stride1[k] = operand.strides[1];
      if (p) {
        p += i0 * stride0[k] + i1 * stride1[k];
        for (int d = 2; d < plan.ndim; ++d) p += counter.at(d) * operand.strides[d];
      }
      origin[k] = data[k] = p;
    }
    if constexpr (requires { row.block(data, stride0, stride1, n0, n1); }) {
      if (row.block(data, stride0, stride1, n0, n1)) continue;
    }
    for (int k = 0; k < operands; ++k) {
      const PointwisePlan::Operand& operand = plan.operands[k];
      char* const p = data[k];
      if (!b.staged[k]) {
        if (b.kind == Blocking::Kind::Tiles && k >= plan.num_outputs && stride0[k] != 0) {
          prefetch_rows(p, n0 * stride0[k], n1, stride1[k]);
        }
        continue;
      }
      const int64_t size = static_cast<int64_t>(element_size(operand.dtype));
      data[k] = free;
      free += (b.t0 * b.t1 * size + 63) / 64 * 64;
      if (k >= plan.num_outputs && (held[k] != p || held_n0[k] != n0 || held_n1[k] < n1)) {
        gather_2d(data[k], p, size, n0, n1, stride0[k], stride1[k]);
        held[k] = p;
        held_n0[k] = n0;
        held_n1[k] = n1;
      }
      stride0[k] = size;
      stride1[k] = n0 * size;
    }
    if (b.kind == Blocking::Kind::SmallRows) {
      row(data, stride0, n0 * n1);
    } else {
      bool ahead[kMaxOperands];
      for (int k = 0; k < operands; ++k) {
        const bool is_read = k >= plan.num_outputs || !b.stream;
        ahead[k] = data[k] && is_read && !b.staged[k] && is_apart(plan, k, n0);
      }
      for (int64_t j = 0; j < n1; ++j) {
        for (int k = 0; k < operands; ++k) {
          if (ahead[k]) prefetch_rows(data[k] + stride1[k], n0 * stride0[k], 1, 0);
        }
        row(data, stride0, n0);
        for (int k = 0; k < operands; ++k) {
          if (data[k]) data[k] += stride1[k];
        }
      }
    }
    free = scratch.data();
    for (int k = 0; k < plan.num_outputs; ++k) {
      if (!b.staged[k]) continue;
      const PointwisePlan::Operand& out = plan.operands[k];
      scatter_2d(origin[k], free, element_size(out.dtype), n0, n1, out.strides[0], out.strides[1]);
      free += (b.t0 * b.t1 * element_size(out.dtype) + 63) / 64 * 64;
    }
  }
}

/// Walks the plan on as many threads as `grain` elements each allow. `make_row()` gives each worker
/// its row function; `done(row)` ends it. `stream`: outputs shall bypass the caches;
/// make_row(stream) is told whether its outputs are the caller's memory, so that they can.
template <class MakeRow, class Done>
void for_each_row(PointwisePlan& plan, int64_t grain, bool stream, MakeRow make_row, Done done) {
  if (plan.numel == 0) return;
  const int operands = plan.num_operands();
  if (plan.ndim <= 1) {
    const int64_t n = plan.ndim == 0 ? 1 : plan.sizes[0];
    parallel_for(0, n, grain, [&](int64_t begin, int64_t end) {
      char* data[kMaxOperands];
      int64_t strides[kMaxOperands];
      for (int k = 0; k < operands; ++k) {
        strides[k] = plan.ndim == 0 ? 0 : plan.operands[k].strides[0];
        data[k] = static_cast<char*>(plan.operands[k].data);
        if (data[k]) data[k] += begin * strides[k];
      }
      if (plan.ndim == 0) {
        for (int k = 0; k < plan.num_outputs; ++k)
          strides[k] = element_size(plan.operands[k].dtype);
      }
      auto row = make_row(stream);
      row(data, strides, end - begin);
      done(row);
    });
    return;
  }
  const Blocking b = choose_blocking(plan, stream);
  const int64_t per_block = b.t0 * b.t1;
  parallel_for(0, BlockCounter::count(plan, b), std::max<int64_t>(1, grain / per_block),
               [&](int64_t begin, int64_t end) {
                 auto row = make_row(b.stream);
                 run_blocks(plan, b, begin, end, row);
                 done(row);
               });
}

}  // namespace tenon::native
