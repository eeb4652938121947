#include "aten/iterator/rows.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "aten/core/parallel.h"
#include "aten/iterator/blocks.h"
#include "aten/iterator/convert.h"
#include "aten/iterator/copy.h"
#include "aten/iterator/number_fits.h"
#include "aten/iterator/plan.h"

namespace tenon::native {
namespace {

int64_t product(IntArrayRef sizes) {
  int64_t n = 1;
  for (const int64_t size : sizes) n *= size;
  return n;
}

DimVector chosen(const RowShape& shape, bool in_row) {
  DimVector sizes;
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    if (shape.with_row(d) == in_row) sizes.push_back(shape.sizes[d]);
  }
  return sizes;
}

/// Strides by which a tensor shows the elements, 0 where it is broadcast.
DimVector broadcast_strides(const TensorBase& t, IntArrayRef sizes) {
  DimVector strides(sizes.size(), 0);
  const size_t missing = sizes.size() - t.sizes().size();
  for (size_t d = 0; d < t.sizes().size(); ++d) {
    if (t.sizes()[d] != 1 || sizes[missing + d] == 1) strides[missing + d] = t.strides()[d];
  }
  return strides;
}

/// The one stride of the row's dimensions together, or false.
bool row_stride(const RowShape& shape, const DimVector& strides, int64_t& stride) {
  stride = 1;
  int64_t next = 0;
  bool any = false;
  for (size_t d = shape.sizes.size(); d-- > 0;) {
    if (!shape.with_row(d) || shape.sizes[d] == 1) continue;
    if (!any) {
      stride = strides[d];
    } else if (strides[d] != next) {
      return false;
    }
    next = strides[d] * shape.sizes[d];
    any = true;
  }
  return true;
}

/// Of a tensor in which rows lie one after the other, seen in the order of the shape's dimensions.
DimVector dense_strides(const RowShape& shape) {
  const std::vector<int64_t> order = shape.row_last();
  DimVector strides(shape.sizes.size());
  int64_t stride = 1;
  for (size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= std::max<int64_t>(shape.sizes[order[i]], 1);
  }
  return strides;
}
TensorBase empty_rows(const RowShape& shape, ScalarType dtype, Device device) {
  return empty_strided(shape.sizes, dense_strides(shape), dtype, device);
}
bool is_dense(const RowShape& shape, const DimVector& strides) {
  const DimVector wanted = dense_strides(shape);
  for (size_t d = 0; d < wanted.size(); ++d) {
    if (shape.sizes[d] != 1 && strides[d] != wanted[d]) return false;
  }
  return true;
}

/// An operand as blocks of rows see it; strides in elements.
struct Operand {
  char* data = nullptr;
  ScalarType dtype = ScalarType::Undefined;
  int64_t size = 0;  ///< of an element, in bytes
  bool per_element = false;
  int64_t stride = 0;     ///< along the row
  DimVector outer;        ///< along the other dimensions
  bool direct = false;    ///< the loop works on it as it lies
  size_t offset = 0;      ///< else: of its rows, in the scratch memory
  size_t raw_offset = 0;  ///< of the same before conversion
  TensorBase keep;
};

class Run {
 public:
  Run(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
      ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted)
      : op_(op), shape_(shape), inputs_(inputs), scalars_(scalars), outputs_(outputs),
        wanted_(wanted), rows_(shape.rows()), length_(shape.length()) {}

  void run() {
    choose_types();
    check_inputs();
    TENON_CHECK_INDEX(!op_.needs_elements || length_ > 0 || rows_ == 0, "[", op_.name,
                      "] expected the reduced dimensions of shape ", shape_.sizes,
                      " to have non-zero size");
    allocate_outputs();
    if (device_.is_meta()) return;
    TENON_CHECK_NOT_IMPLEMENTED(device_.is_cpu() || (device_.is_cuda() && op_.cuda), "[", op_.name,
                                "] its row kernel does not run on device ", device_);
    if (device_.is_cpu()) {
      lay_out();
      compute();
    } else {
      run_on_device();
    }
    deliver();
  }

 private:
  bool present(int k) const { return inputs_[k] && inputs_[k]->defined(); }

