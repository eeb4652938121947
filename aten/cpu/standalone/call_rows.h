#pragma once

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "aten/core/parallel.h"
#include "aten/cpu/standalone/array.h"
#include "aten/cpu/standalone/call_pointwise.h"
#include "aten/cpu/standalone/convert_elements.h"
#include "aten/iterator/rows.h"
#include "aten/iterator/zero_division.h"

namespace tenon::standalone {

/// The elements of a call, and which dimensions make a row.
struct RowSizes {
  int ndim = 0;
  int64_t sizes[kMaxDims];
  uint32_t mask = 0;
  const char* error = nullptr;

  /// The shape that the arrays broadcast to. A null array is absent.
  RowSizes(const char* op, std::initializer_list<const tenon_array*> elements) {
    for (const tenon_array* a : elements) {
      if (!a || error) continue;
      if (a->ndim > kMaxDims) {
        error = fail("[%s] an argument has %d dimensions, at most 16 are supported", op, a->ndim);
        return;
      }
      for (; ndim < a->ndim; ++ndim) {
        std::copy_backward(sizes, sizes + ndim, sizes + ndim + 1);
        sizes[0] = 1;
      }
      for (int d = 0; d < a->ndim; ++d) {
        int64_t& size = sizes[ndim - a->ndim + d];
        const int64_t own = a->sizes[d];
        if (size != own && size != 1 && own != 1) {
          error = fail("[%s] sizes %lld and %lld of the elements do not broadcast", op,
                       static_cast<long long>(size), static_cast<long long>(own));
        }
        if (size == 1) size = own;
      }
    }
  }

  void over_all() { mask = (1u << ndim) - 1; }
  /// One dimension, from the end if negative.
  void over(const char* op, int64_t dim) {
    const int64_t n = std::max(ndim, 1);
    if (dim < -n || dim >= n) {
      error = fail("[%s] dimension %lld is out of range for %d dimensions", op,
                   static_cast<long long>(dim), ndim);
      return;
    }
    const uint32_t bit = 1u << (dim < 0 ? dim + n : dim);
    if (mask & bit) error = fail("[%s] a dimension of the row is given twice", op);
    if (ndim > 0) mask |= bit;
  }
  /// The last dimensions, whose sizes must be these.
  void over_sizes(const char* op, const int64_t* last, int64_t count) {
    bool same = count <= ndim;
    for (int64_t d = 0; same && d < count; ++d) same = sizes[ndim - count + d] == last[d];
    if (!same) error = fail("[%s] the last dimensions of the elements are not the given sizes", op);
    for (int64_t d = 0; same && d < count; ++d) mask |= 1u << (ndim - 1 - d);
  }
};

/// One loop over rows of arrays in memory.
class RowCall {
 public:
  /// Gives the text of an error, or null after the results are written. `arrays`: the inputs,
  /// null if absent, then the outputs, null or without data if not wanted. Inputs that decide the
  /// dtype have the same one.
  static const char* run_alike(const native::RowOp& op, const RowSizes& shape,
                               std::initializer_list<const tenon_array*> arrays,
                               std::initializer_list<Scalar> scalars) {
    const tenon_array* first = nullptr;
    for (int k = 0; k < op.num_inputs; ++k) {
      const tenon_array* const a = arrays.begin()[k];
      if (!a || !op.inputs[k].promotes) continue;
      if (first && a->dtype != first->dtype)
        return fail("[%s] tensors must have one dtype, got %s and %s", op.name,
                    to_string(dtype_of(*first)), to_string(dtype_of(*a)));
      first = a;
    }
    if (!first) return fail("[%s] no tensor decides the dtype", op.name);
    return run(op, shape, dtype_of(*first), arrays.begin(), scalars.begin());
  }

  /// The loop of the promoted dtype, `common`.
  static const char* run(const native::RowOp& op, const RowSizes& shape, ScalarType common,
                         const tenon_array* const* arrays, const Scalar* scalars) {
    if (shape.error) return shape.error;
    RowCall call(op, shape, arrays, scalars);
    const char* error = call.choose_loop(common);
    if (!error) error = call.lay_out();
    if (!error) error = call.compute();
    std::free(call.columns_);
    return error;
  }

 private:
  using Kind = native::RowOperand;
  struct Operand {
    Kind kind;
    bool present = false, input = false, position = false, whole = false, direct = false;
    char* data = nullptr;
    ScalarType dtype = kFloat;
    int64_t outer[kMaxDims], inner[kMaxDims];  ///< strides in bytes, fastest first
    size_t values = 0;                         ///< in the scratch memory of a thread
    bool is_element() const { return present && kind == Kind::Element; }
  };

