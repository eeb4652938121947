#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "aten/core/parallel.h"
#include "aten/iterator/blocks.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/row_run.h"
#include "aten/iterator/zero_division.h"

// Row operators on the CPU: blocks of rows, traversed row-major or column-major, whose operands the
// loop reads and writes as they lie or by way of scratch memory.

namespace tenon::native {
namespace {

using Operand = RowLayout::Operand;

/// Bytes of a row that is better kept beside its output than in it.
constexpr int64_t kRowInFirstCache = 8192;

/// `value` for each of `sizes`, at one place in memory where `repeated`.
TensorBase number(double value, IntArrayRef sizes, ScalarType dtype, bool repeated) {
  const int64_t count = repeated ? 1 : [&] {
    int64_t n = 1;
    for (const int64_t size : sizes) n *= size;
    return n;
  }();
  TensorBase values = empty({count}, dtype, kCPU);
  fill_number(value, dtype, values.data_ptr(), count);
  values.unsafe_impl()->set_sizes_and_strides(sizes, repeated ? DimVector(sizes.size(), 0)
                                                              : contiguous_strides(sizes));
  return values;
}

/// What the loop reads as input k.
TensorBase readable(const RowRun& run, int k) {
  const RowInput& input = run.op.inputs[k];
  const TensorBase* const t = run.inputs[k];
  const bool column = input.kind == RowOperand::Column;
  if (!t || !t->defined()) {
    return number(input.absent, column ? run.shape.row_sizes() : run.shape.outer_sizes(),
                  run.compute, !column);
  }
  if (!column || (t->scalar_type() == run.compute && t->is_contiguous())) return *t;
  TensorBase values = empty(t->sizes(), run.compute, kCPU);
  copy(values, *t);
  return values;
}

SmallVector<TensorBase, 6> operands_of(const RowRun& run) {
  SmallVector<TensorBase, 6> tensors;
  for (int k = 0; k < run.op.num_inputs; ++k) tensors.push_back(readable(run, k));
  for (int k = 0; k < run.op.num_outputs; ++k) {
    const bool summed = run.op.outputs[k].kind == RowOperand::Column;
    tensors.push_back(summed ? TensorBase() : run.outputs[k]);
  }
  return tensors;
}

RowLayout laid_out(const RowRun& run) {
  const SmallVector<TensorBase, 6> tensors = operands_of(run);
  RowLayout layout(run, tensors, false);
  // A loop knows of one distance between segments.
  if (layout.inner.size() > 2) layout = RowLayout(run, tensors, true);
  return layout;
}

/// Whether operand k is an output that the loop writes as int64.
bool writes_whole(const RowOp& op, size_t k) {
  return k >= op.num_inputs && op.outputs[k - op.num_inputs].dtype == RowOutput::DType::Long;
}

class CpuRows {
 public:
  explicit CpuRows(const RowRun& run)
      : run_(run), layout_(laid_out(run)), segments_(layout_.segments()),
        segment_length_(layout_.segment_length()),
        width_(static_cast<int64_t>(element_size(run.compute))) {
    choose_loop();
    choose_block();
    place_operands();
  }

  void compute() {
    const int64_t inner = layout_.outer.back();
    runs_ = (inner + block_rows_ - 1) / block_rows_;
    int64_t blocks = runs_;
    for (size_t d = 0; d + 1 < layout_.outer.size(); ++d) blocks *= layout_.outer[d];
    groups_ = (blocks + group_ - 1) / group_;
    const int64_t chunk = column_major_ ? kRowStripChunk : kRowChunk;
    if (run_.rows > 0 && run_.length >= 2 * chunk && groups_ < get_num_threads()) {
      work(0, blocks);  // few long rows: each in turn, on all threads
    } else if (run_.rows > 0) {
      const int64_t per_group = group_ * block_rows_ * std::max<int64_t>(run_.length, 1);
      parallel_for(0, groups_, std::max<int64_t>(1, 16384 / per_group),
                   [&](int64_t begin, int64_t end) {
                     work(begin * group_, std::min(end * group_, blocks));
                   });
    }
    if (failed_) raise_bad_position();
    if (divided_) raise_zero_division(run_.op.name);
    finish_columns();
    deliver_rows(run_, layout_);
  }