  void choose_types() {
    std::vector<const TensorBase*> all, promoting;
    for (int k = 0; k < op_.num_inputs; ++k) {
      if (!present(k)) continue;
      all.push_back(inputs_[k]);
      if (!op_.inputs[k].is_position) promoting.push_back(inputs_[k]);
    }
    device_ = common_device(all);
    common_ = result_type(promoting, {});
    if (op_.floating && is_integral(common_, true)) common_ = get_default_dtype();
    TENON_CHECK_NOT_IMPLEMENTED(!is_complex(common_), "[", op_.name, "] is not implemented for '",
                                common_, "'");
    compute_ = is_integral(common_, true) ? kLong : common_ == kDouble ? kDouble : kFloat;
    const RowLoops& loops = *op_.cpu();
    loop_ = compute_ == kLong ? loops.i64 : compute_ == kDouble ? loops.f64 : loops.f32;
    TENON_CHECK_NOT_IMPLEMENTED(loop_, "[", op_.name, "] is not implemented for '", common_, "'");
    if (compute_ == kLong) {
      for (const Scalar* scalar : scalars_) check_number_fits(op_.name, *scalar, kLong);
    }
    TENON_CHECK(!op_.uses_index || compute_ != kFloat || length_ <= (int64_t{1} << 24), "[",
                op_.name, "] positions beyond 2^24 are no values of float, got rows of ", length_);
  }

  void check_inputs() {
    for (int k = 0; k < op_.num_inputs; ++k) {
      if (!present(k)) continue;
      const RowInput& input = op_.inputs[k];
      const TensorBase& t = *inputs_[k];
      if (input.kind == RowOperand::Column) {
        check_column_values(op_.name, input.name, t.sizes(), shape_);
      } else if (input.kind == RowOperand::Row) {
        check_row_values(op_.name, input.name, t.sizes(), shape_);
      }
      if (input.is_position) {
        TENON_CHECK(is_integral(t.scalar_type(), false), "[", op_.name, "] '", input.name,
                    "' holds positions and must be of an integer type, got ", t.scalar_type());
      }
    }
  }

  void allocate_outputs() {
    for (int k = 0; k < op_.num_outputs; ++k) {
      if (!((wanted_ >> k) & 1)) continue;
      ScalarType dtype = common_;
      if (op_.outputs[k].dtype == RowOutput::DType::Bool) dtype = kBool;
      if (op_.outputs[k].dtype == RowOutput::DType::Sum && is_integral(common_, true))
        dtype = kLong;
      const DimVector sizes = op_.outputs[k].kind == RowOperand::Element ? shape_.sizes
                              : op_.outputs[k].kind == RowOperand::Row   ? shape_.reduced_sizes()
                                                                         : shape_.row_sizes();
      outputs_[k] = empty(sizes, dtype, device_);
    }
  }

  /// `dense`: a copy in which rows lie one after the other, unless they do.
  Operand element_operand(TensorBase t, bool is_input, bool dense = false) {
    Operand operand;
    operand.per_element = true;
    DimVector strides = broadcast_strides(t, shape_.sizes);
    if (!row_stride(shape_, strides, operand.stride) || (dense && !is_dense(shape_, strides))) {
      TensorBase rows = empty_rows(shape_, t.scalar_type(), device_);
      if (is_input) copy(rows, t);
      t = rows;
      strides = broadcast_strides(t, shape_.sizes);
      row_stride(shape_, strides, operand.stride);
    }
    for (size_t d = 0; d < shape_.sizes.size(); ++d) {
      if (!shape_.with_row(d)) operand.outer.push_back(strides[d]);
    }
    return finish_operand(std::move(operand), t);
  }

  Operand row_operand(const TensorBase& t) {
    Operand operand;
    const bool kept = t.sizes().size() == shape_.sizes.size();
    size_t next = 0;
    for (size_t d = 0; d < shape_.sizes.size(); ++d) {
      if (!shape_.with_row(d)) operand.outer.push_back(t.strides()[kept ? d : next++]);
    }
    return finish_operand(std::move(operand), t);
  }

  Operand finish_operand(Operand operand, const TensorBase& t) {
    operand.dtype = t.scalar_type();
    operand.size = static_cast<int64_t>(element_size(operand.dtype));
    operand.data = static_cast<char*>(t.data_ptr());
    operand.direct =
        operand.per_element && operand.dtype == compute_ && (operand.stride == 1 || length_ <= 1);
    operand.keep = t;
    return operand;
  }