  RowCall(const native::RowOp& op, const RowSizes& shape, const tenon_array* const* arrays,
          const Scalar* scalars)
      : op_(op), shape_(shape), arrays_(arrays), scalars_(scalars),
        count_(op.num_inputs + op.num_outputs) {}

  const char* choose_loop(ScalarType common) {
    if (op_.floating && is_integral(common, true)) common = kFloat;
    const native::RowLoops& loops = *op_.cpu();
    compute_ = common == kDouble ? kDouble : is_integral(common, true) ? kLong : kFloat;
    const auto of = [&](const auto& all) {
      return compute_ == kDouble ? all.f64 : compute_ == kLong ? all.i64 : all.f32;
    };
    loop_ = of(loops.row_major);
    by_columns_ = of(loops.column_major);
    width_ = static_cast<int64_t>(element_size(compute_));
    if (!loop_ || is_complex(common))
      return fail("[%s] is not implemented for '%s'", op_.name, to_string(common));
    return nullptr;
  }

  const char* lay_out() {
    for (int k = 0; k < count_; ++k) {
      if (const char* error = describe(k)) return error;
    }
    for (int d = shape_.ndim - 1; d >= 0; --d) {
      const bool in_row = (shape_.mask >> d) & 1;
      (in_row ? length_ : rows_) *= shape_.sizes[d];
      if (shape_.sizes[d] != 1) add_dim(d, in_row);
    }
    if (outer_dims_ == 0) outer_[outer_dims_++] = 1;
    if (inner_dims_ == 0) inner_[inner_dims_++] = 1;
    if (op_.needs_elements && length_ == 0 && rows_ > 0)
      return fail("[%s] rows have no elements, at least one is required", op_.name);
    if (op_.uses_index && compute_ == kFloat && length_ > (int64_t{1} << 24))
      return fail("[%s] positions beyond 2^24 are no values of float, got rows of %lld", op_.name,
                  static_cast<long long>(length_));
    choose_places();
    return nullptr;
  }

  const char* describe(int k) {
    Operand& o = operands_[k];
    o.input = k < op_.num_inputs;
    const char* const name = o.input ? op_.inputs[k].name : "a result";
    o.kind = o.input ? op_.inputs[k].kind : op_.outputs[k - op_.num_inputs].kind;
    o.position = o.input && op_.inputs[k].is_position;
    o.whole = !o.input && op_.outputs[k - op_.num_inputs].dtype == native::RowOutput::DType::Long;
    const tenon_array* const a = arrays_[k];
    if (!a || (!o.input && !a->data)) return nullptr;
    o.present = true;
    o.data = static_cast<char*>(a->data);
    o.dtype = dtype_of(*a);
    std::fill_n(o.outer, kMaxDims, 0);
    std::fill_n(o.inner, kMaxDims, 0);
    if (!with_type(o.dtype, [](auto) {}) || is_complex(o.dtype))
      return fail("[%s] '%s' has dtype %d, which kernels of rows do not know", op_.name, name,
                  a->dtype);
    if ((o.whole && o.dtype != kLong) || (o.position && !is_integral(o.dtype, false)))
      return fail("[%s] '%s' holds positions and must be of an integer type (results: int64)",
                  op_.name, name);
    // The array's dimension for each of the shape's: of rows without the row's, or with 1 in
    // their place; of a column the row's.
    const int in_row = __builtin_popcount(shape_.mask);
    const bool reduced = o.kind == Kind::Row && a->ndim == shape_.ndim - in_row;
    int own = o.kind == Kind::Element ? a->ndim - shape_.ndim : 0;
    bool fits = o.kind == Kind::Column ? a->ndim == in_row
                : o.kind == Kind::Row  ? reduced || a->ndim == shape_.ndim
                                       : own <= 0;
    for (int d = 0; d < shape_.ndim && fits; ++d) {
      const bool row_dim = (shape_.mask >> d) & 1;
      strides_[k][d] = 0;
      if (o.kind == Kind::Column ? !row_dim : reduced && row_dim) continue;
      if (own >= 0) {
        const int64_t size = a->sizes[own];
        const bool one = o.kind == Kind::Row && row_dim;
        fits = size == (one ? 1 : shape_.sizes[d]) ||
               (o.kind == Kind::Element && o.input && size == 1);
        if (size != 1) strides_[k][d] = a->strides[own] * static_cast<int64_t>(size_of(o));
      }
      ++own;
    }
    if (fits) return nullptr;
    return fail("[%s] '%s' of %d dimensions does not have the shape that the elements give it",
                op_.name, name, a->ndim);
  }