 private:
  /// How the loop gets at an operand.
  struct Place {
    bool direct = false;         ///< as it lies
    bool uniform = false;        ///< one number for all elements, as a sum's gradient: see `work`
    size_t values = 0, raw = 0;  ///< else: in the scratch memory, in the compute type and its own
    int64_t size = 0;            ///< of an element, in bytes
    Converter convert = nullptr;
  };

  bool is_input(size_t k) const { return k < run_.op.num_inputs; }
  bool is_position(size_t k) const { return is_input(k) && run_.op.inputs[k].is_position; }
  bool is_row_major(const Operand& o) const { return o.step() == 1 || run_.length <= 1; }
  static bool is_column_major(const Operand& o) { return o.row() == 1; }
  bool is_uniform(size_t k) const {
    const Operand& o = layout_.operands[k];
    const auto is_zero = [](int64_t stride) { return stride == 0; };
    return is_input(k) && !is_position(k) && o.is_element() && o.tensor.numel() > 0 &&
           std::all_of(o.outer.begin(), o.outer.end(), is_zero) &&
           std::all_of(o.inner.begin(), o.inner.end(), is_zero);
  }
  static int64_t bytes(const Operand& o) { return static_cast<int64_t>(o.tensor.element_size()); }

  void choose_loop() {
    const RowLoops& loops = *run_.loops;
    places_.resize(layout_.operands.size());
    int64_t not_row_major = 0, not_column_major = 0;
    bool all_lie = true;
    for (size_t k = 0; k < places_.size(); ++k) {
      const Operand& o = layout_.operands[k];
      if (!o.is_element()) continue;
      places_[k].uniform = is_uniform(k);
      all_lie &= !places_[k].uniform;
      if (places_[k].uniform) continue;
      if (!is_row_major(o)) not_row_major += bytes(o);
      if (!is_column_major(o)) not_column_major += bytes(o);
    }
    const RowLoop by_columns = run_.column_major();
    // Fewer rows leave most lanes of a vector empty.
    constexpr int64_t kFewRows = 4;
    // Lanes of floats count in 32 bits.
    constexpr int64_t kLongest = std::numeric_limits<int32_t>::max();
    column_major_ = by_columns && not_column_major < not_row_major &&
                    layout_.outer.back() >= kFewRows && run_.length <= kLongest;
    loop_ = column_major_ ? by_columns : run_.row_major();
    stored_ = run_.compute;
    if ((column_major_ ? not_column_major : not_row_major) > 0 || !all_lie) return;
    if (run_.compute == kFloat && !column_major_) {
      read_directly(kHalf, loops.row_major.f16);
      read_directly(kBFloat16, loops.row_major.bf16);
    }
  }

  /// By that loop, if all elements are of the dtype.
  void read_directly(ScalarType dtype, RowLoop loop) {
    if (!loop) return;
    for (const Operand& o : layout_.operands) {
      if (o.is_element() && o.tensor.scalar_type() != dtype) return;
    }
    loop_ = loop;
    stored_ = dtype;
  }