  /// Room for `count` values in the scratch memory of a thread.
  size_t reserve(int64_t count, int64_t size) {
    const size_t offset = scratch_;
    scratch_ += (static_cast<size_t>(count * size) + 127) / 64 * 64;
    return offset;
  }

  void lay_out() {
    const int64_t width = static_cast<int64_t>(element_size(compute_));
    block_rows_ = std::clamp<int64_t>(32768 / std::max<int64_t>(length_, 1), 1, 64);
    for (int k = 0; k < op_.num_inputs; ++k) {
      if (op_.inputs[k].kind == RowOperand::Column || !present(k)) {
        columns_.emplace_back(k, column(k));
        operands_.push_back({});
        continue;
      }
      operands_.push_back(op_.inputs[k].kind == RowOperand::Element
                              ? element_operand(*inputs_[k], true)
                              : row_operand(*inputs_[k]));
    }
    for (int k = 0; k < op_.num_outputs; ++k) {
      if (!outputs_[k].defined() || op_.outputs[k].kind == RowOperand::Column) {
        operands_.push_back({});
        continue;
      }
      operands_.push_back(op_.outputs[k].kind == RowOperand::Element
                              ? element_operand(outputs_[k], false)
                              : row_operand(outputs_[k]));
    }
    merge_outer();
    // Neighbouring rows of a transposed operand share cache lines.
    for (const Operand& operand : operands_) {
      const bool strided = operand.data && operand.per_element && !operand.direct;
      if (strided && !operand.outer.empty() && operand.outer.back() == 1)
        block_rows_ = std::max<int64_t>(block_rows_, 16);
    }
    for (Operand& operand : operands_) {
      if (!operand.data || operand.direct) continue;
      const int64_t count = block_rows_ * (operand.per_element ? length_ : 1);
      operand.offset = reserve(count, width);
      operand.raw_offset = reserve(count, std::max<int64_t>(operand.size, 8));
    }
    spill_bytes_ = (length_ * width + 127) / 64 * 64;
    spills_ = reserve(op_.num_spills, spill_bytes_);
    for (int k = 0; k < op_.num_outputs; ++k) {
      if (op_.outputs[k].kind == RowOperand::Column) {
        column_offsets_.push_back({k, reserve(length_, width)});
      }
    }
  }

  /// A row of the operand's columns in the compute type; the number that stands for an absent one.
  TensorBase column(int k) {
    const int64_t count = op_.inputs[k].kind == RowOperand::Column ? length_ : block_rows_;
    if (present(k)) {
      TensorBase values = empty(inputs_[k]->sizes(), compute_, device_);
      copy(values, *inputs_[k]);
      return values;
    }
    TensorBase values = empty({count}, compute_, device_);
    for (int64_t i = 0; i < count; ++i) {
      const double value = op_.inputs[k].absent;
      if (compute_ == kFloat) values.data_ptr<float>()[i] = static_cast<float>(value);
      if (compute_ == kDouble) values.data_ptr<double>()[i] = value;
      if (compute_ == kLong) values.data_ptr<int64_t>()[i] = static_cast<int64_t>(value);
    }
    return values;
  }

  // ---- on a device: all rows at once ----

  /// `t`, or a copy that the device's kernel can read.
  TensorBase readable(const TensorBase& t, RowInput input) {
    const ScalarType dtype = t.scalar_type();
    const bool plain = dtype == compute_ || (compute_ == kFloat && is_half(dtype));
    const ScalarType wanted = input.is_position                            ? kLong
                              : input.kind == RowOperand::Element && plain ? dtype
                                                                           : compute_;
    const bool lies = input.kind == RowOperand::Element || t.is_contiguous();
    if (dtype == wanted && lies) return t;
    TensorBase values = empty(t.sizes(), wanted, device_);
    copy(values, t);
    return values;
  }
  static bool is_half(ScalarType dtype) { return dtype == kHalf || dtype == kBFloat16; }

  /// What the kernel writes for output k; deliver() copies it where that is not the output.
  TensorBase written(int k) {
    const TensorBase& out = outputs_[k];
    if (op_.outputs[k].kind == RowOperand::Column) return empty(out.sizes(), kDouble, device_);
    const ScalarType dtype = out.scalar_type();
    if (dtype == compute_ || (compute_ == kFloat && is_half(dtype))) return out;
    return empty(out.sizes(), compute_, device_);
  }