  static size_t size_of(const Operand& o) { return element_size(o.dtype); }

  void add_dim(int d, bool in_row) {
    int64_t* const sizes = in_row ? inner_ : outer_;
    int& count = in_row ? inner_dims_ : outer_dims_;
    bool follows = count > 0;
    for (int k = 0; k < count_ && follows; ++k) {
      const Operand& o = operands_[k];
      const int64_t* const strides = in_row ? o.inner : o.outer;
      follows = !o.present || strides_[k][d] == strides[count - 1] * sizes[count - 1];
    }
    if (!follows) sizes[count++] = 1;
    for (int k = 0; k < count_ && !follows; ++k)
      (in_row ? operands_[k].inner : operands_[k].outer)[count - 1] = strides_[k][d];
    sizes[count - 1] *= shape_.sizes[d];
  }

  bool is_packed_along(const Operand& o, const int64_t* strides, int dims) const {
    return o.dtype == compute_ && dims == 1 && strides[0] == width_;
  }

  void choose_places() {
    // A lane per row, if the rows lie side by side in all operands.
    bool rows_first = true, row_major = true, sums = false;
    for (int k = 0; k < count_; ++k) {
      Operand& o = operands_[k];
      sums |= !o.input && o.kind == Kind::Column;
      o.direct = o.whole || (o.kind == Kind::Row && o.dtype == compute_ && !o.position);
      if (!o.is_element()) continue;
      o.direct = is_packed_along(o, o.inner, inner_dims_) || (length_ <= 1 && o.dtype == compute_);
      row_major &= o.direct;
      rows_first &= o.dtype == compute_ && o.outer[0] == width_ && inner_dims_ == 1;
    }
    constexpr int64_t kFewRows = 4, kLongest = 1 << 24;
    column_major_ =
        by_columns_ && rows_first && !row_major && outer_[0] >= kFewRows && length_ <= kLongest;
    if (column_major_) loop_ = by_columns_;
    const int64_t length = std::max<int64_t>(length_, 1);
    block_rows_ = column_major_
                      ? std::clamp<int64_t>(262144 / length, 16, native::kRowStrip) / 16 * 16
                  : row_major ? std::clamp<int64_t>(65536 / length, 1, 1024)
                              : std::clamp<int64_t>(4096 / length, 1, 64);
    if (sums) block_rows_ = std::min<int64_t>(block_rows_, 64);
    block_rows_ = std::min(block_rows_, std::max<int64_t>(outer_[0], 1));
    for (int k = 0; k < count_; ++k) {
      Operand& o = operands_[k];
      if (column_major_ && o.is_element()) o.direct = true;
      if (column_major_ && o.kind == Kind::Row) o.direct &= o.outer[0] == width_ || o.whole;
      o.values = scratch_;
      const int64_t values = o.kind == Kind::Column ? (o.input ? 0 : length_)
                             : o.kind == Kind::Row  ? 2 * block_rows_
                             : o.direct             ? 0
                                                    : block_rows_ * length_;
      reserve(values, 8);
    }
    spills_ = scratch_;
    for (int k = 0; k < op_.num_spills; ++k)
      reserve(length_ * (column_major_ ? block_rows_ : 1), width_);
  }
  void reserve(int64_t count, int64_t size) {
    scratch_ += (static_cast<size_t>(count * size) + 191) / 64 * 64;
  }
  size_t spill_bytes() const { return op_.num_spills ? (scratch_ - spills_) / op_.num_spills : 0; }