  void choose_block() {
    bool packed = false, transposed = false;
    for (size_t k = 0; k < places_.size(); ++k) {
      const Operand& o = layout_.operands[k];
      if (!o.tensor.defined()) continue;
      places_[k].size = bytes(o);
      if (places_[k].uniform) continue;
      const bool lies = column_major_ ? is_column_major(o) : !o.is_element() || is_row_major(o);
      const ScalarType wanted = o.is_element() && is_input(k) ? stored_ : run_.compute;
      places_[k].direct = o.kind == RowOperand::Column || writes_whole(run_.op, k) ||
                          (lies && o.tensor.scalar_type() == wanted && !is_position(k));
      if (places_[k].direct || !o.is_element()) continue;
      packed = true;
      transposed |= !is_row_major(o) && is_column_major(o);
    }
    for (int k = 0; column_major_ && k < run_.op.num_spills; ++k) {
      const int output = run_.op.spill_outputs[k];
      packed |= output < 0 || !places_[run_.op.num_inputs + output].direct;
    }
    const int64_t length = std::max<int64_t>(run_.length, 1);
    if (column_major_) {
      // What several passes read stays in the second cache, if strips are not so narrow for that
      // that memory is read a few cache lines at a time. Copies are not large at any rate.
      constexpr int64_t kKept = 524288, kNarrow = 512, kHopeless = 4194304, kCopied = 16777216;
      const int64_t share = (run_.rows + get_num_threads() - 1) / get_num_threads();
      const bool wide = run_.op.num_passes < 2 || (!packed && kNarrow * length > kHopeless);
      const int64_t narrow = packed && kNarrow * length > kCopied ? 0 : kNarrow;
      const int64_t most = wide ? kRowStrip : std::max(kKept / length, narrow) / width_;
      block_rows_ = std::clamp(std::min(most, share + 15) / 16 * 16, int64_t{16}, kRowStrip);
    } else if (packed) {
      // Copies stay in the first cache; neighbouring rows of a transposed operand share its lines.
      block_rows_ = std::clamp<int64_t>(4096 / length, transposed ? 16 : 1, 64);
    } else {
      block_rows_ = std::clamp<int64_t>(65536 / length, 1, 1024);
    }
    if (!packed) together_ = rows_together();
    block_rows_ = std::max(block_rows_, together_);
    block_rows_ = std::min(block_rows_, std::max<int64_t>(layout_.outer.back(), 1));
    if (!sums_columns()) return;
    // To put a group's sums to the others is as much as a row; but threads want several groups.
    const int64_t rows = std::clamp<int64_t>(run_.rows / 16, 4, kSummedRows);
    block_rows_ = std::min(block_rows_, rows);
    group_ = rows / block_rows_;
  }

  /// How many rows a loop takes at a time where these are of segments, between which those of the
  /// next rows lie: memory is read in its order then, which several passes are worth.
  int64_t rows_together() const {
    if (column_major_ || segments_ == 1 || run_.length == 0) return 1;
    // Without a column-major loop, what a row is computed with has no place for several.
    if (run_.op.num_spills > 0 || !run_.column_major()) return 1;
    for (const Operand& o : layout_.operands) {
      if (o.is_element() && o.row() != segment_length_) return 1;
    }
    constexpr int64_t kRun = 65536;  // bytes one after the other
    const int64_t most = kRun / (segment_length_ * width_);
    const int64_t share = (run_.rows + get_num_threads() - 1) / get_num_threads();
    return std::clamp<int64_t>(std::min(most, share), 1, kRowsTogether);
  }

  bool sums_columns() const {
    return std::any_of(run_.op.outputs, run_.op.outputs + run_.op.num_outputs,
                       [](const RowOutput& o) { return o.kind == RowOperand::Column; });
  }

  /// Room for `count` values in the scratch memory of a thread.
  size_t reserve(int64_t count, int64_t size) {
    const size_t offset = scratch_;
    scratch_ += (static_cast<size_t>(count * size) + 127) / 64 * 64;
    return offset;
  }