  Operand device_operand(const TensorBase& t, RowOperand kind, bool is_input, bool dense) {
    if (kind == RowOperand::Element) return element_operand(t, is_input, dense);
    if (kind == RowOperand::Row) return row_operand(t);
    Operand column = finish_operand({}, t);
    column.stride = 1;
    column.outer = DimVector(shape_.outer_sizes().size(), 0);
    return column;
  }

  void lay_out_on_device(const std::vector<TensorBase>& tensors, bool dense) {
    operands_.clear();
    for (int k = 0; k < op_.num_inputs; ++k) {
      operands_.push_back(present(k) ? device_operand(tensors[k], op_.inputs[k].kind, true, dense)
                                     : Operand());
    }
    for (int k = 0; k < op_.num_outputs; ++k) {
      const TensorBase& t = tensors[op_.num_inputs + k];
      operands_.push_back(t.defined() ? device_operand(t, op_.outputs[k].kind, false, dense)
                                      : Operand());
    }
    merge_outer();
  }

  void run_on_device() {
    // Enough rows for a thread each.
    constexpr int64_t kManyRows = 4096;
    std::vector<TensorBase> tensors;
    for (int k = 0; k < op_.num_inputs; ++k)
      tensors.push_back(present(k) ? readable(*inputs_[k], op_.inputs[k]) : TensorBase());
    for (int k = 0; k < op_.num_outputs; ++k)
      tensors.push_back(outputs_[k].defined() ? written(k) : TensorBase());
    lay_out_on_device(tensors, false);
    bool apart = false, neighbours = rows_ >= kManyRows;
    for (const Operand& o : operands_) {
      if (!o.data || !o.per_element || o.stride == 0 || length_ <= 1) continue;
      apart |= o.stride != 1;
      neighbours &= o.outer.back() == 1;
    }
    neighbours &= apart;
    if ((apart && !neighbours) || outer_.size() > RowCall::kMaxOuter) {
      lay_out_on_device(tensors, true);
      neighbours = false;
    }
    std::vector<RowCall::Operand> operands;
    for (size_t k = 0; k < operands_.size(); ++k) {
      const Operand& o = operands_[k];
      operands.push_back({o.data, o.dtype, o.stride, o.per_element ? o.outer.data() : nullptr,
                          k < op_.num_inputs ? op_.inputs[k].absent : 0.0});
    }
    RowCall call;
    call.op = op_.name;
    call.device = device_;
    call.compute = compute_;
    call.rows = rows_;
    call.length = length_;
    call.sizes = outer_.data();
    call.ndim = static_cast<int>(outer_.size());
    call.neighbours = neighbours;
    call.inputs = operands.data();
    call.outputs = operands.data() + op_.num_inputs;
    call.scalars = scalars_.data();
    op_.cuda(call);
  }

  void merge_outer() {
    outer_ = shape_.outer_sizes();
    const auto drop = [&](size_t d) {
      outer_.erase(outer_.begin() + d);
      for (Operand& operand : operands_) {
        if (operand.data) operand.outer.erase(operand.outer.begin() + d);
      }
    };
    for (size_t d = outer_.size(); d-- > 0;) {
      if (outer_[d] == 1) drop(d);
    }
    for (size_t d = outer_.size(); d-- > 1;) {
      const bool fits = std::all_of(operands_.begin(), operands_.end(), [&](const Operand& o) {
        return !o.data || o.outer[d - 1] == o.outer[d] * outer_[d];
      });
      if (!fits) continue;
      outer_[d] *= outer_[d - 1];
      drop(d - 1);
    }
    if (outer_.empty()) {
      outer_ = DimVector{1};
      for (Operand& operand : operands_) {
        if (operand.data) operand.outer = DimVector{0};
      }
    }
  }