  const char* compute() {
    // Columns that are read, in the compute type; and sums of columns in double, for each piece
    // of the blocks. Pieces do not depend on the threads, so that nor do the sums.
    runs_ = (outer_[0] + block_rows_ - 1) / block_rows_;
    int64_t blocks = rows_ > 0 ? runs_ : 0;
    for (int d = 1; d < outer_dims_; ++d) blocks *= outer_[d];
    bool sums = false;
    for (int k = op_.num_inputs; k < count_; ++k) sums |= operands_[k].kind == Kind::Column;
    const int64_t pieces = sums ? std::clamp<int64_t>(blocks, 1, 16) : blocks;
    const size_t column = static_cast<size_t>(length_) * 8;
    const size_t sets = static_cast<size_t>(count_) * (sums ? pieces : 1);
    columns_ = static_cast<char*>(std::calloc(std::max<size_t>(sets * column, 1), 1));
    if (!columns_) return fail("[%s] out of memory", op_.name);
    for (int k = 0; k < op_.num_inputs; ++k) {
      if (operands_[k].kind == Kind::Column) read_column(k, columns_ + k * column);
    }
    const int64_t grain = sums ? 1 : std::max<int64_t>(1, 16384 / (block_rows_ * (length_ + 1)));
    parallel_for(0, pieces, grain, [&](int64_t begin, int64_t end) {
      if (!sums) return work(begin, end, nullptr);
      for (int64_t p = begin; p < end; ++p) {
        work(p * blocks / pieces, (p + 1) * blocks / pieces,
             reinterpret_cast<double*>(columns_ + static_cast<size_t>(p * count_) * column));
      }
    });
    if (failed_ == kOutOfMemory) return fail("[%s] out of memory", op_.name);
    if (failed_ == kBadPosition)
      return fail("[%s] '%s' holds %lld, which is out of bounds: rows have %lld elements", op_.name,
                  op_.inputs[bad_input_].name, static_cast<long long>(bad_position_),
                  static_cast<long long>(length_));
    if (failed_ == kDivided) return fail("[%s] integer division by zero", op_.name);
    if (sums) write_columns(pieces, column);
    return nullptr;
  }

  /// Calls f(offset in bytes, first element) for the stretches of a row.
  template <class F>
  void for_stretches(const Operand& o, F f) const {
    const int64_t n = inner_[0];
    for (int64_t first = 0; first < length_; first += n) {
      int64_t rest = first / n, offset = 0;
      for (int d = 1; d < inner_dims_; ++d) {
        offset += rest % inner_[d] * o.inner[d];
        rest /= inner_[d];
      }
      f(offset, first);
    }
  }
  void gather(const Operand& o, const char* p, char* to) const {
    for_stretches(o, [&](int64_t offset, int64_t first) {
      convert(to + first * width_, compute_, width_, p + offset, o.dtype, o.inner[0], inner_[0]);
    });
  }
  void scatter(const Operand& o, char* p, const char* from, ScalarType dtype) const {
    const auto width = static_cast<int64_t>(element_size(dtype));
    for_stretches(o, [&](int64_t offset, int64_t first) {
      convert(p + offset, o.dtype, o.inner[0], from + first * width, dtype, width, inner_[0]);
    });
  }

  void read_column(int k, char* to) const {
    const Operand& o = operands_[k];
    if (o.present) return gather(o, o.data, to);
    const double absent = op_.inputs[k].absent;
    convert(to, compute_, width_, &absent, kDouble, 0, length_);
  }

  void write_columns(int64_t pieces, size_t column) const {
    for (int k = op_.num_inputs; k < count_; ++k) {
      const Operand& o = operands_[k];
      if (o.kind != Kind::Column || !o.present) continue;
      auto* const total = reinterpret_cast<double*>(columns_ + static_cast<size_t>(k) * column);
      for (int64_t p = 1; p < pieces; ++p) {
        const double* const part = total + p * count_ * length_;
        for (int64_t i = 0; i < length_; ++i) total[i] += part[i];
      }
      scatter(o, o.data, reinterpret_cast<const char*>(total), kDouble);
    }
  }

  /// Blocks [begin, end). `sums`: of column outputs, in double.
  void work(int64_t begin, int64_t end, double* sums) {
    auto* const scratch = static_cast<char*>(std::aligned_alloc(64, scratch_ + 64));
    if (!scratch) {
      failed_ = kOutOfMemory;
      return;
    }
    for (int64_t b = begin; b < end && failed_ == kFine; ++b) block(b, scratch, sums);
    std::free(scratch);
  }