  void place_operands() {
    for (size_t k = 0; k < places_.size(); ++k) {
      const Operand& o = layout_.operands[k];
      Place& place = places_[k];
      if (!o.tensor.defined() || place.direct) continue;
      if (place.uniform) {
        place.values = reserve(column_major_ ? block_rows_ : segment_length_, width_);
        continue;
      }
      const int64_t count = block_rows_ * (o.is_element() ? run_.length : 1);
      place.values = reserve(count, width_);
      const ScalarType dtype = o.tensor.scalar_type();
      if (dtype == run_.compute && !is_position(k)) continue;
      place.raw = reserve(count, place.size);
      place.convert = is_input(k) ? converter(run_.compute, dtype) : converter(dtype, run_.compute);
    }
    padded_ = !column_major_ && segments_ == 1 && run_.length * width_ <= kRowInFirstCache;
    for (int k = 0; k < run_.op.num_spills; ++k) {
      const int output = run_.op.spill_outputs[k];
      const size_t operand = output < 0 ? 0 : run_.op.num_inputs + output;
      const bool has_room = output >= 0 && !padded_ && layout_.operands[operand].tensor.defined() &&
                            places_[operand].direct;
      spills_.push_back(
          {has_room ? output : -1,
           has_room ? 0 : reserve(run_.length * (column_major_ ? block_rows_ : 1), width_)});
    }
    for (int k = 0; k < run_.op.num_outputs; ++k) {
      if (run_.op.outputs[k].kind == RowOperand::Column)
        columns_.push_back({k, reserve(run_.length, width_)});
    }
  }

  /// Whether the outputs are large and their rows aligned, and nothing is read where they are.
  bool bypasses_caches() const {
    if (column_major_ || segments_ != 1) return false;
    int64_t written = 0;
    for (size_t k = run_.op.num_inputs; k < places_.size(); ++k) {
      const Operand& o = layout_.operands[k];
      if (!o.is_element()) continue;
      const auto address = reinterpret_cast<uintptr_t>(o.data());
      const bool aligned = (address | static_cast<uintptr_t>(o.row() * width_)) %
                               static_cast<uintptr_t>(kStreamAlignment) ==
                           0;
      if (!places_[k].direct || !aligned) return false;
      for (const Operand& other : layout_.operands) {
        if (&other != &o && other.tensor.defined() && other.data() == o.data()) return false;
      }
      written += o.tensor.numel() * width_;
    }
    const auto is_output = [](const auto& spill) { return spill.first >= 0; };
    return written >= kStreamBytes && std::none_of(spills_.begin(), spills_.end(), is_output);
  }

  int64_t segment_stride(const Operand& o) const { return o.inner.size() == 2 ? o.inner[0] : 0; }

  /// Of values in scratch memory, for a block of `rows`.
  RowBlock::Elements packed(char* data, bool element, int64_t rows) const {
    if (!element) return {data, 1, 0, 0};
    if (column_major_) return {data, 1, segment_length_ * rows, rows};
    return {data, run_.length, segment_length_, 1};
  }

  /// One element as often as a row has segments' elements, or as a strip has rows: all rows, or all
  /// elements of rows, read the same place.
  RowBlock::Elements repeated(const Operand& o, char* values) const {
    alignas(8) char element[8];
    converter(run_.compute, o.tensor.scalar_type())(element, o.data(), 1);
    const int64_t count = column_major_ ? block_rows_ : segment_length_;
    for (int64_t i = 0; i < count; ++i) std::memcpy(values + i * width_, element, width_);
    return column_major_ ? RowBlock::Elements{values, 1, 0, 0}
                         : RowBlock::Elements{values, 0, 0, 1};
  }