  void compute() {
    const int64_t inner = outer_.back();
    const int64_t runs = (inner + block_rows_ - 1) / block_rows_;
    int64_t blocks = runs;
    for (size_t d = 0; d + 1 < outer_.size(); ++d) blocks *= outer_[d];
    for (int k = 0; k < op_.num_inputs; ++k) {
      if (operands_[k].data)
        from_.push_back(converter(compute_, operands_[k].dtype));
      else
        from_.push_back(nullptr);
    }
    for (int k = 0; k < op_.num_outputs; ++k) {
      const Operand& operand = operands_[op_.num_inputs + k];
      to_.push_back(operand.data ? converter(operand.dtype, compute_) : nullptr);
    }
    if (rows_ == 0) return finish_columns();
    // Few long rows: each in turn, on all threads.
    if (length_ >= 2 * kRowPiece && blocks < get_num_threads()) {
      work(0, blocks, inner, runs);
      return finish_columns();
    }
    const int64_t per_block = block_rows_ * std::max<int64_t>(length_, 1);
    parallel_for(0, blocks, std::max<int64_t>(1, 16384 / per_block),
                 [&](int64_t begin, int64_t end) { work(begin, end, inner, runs); });
    finish_columns();
  }

  void work(int64_t begin, int64_t end, int64_t inner, int64_t runs) {
    const Scratch scratch(scratch_);
    std::vector<const void*> inputs(op_.num_inputs + 1);
    std::vector<int64_t> input_steps(op_.num_inputs + 1);
    std::vector<const int64_t*> positions(op_.num_inputs + 1);
    std::vector<void*> outputs(op_.num_outputs);
    std::vector<int64_t> output_steps(op_.num_outputs);
    std::vector<std::vector<int64_t>> position_values(op_.num_inputs);
    std::vector<Scalar> scalars;
    for (const Scalar* scalar : scalars_) scalars.push_back(*scalar);
    for (const auto& [k, values] : columns_) inputs[k] = values.data_ptr();
    std::vector<std::vector<double>> totals(op_.num_outputs);
    for (const auto& [k, offset] : column_offsets_) totals[k].assign(length_, 0.0);

    RowBlock block;
    block.length = length_;
    block.inputs = inputs.data();
    block.input_steps = input_steps.data();
    block.positions = positions.data();
    block.outputs = outputs.data();
    block.output_steps = output_steps.data();
    block.scalars = scalars.data();
    block.spills = scratch.data() + spills_;
    block.spill_bytes = spill_bytes_;
    for (int64_t b = begin; b < end; ++b) {
      if (failed_.load(std::memory_order_relaxed)) return;
      const int64_t first = b % runs * block_rows_;
      block.rows = std::min(block_rows_, inner - first);
      for (int k = 0; k < op_.num_inputs; ++k) {
        const Operand& operand = operands_[k];
        if (!operand.data) continue;
        const char* p = operand.data + offset_of(operand, b / runs, first) * operand.size;
        if (operand.direct) {
          inputs[k] = p;
          input_steps[k] = operand.outer.back();
          continue;
        }
        char* values = scratch.data() + operand.offset;
        char* raw = scratch.data() + operand.raw_offset;
        gather(operand, p, block.rows, values, raw, from_[k]);
        inputs[k] = values;
        input_steps[k] = operand.per_element ? length_ : 1;
        if (op_.inputs[k].is_position) {
          read_positions(k, operand, raw, block.rows, position_values[k]);
          positions[k] = position_values[k].data();
        }
      }
      for (int k = 0; k < op_.num_outputs; ++k) {
        const Operand& operand = operands_[op_.num_inputs + k];
        outputs[k] = nullptr;
        if (!operand.data) continue;
        char* p = operand.data + offset_of(operand, b / runs, first) * operand.size;
        outputs[k] = operand.direct ? p : scratch.data() + operand.offset;
        output_steps[k] = operand.direct ? operand.outer.back() : operand.per_element ? length_ : 1;
      }
      for (const auto& [k, offset] : column_offsets_) {
        if (!outputs_[k].defined()) continue;
        outputs[k] = scratch.data() + offset;
        output_steps[k] = 0;
        std::memset(outputs[k], 0, length_ * element_size(compute_));
      }
      loop_(block);
      if (block.bad_input >= 0) return fail(block);
      for (int k = 0; k < op_.num_outputs; ++k) {
        const Operand& operand = operands_[op_.num_inputs + k];
        if (!operand.data || operand.direct) continue;
        char* p = operand.data + offset_of(operand, b / runs, first) * operand.size;
        scatter(operand, p, block.rows, scratch.data() + operand.offset,
                scratch.data() + operand.raw_offset, to_[k]);
      }
      // The sums over all rows are kept in double: each block's are short.
      for (const auto& [k, offset] : column_offsets_) {
        if (outputs_[k].defined()) add_columns(scratch.data() + offset, totals[k]);
      }
    }
    if (column_offsets_.empty()) return;
    const std::lock_guard lock(mutex_);
    totals_.emplace_back(begin, std::move(totals));
  }