  void block(int64_t b, char* scratch, double* sums) {
    const int64_t first = b % runs_ * block_rows_;
    const int64_t rows = std::min(block_rows_, outer_[0] - first);
    native::RowBlock::Elements places[kMaxArrays], spills[kMaxArrays];
    const int64_t* positions[kMaxArrays] = {};
    char* data[kMaxArrays];
    for (int k = 0; k < count_; ++k) {
      const Operand& o = operands_[k];
      char* const values = scratch + o.values;
      data[k] = o.data ? o.data + first * o.outer[0] + offset(o, b / runs_) : nullptr;
      if (o.kind == Kind::Column) {
        char* const column = o.input ? columns_ + k * length_ * 8 : o.present ? values : nullptr;
        places[k] = {column, 0, length_, 1};
        if (!o.input && column) std::fill_n(column, length_ * width_, '\0');
      } else if (o.kind == Kind::Row) {
        places[k] = row_place(k, data[k], values, rows);
        if (o.position) {
          auto* const at = reinterpret_cast<int64_t*>(values + block_rows_ * 8);
          convert(at, kLong, 8, data[k], o.dtype, o.outer[0], rows);
          positions[k] = at;
        }
      } else if (!o.present) {
        places[k] = {};
      } else if (o.direct) {
        const int64_t step = column_major_ ? o.inner[0] / width_ : 1;
        places[k] = {data[k], o.outer[0] / width_, 0, step};
      } else {
        places[k] = {values, length_, 0, 1};
        for (int64_t r = 0; r < rows && o.input; ++r)
          gather(o, data[k] + r * o.outer[0], values + r * length_ * width_);
      }
    }
    for (int k = 0; k < op_.num_spills; ++k) {
      char* const spill = scratch + spills_ + static_cast<size_t>(k) * spill_bytes();
      spills[k] = column_major_ ? native::RowBlock::Elements{spill, 0, 0, block_rows_}
                                : native::RowBlock::Elements{spill, 0, 0, 1};
    }
    native::RowBlock call;
    call.rows = rows;
    call.length = length_;
    call.segment_length = std::max<int64_t>(length_, 1);
    call.inputs = places;
    call.outputs = places + op_.num_inputs;
    call.spills = spills;
    call.padded_spills = !column_major_;
    call.positions = positions;
    call.scalars = scalars_;
    loop_(call);
    if (compute_ == kLong && native::take_zero_division()) failed_ = kDivided;
    if (call.bad_input >= 0 && failed_.exchange(kBadPosition) != kBadPosition) {
      bad_input_ = call.bad_input;
      bad_position_ = positions[call.bad_input][call.bad_row];
    }
    for (int k = op_.num_inputs; k < count_; ++k) deliver(k, data[k], scratch, rows, sums);
  }

  native::RowBlock::Elements row_place(int k, char* data, char* values, int64_t rows) const {
    const Operand& o = operands_[k];
    if (!o.present && !o.input) return {};
    if (o.direct && o.present) return {data, o.outer[0] / static_cast<int64_t>(size_of(o)), 0, 0};
    const double absent = o.input ? op_.inputs[k].absent : 0;
    if (o.input && !o.present) {
      convert(values, compute_, width_, &absent, kDouble, 0, rows);
    } else if (o.input) {
      convert(values, compute_, width_, data, o.dtype, o.outer[0], rows);
    }
    return {values, 1, 0, 0};
  }

  int64_t offset(const Operand& o, int64_t index) const {
    int64_t offset = 0;
    for (int d = 1; d < outer_dims_; ++d) {
      offset += index % outer_[d] * o.outer[d];
      index /= outer_[d];
    }
    return offset;
  }

  void deliver(int k, char* data, char* scratch, int64_t rows, double* sums) const {
    const Operand& o = operands_[k];
    const char* const values = scratch + o.values;
    if (!o.present) return;
    if (o.kind == Kind::Column) {
      double* const total = sums + k * length_;
      for (int64_t i = 0; i < length_; ++i) {
        total[i] += compute_ == kFloat ? reinterpret_cast<const float*>(values)[i]
                                       : reinterpret_cast<const double*>(values)[i];
      }
    } else if (o.direct) {
      return;
    } else if (o.kind == Kind::Row) {
      convert(data, o.dtype, o.outer[0], values, compute_, width_, rows);
    } else {
      for (int64_t r = 0; r < rows; ++r)
        scatter(o, data + r * o.outer[0], values + r * length_ * width_, compute_);
    }
  }

  enum Failure : int { kFine, kOutOfMemory, kBadPosition, kDivided };

  const native::RowOp& op_;
  const RowSizes& shape_;
  const tenon_array* const* arrays_;
  const Scalar* scalars_;
  const int count_;
  ScalarType compute_ = kFloat;
  int64_t width_ = 4;
  native::RowLoop loop_ = nullptr, by_columns_ = nullptr;
  bool column_major_ = false;
  Operand operands_[kMaxArrays];
  int64_t strides_[kMaxArrays][kMaxDims];  ///< in bytes, along the shape's dimensions
  int64_t outer_[kMaxDims], inner_[kMaxDims];
  int outer_dims_ = 0, inner_dims_ = 0;
  int64_t rows_ = 1, length_ = 1, block_rows_ = 1, runs_ = 1;
  size_t scratch_ = 0, spills_ = 0;
  char* columns_ = nullptr;
  std::atomic<int> failed_{kFine};
  int bad_input_ = -1;
  int64_t bad_position_ = 0;
};

}  // namespace tenon::standalone