  void work(int64_t begin, int64_t end) {
    const RowOp& op = run_.op;
    const Scratch scratch(scratch_);
    SmallVector<RowBlock::Elements, 8> operands(places_.size()), spills(op.num_spills);
    SmallVector<const int64_t*, 4> positions(op.num_inputs, nullptr);
    std::vector<std::vector<int64_t>> position_values;
    SmallVector<Scalar, 4> scalars;
    for (const Scalar* scalar : run_.scalars) scalars.push_back(*scalar);
    Totals totals;
    totals.first = begin;
    totals.of_columns.resize(columns_.size());

    RowBlock block;
    block.length = run_.length;
    block.segments = segments_;
    block.segment_length = std::max<int64_t>(segment_length_, 1);
    block.inputs = operands.data();
    block.outputs = operands.data() + op.num_inputs;
    block.spills = spills.data();
    block.padded_spills = padded_;
    block.together = together_;
    block.past_caches = bypasses_caches();
    block.positions = positions.data();
    block.scalars = scalars.data();
    for (size_t k = 0; k < places_.size(); ++k) {
      if (places_[k].uniform)
        operands[k] = repeated(layout_.operands[k], scratch.data() + places_[k].values);
    }
    for (int64_t b = begin; b < end; ++b) {
      if (failed_.load(std::memory_order_relaxed)) return;
      const int64_t first = b % runs_ * block_rows_;
      block.rows = std::min(block_rows_, layout_.outer.back() - first);
      const auto data = [&](size_t k) {
        const Operand& o = layout_.operands[k];
        return o.data() + layout_.offset(o, b / runs_, first) * places_[k].size;
      };
      for (size_t k = 0; k < places_.size(); ++k) {
        const Operand& o = layout_.operands[k];
        const Place& place = places_[k];
        if (!o.tensor.defined() || place.uniform) continue;
        if (place.direct) {
          operands[k] = {data(k), o.row(), segment_stride(o), o.step()};
          continue;
        }
        operands[k] = packed(scratch.data() + place.values, o.is_element(), block.rows);
        if (!is_input(k)) continue;
        gather(o, place, data(k), block.rows, scratch.data());
        if (is_position(k)) {
          position_values.resize(op.num_inputs);
          read_positions(k, scratch.data() + place.raw, block.rows, position_values[k]);
          positions[k] = position_values[k].data();
        }
      }
      for (int k = 0; k < op.num_spills; ++k) {
        const auto& [output, offset] = spills_[k];
        spills[k] = output >= 0 ? block.outputs[output]
                                : packed(scratch.data() + offset, true, block_rows_);
        if (output < 0) spills[k].row = 0;  // each row in its turn
      }
      for (const auto& [k, offset] : columns_) {
        if (!run_.outputs[k].defined()) continue;
        char* const sums = sums_in_place(k) ? static_cast<char*>(run_.outputs[k].data_ptr())
                                            : scratch.data() + offset;
        operands[op.num_inputs + k] = {sums, 0, segment_length_, 1};
        if (b % group_ == 0) std::fill_n(sums, run_.length * width_, '\0');
      }
      loop_(block);
      if (run_.may_divide_by_zero() && take_zero_division()) divided_ = true;
      if (block.past_caches) stream_fence();
      if (block.bad_input >= 0) return fail(block, b / runs_ * layout_.outer.back() + first);
      for (size_t k = op.num_inputs; k < places_.size(); ++k) {
        if (layout_.operands[k].tensor.defined() && !places_[k].direct)
          scatter(layout_.operands[k], places_[k], data(k), block.rows, scratch.data());
      }
      // The sums over all rows are kept in double: each group's are short.
      if ((b + 1) % group_ != 0 && b + 1 < end) continue;
      for (size_t c = 0; c < columns_.size(); ++c) {
        const auto& [k, offset] = columns_[c];
        if (run_.outputs[k].defined() && !sums_in_place(k))
          add_columns(scratch.data() + offset, totals.of_columns[c]);
      }
    }
    if (columns_.empty()) return;
    const std::lock_guard lock(mutex_);
    totals_.push_back(std::move(totals));
  }

  /// Whether output k is the sums of the one group that there is.
  bool sums_in_place(int k) const {
    return groups_ == 1 && run_.outputs[k].scalar_type() == run_.compute;
  }

  /// Calls f(place in the operand's own memory, place in dense values, count) for stretches of
  /// elements that lie side by side in both.
  template <class F>
  void for_stretches(const Operand& o, int64_t rows, F f) const {
    for (int64_t s = 0; s < segments_; ++s) {
      const int64_t from = s * segment_stride(o);
      if (column_major_) {
        for (int64_t i = 0; i < segment_length_; ++i)
          f(from + i * o.step(), (s * segment_length_ + i) * rows, rows);
      } else {
        for (int64_t r = 0; r < rows; ++r)
          f(from + r * o.row(), r * run_.length + s * segment_length_, segment_length_);
      }
    }
  }