  int64_t offset_of(const Operand& operand, int64_t index, int64_t first) const {
    int64_t offset = first * operand.outer.back();
    for (size_t d = outer_.size() - 1; d-- > 0;) {
      offset += index % outer_[d] * operand.outer[d];
      index /= outer_[d];
    }
    return offset;
  }

  /// Rows of the operand, one after the other and in the compute type; `raw` in its own type.
  void gather(const Operand& operand, const char* p, int64_t rows, char* values, char* raw,
              Converter convert) const {
    const int64_t n = operand.per_element ? length_ : 1;
    const bool same = operand.dtype == compute_;
    char* dense = same ? values : raw;
    gather_2d(dense, p, operand.size, n, rows, operand.stride * operand.size,
              operand.outer.back() * operand.size);
    if (!same) convert(values, raw, n * rows);
    if (same && !operand.per_element) std::memcpy(raw, values, rows * operand.size);
  }

  void scatter(const Operand& operand, char* p, int64_t rows, char* values, char* raw,
               Converter convert) const {
    const int64_t n = operand.per_element ? length_ : 1;
    const bool same = operand.dtype == compute_;
    if (!same) convert(raw, values, n * rows);
    scatter_2d(p, same ? values : raw, operand.size, n, rows, operand.stride * operand.size,
               operand.outer.back() * operand.size);
  }

  void read_positions(int k, const Operand& operand, const char* raw, int64_t rows,
                      std::vector<int64_t>& positions) const {
    positions.resize(rows);
    converter(kLong, operand.dtype)(positions.data(), raw, rows);
    if (compute_ != kFloat) return;
    for (const int64_t position : positions) {
      TENON_CHECK(position == static_cast<int64_t>(static_cast<float>(position)), "[", op_.name,
                  "] '", op_.inputs[k].name, "' holds ", position,
                  ", which is no value of float, the type of the computation");
    }
  }

  void add_columns(const char* sums, std::vector<double>& totals) const {
    for (int64_t i = 0; i < length_; ++i) {
      totals[i] += compute_ == kFloat ? reinterpret_cast<const float*>(sums)[i]
                   : compute_ == kDouble
                       ? reinterpret_cast<const double*>(sums)[i]
                       : static_cast<double>(reinterpret_cast<const int64_t*>(sums)[i]);
    }
  }

  /// In the order of the rows, whichever thread was first.
  void finish_columns() {
    std::sort(totals_.begin(), totals_.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [k, offset] : column_offsets_) {
      if (!outputs_[k].defined()) continue;
      TensorBase sums = empty(outputs_[k].sizes(), kDouble, device_);
      double* data = sums.data_ptr<double>();
      std::fill_n(data, length_, 0.0);
      for (const auto& [begin, totals] : totals_) {
        for (int64_t i = 0; i < length_; ++i) data[i] += totals[k][i];
      }
      copy(outputs_[k], sums);
    }
  }

  void fail(const RowBlock& block) {
    const std::lock_guard lock(mutex_);
    if (failed_.exchange(true)) return;
    bad_input_ = block.bad_input;
    bad_position_ = block.bad_position;
  }

  void deliver() {
    TENON_CHECK_INDEX(!failed_, "[", op_.name, "] '",
                      op_.inputs[bad_input_ < 0 ? 0 : bad_input_].name, "' holds the position ",
                      bad_position_, ", which is out of range for rows of ", length_);
    for (int k = 0; k < op_.num_outputs; ++k) {
      const Operand& operand = operands_[op_.num_inputs + k];
      if (operand.data && !operand.keep.is_same(outputs_[k])) copy(outputs_[k], operand.keep);
    }
  }