  /// Calls f(place in the operand's own memory, place in dense values, n0, n1, stride0, stride1),
  /// in elements.
  template <class F>
  void for_planes(const Operand& o, int64_t rows, F f) const {
    if (!o.is_element()) return f(0, 0, 1, rows, 0, o.row());
    if (!column_major_ && segments_ == 1) return f(0, 0, run_.length, rows, o.step(), o.row());
    for (int64_t s = 0; s < segments_; ++s) {
      const int64_t from = s * segment_stride(o), to = s * segment_length_;
      if (column_major_) {
        f(from, to * rows, rows, segment_length_, o.row(), o.step());
      } else {
        for (int64_t r = 0; r < rows; ++r)
          f(from + r * o.row(), to + r * run_.length, segment_length_, 1, o.step(), 0);
      }
    }
  }

  bool in_stretches(const Operand& o) const {
    return o.is_element() && (column_major_ ? is_column_major(o) : is_row_major(o));
  }

  /// Few long rows are converted on all threads, as they are computed.
  static void convert(Converter converter, char* to, int64_t to_size, const char* from,
                      int64_t from_size, int64_t count) {
    parallel_for(0, count, kRowChunk, [&](int64_t begin, int64_t end) {
      converter(to + begin * to_size, from + begin * from_size, end - begin);
    });
  }

  /// Rows of the operand in the compute type; what needs conversion is left in `raw` as it was,
  /// unless it lies in stretches.
  void gather(const Operand& o, const Place& place, const char* p, int64_t rows,
              char* scratch) const {
    char* const values = scratch + place.values;
    if (place.convert && in_stretches(o)) {
      for_stretches(o, rows, [&](int64_t from, int64_t to, int64_t count) {
        convert(place.convert, values + to * width_, width_, p + from * place.size, place.size,
                count);
      });
      return;
    }
    char* const dense = place.convert ? scratch + place.raw : values;
    for_planes(
        o, rows,
        [&](int64_t from, int64_t to, int64_t n0, int64_t n1, int64_t stride0, int64_t stride1) {
          gather_2d(dense + to * place.size, p + from * place.size, place.size, n0, n1,
                    stride0 * place.size, stride1 * place.size);
        });
    if (place.convert) place.convert(values, dense, rows * (o.is_element() ? run_.length : 1));
  }

  void scatter(const Operand& o, const Place& place, char* p, int64_t rows, char* scratch) const {
    char* const values = scratch + place.values;
    if (place.convert && in_stretches(o)) {
      for_stretches(o, rows, [&](int64_t to, int64_t from, int64_t count) {
        convert(place.convert, p + to * place.size, place.size, values + from * width_, width_,
                count);
      });
      return;
    }
    char* const dense = place.convert ? scratch + place.raw : values;
    if (place.convert) place.convert(dense, values, rows * (o.is_element() ? run_.length : 1));
    for_planes(
        o, rows,
        [&](int64_t to, int64_t from, int64_t n0, int64_t n1, int64_t stride0, int64_t stride1) {
          scatter_2d(p + to * place.size, dense + from * place.size, place.size, n0, n1,
                     stride0 * place.size, stride1 * place.size);
        });
  }

  void read_positions(size_t k, const char* raw, int64_t rows,
                      std::vector<int64_t>& positions) const {
    positions.resize(rows);
    converter(kLong, layout_.operands[k].tensor.scalar_type())(positions.data(), raw, rows);
    if (run_.compute != kFloat) return;
    for (const int64_t position : positions) {
      TENON_CHECK_INDEX(position == static_cast<int64_t>(static_cast<float>(position)), "[",
                        run_.op.name, "] '", run_.op.inputs[k].name, "' holds ", position,
                        ", which is no value of float, the type of the computation");
    }
  }