  const RowOp& op_;
  const RowShape& shape_;
  ArrayRef<const TensorBase*> inputs_;
  ArrayRef<const Scalar*> scalars_;
  TensorBase* outputs_;
  const uint32_t wanted_;
  const int64_t rows_, length_;
  Device device_ = kCPU;
  ScalarType common_ = ScalarType::Undefined, compute_ = ScalarType::Undefined;
  RowLoop loop_ = nullptr;
  std::vector<Operand> operands_;  ///< inputs, then outputs
  std::vector<std::pair<int, TensorBase>> columns_;
  std::vector<std::pair<int, size_t>> column_offsets_;
  std::vector<Converter> from_, to_;
  DimVector outer_;
  int64_t block_rows_ = 1;
  size_t scratch_ = 0, spills_ = 0;
  int64_t spill_bytes_ = 0;
  std::mutex mutex_;
  std::vector<std::pair<int64_t, std::vector<std::vector<double>>>> totals_;
  std::atomic<bool> failed_{false};
  int bad_input_ = -1;
  int64_t bad_position_ = 0;
};

RowShape shape_of(std::initializer_list<const TensorBase*> elements) {
  RowShape shape;
  shape.sizes = broadcast_shape(ArrayRef<const TensorBase*>(elements.begin(), elements.size()));
  return shape;
}

}  // namespace

int64_t RowShape::rows() const { return product(outer_sizes()); }
int64_t RowShape::length() const { return product(row_sizes()); }
DimVector RowShape::row_sizes() const { return chosen(*this, true); }
DimVector RowShape::outer_sizes() const { return chosen(*this, false); }

DimVector RowShape::reduced_sizes() const {
  if (!keepdim) return outer_sizes();
  DimVector result = sizes;
  for (size_t d = 0; d < result.size(); ++d) {
    if (with_row(d)) result[d] = 1;
  }
  return result;
}

std::vector<int64_t> RowShape::row_last() const {
  std::vector<int64_t> order;
  for (const bool in_row : {false, true}) {
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (with_row(d) == in_row) order.push_back(static_cast<int64_t>(d));
    }
  }
  return order;
}

RowShape row_shape(const char* op, std::initializer_list<const TensorBase*> elements,
                   OptionalIntArrayRef dims, bool keepdim) {
  RowShape shape = shape_of(elements);
  shape.keepdim = keepdim;
  const auto rank = static_cast<int64_t>(shape.sizes.size());
  TENON_CHECK(rank < 64, "[", op, "] only tensors with up to 63 dims are supported, got ", rank);
  if (!dims || dims->empty()) {
    shape.mask = (uint64_t{1} << rank) - 1;
    return shape;
  }
  for (const int64_t dim : *dims) {
    const int64_t d = wrap_dim(dim, rank);
    if (rank == 0) continue;
    TENON_CHECK(!shape.with_row(d), "[", op, "] dim ", d,
                " appears multiple times in the list of dims");
    shape.mask |= uint64_t{1} << d;
  }
  return shape;
}

RowShape row_shape_of_sizes(const char* op, std::initializer_list<const TensorBase*> elements,
                            IntArrayRef sizes, bool keepdim) {
  RowShape shape = shape_of(elements);
  shape.keepdim = keepdim;
  const size_t rank = shape.sizes.size(), count = sizes.size();
  const bool fits = count > 0 && count <= rank && rank < 64 &&
                    std::equal(sizes.begin(), sizes.end(), shape.sizes.end() - count);
  TENON_CHECK(fits, "[", op, "] expected the last dimensions to be ", sizes,
              ", got an input of shape ", shape.sizes);
  for (size_t d = rank - count; d < rank; ++d) shape.mask |= uint64_t{1} << d;
  return shape;
}

void check_row_values(const char* op, const char* operand, IntArrayRef sizes,
                      const RowShape& shape) {
  RowShape kept = shape;
  kept.keepdim = true;
  const DimVector outer = shape.outer_sizes();
  TENON_CHECK(sizes == IntArrayRef(outer) || sizes == IntArrayRef(kept.reduced_sizes()), "[", op,
              "] '", operand, "' must have one value per row, shape ", outer, ", got ", sizes);
}

void check_column_values(const char* op, const char* operand, IntArrayRef sizes,
                         const RowShape& shape) {
  const DimVector row = shape.row_sizes();
  TENON_CHECK(sizes == IntArrayRef(row), "[", op, "] '", operand,
              "' must have the shape of a row, ", row, ", got ", sizes);
}

bool row_kernel_runs(const RowOp& op, Device device) {
  return device.is_cpu() || device.is_meta() || (device.is_cuda() && op.cuda);
}

void run_rows(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
              ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted) {
  TENON_ASSERT(inputs.size() == op.num_inputs && scalars.size() == op.num_scalars, op.name);
  Run(op, shape, inputs, scalars, outputs, wanted).run();
}

}  // namespace tenon::native