  template <class T>
  static void add(double* totals, const T* sums, int64_t n) {
    for (int64_t i = 0; i < n; ++i) totals[i] += static_cast<double>(sums[i]);
  }

  void add_columns(const char* sums, std::unique_ptr<double[]>& totals) const {
    if (!totals) {
      totals = std::make_unique_for_overwrite<double[]>(run_.length);
      converter(kDouble, run_.compute)(totals.get(), sums, run_.length);
    } else if (run_.compute == kFloat) {
      add(totals.get(), reinterpret_cast<const float*>(sums), run_.length);
    } else {
      add(totals.get(), reinterpret_cast<const double*>(sums), run_.length);
    }
  }

  /// In the order of the rows, whichever thread was first.
  void finish_columns() {
    std::sort(totals_.begin(), totals_.end(),
              [](const Totals& a, const Totals& b) { return a.first < b.first; });
    for (size_t c = 0; c < columns_.size(); ++c) {
      const TensorBase& out = run_.outputs[columns_[c].first];
      if (!out.defined()) continue;
      if (totals_.empty()) {  // no rows
        clear(out);
      } else if (double* const sums = totals_[0].of_columns[c].get()) {
        for (size_t t = 1; t < totals_.size(); ++t)
          add(sums, totals_[t].of_columns[c].get(), run_.length);
        converter(out.scalar_type(), kDouble)(out.data_ptr(), sums, run_.length);
      }
    }
  }

  /// Of a block whose rows are counted from `first`.
  void fail(const RowBlock& block, int64_t first) {
    const std::lock_guard lock(mutex_);
    if (failed_.exchange(true)) return;
    bad_input_ = block.bad_input;
    bad_row_ = first + block.bad_row;
    bad_position_ = block.positions[bad_input_][block.bad_row];
  }

  [[noreturn]] void raise_bad_position() const {
    std::string name = run_.op.inputs[bad_input_].name;
    name[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(name[0])));
    TENON_CHECK_INDEX(false, "[", run_.op.name, "] ", name, " ", bad_position_,
                      " is out of bounds: row ", bad_row_, " has ", run_.length, " elements");
  }

  const RowRun& run_;
  RowLayout layout_;
  const int64_t segments_, segment_length_, width_;
  bool column_major_ = false;
  RowLoop loop_ = nullptr;
  ScalarType stored_ = ScalarType::Undefined;  ///< of the elements that the loop reads
  SmallVector<Place, 6> places_;
  SmallVector<std::pair<int, size_t>, 4> spills_;   ///< an output that has room, or scratch memory
  SmallVector<std::pair<int, size_t>, 4> columns_;  ///< outputs, and their sums of a block
  bool padded_ = false;  ///< spilled rows are in scratch memory, with room behind them
  int64_t block_rows_ = 1, runs_ = 1;
  int64_t together_ = 1;            ///< rows that the loop takes at a time
  int64_t group_ = 1, groups_ = 1;  ///< blocks whose columns are summed in the compute type
  size_t scratch_ = 0;
  std::mutex mutex_;
  /// Of blocks from `first` on, for each of columns_; null where the sums are in place.
  struct Totals {
    int64_t first = 0;
    std::vector<std::unique_ptr<double[]>> of_columns;
  };
  std::vector<Totals> totals_;
  std::atomic<bool> failed_{false}, divided_{false};
  int bad_input_ = -1;
  int64_t bad_row_ = 0, bad_position_ = 0;
};

// Apart from what small calls run, which keeps its values in registers then.
TENON_NOINLINE void run_by_layout(const RowRun& run) { CpuRows(run).compute(); }

}  // namespace

void run_rows_on_cpu(const RowRun& run) {
  if (!run_few_rows(run)) run_by_layout(run);
}

}  // namespace tenon::native
