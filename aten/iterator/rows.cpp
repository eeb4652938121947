#include "aten/iterator/rows.h"

#include <algorithm>
#include <cmath>

#include "aten/core/thread_state.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/number_fits.h"
#include "aten/iterator/plan.h"
#include "aten/iterator/row_run.h"

namespace tenon::native {
namespace {

/// Of the dimensions that are in a row, or of the others.
int64_t product(const RowShape& shape, bool in_row) {
  int64_t n = 1;
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    if (shape.with_row(d) == in_row) n *= shape.sizes[d];
  }
  return n;
}

DimVector chosen(const RowShape& shape, bool in_row) {
  DimVector sizes;
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    if (shape.with_row(d) == in_row) sizes.push_back(shape.sizes[d]);
  }
  return sizes;
}

/// Whether the sizes are those of the dimensions that are in a row, or of the others.
bool are_chosen(IntArrayRef sizes, const RowShape& shape, bool in_row) {
  size_t next = 0;
  for (size_t d = 0; d < shape.sizes.size(); ++d) {
    if (shape.with_row(d) != in_row) continue;
    if (next == sizes.size() || sizes[next++] != shape.sizes[d]) return false;
  }
  return next == sizes.size();
}

/// Whether they are the others', with 1 for the dimensions of a row.
bool are_kept(IntArrayRef sizes, const RowShape& shape) {
  if (sizes.size() != shape.sizes.size()) return false;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != (shape.with_row(d) ? 1 : shape.sizes[d])) return false;
  }
  return true;
}

bool present(const RowRun& run, int k) { return run.inputs[k] && run.inputs[k]->defined(); }

/// Whether all inputs are on one device, and those that are promoted of one dtype, as in most
/// calls: both are the run's then.
bool are_alike(RowRun& run) {
  bool some = false;
  for (int k = 0; k < run.op.num_inputs; ++k) {
    if (!present(run, k)) continue;
    const TensorBase& t = *run.inputs[k];
    if (!some) run.device = t.device();
    some = true;
    if (t.device() != run.device) return false;
    if (!run.op.inputs[k].promotes) continue;
    if (run.common == ScalarType::Undefined) run.common = t.scalar_type();
    if (t.scalar_type() != run.common || t.is_wrapped_number()) return false;
  }
  return run.common != ScalarType::Undefined;
}

void check_number(const RowRun& run, const Scalar& number) {
  TENON_CHECK_NOT_IMPLEMENTED(!number.is_complex(), "[", run.op.name,
                              "] is not implemented for complex numbers, got ", number);
  if (is_floating_point(run.compute)) return;
  if (run.compute == kLong) check_number_fits(run.op.name, number, kLong);
  const double value = number.to<double>();
  TENON_CHECK(number.is_integral(true) || value == std::floor(value), "[", run.op.name,
              "] computes in ", run.common,
              ", the dtype of the elements, which does not hold the number ", number);
}

void choose_types(RowRun& run) {
  const RowOp& op = run.op;
  if (!are_alike(run)) {
    SmallVector<const TensorBase*, 8> all, promoting;
    for (int k = 0; k < op.num_inputs; ++k) {
      if (!present(run, k)) continue;
      all.push_back(run.inputs[k]);
      if (op.inputs[k].promotes) promoting.push_back(run.inputs[k]);
    }
    run.device = common_device(all);
    if (!run.dtype) run.common = result_type(promoting, {});
  }
  check_row_dtype(op.name, run.dtype, op.floating);
  if (run.dtype) run.common = *run.dtype;
  if (op.floating && is_integral(run.common, true)) run.common = get_default_dtype();
  TENON_CHECK_NOT_IMPLEMENTED(!is_complex(run.common), "[", op.name, "] is not implemented for '",
                              run.common, "'");
  const bool integral = is_integral(run.common, true);
  run.loops = op.cpu();
  const bool narrow =
      integral && run.common != kLong && run.device.is_cpu() && run.loops->row_major.i32;
  const bool bytes =
      narrow && run.loops->row_major.u8 && element_size(run.common) == 1 && run.common != kChar;
  run.compute = bytes                   ? run.common
                : narrow                ? kInt
                : integral              ? kLong
                : run.common == kDouble ? kDouble
                                        : kFloat;
  TENON_CHECK_NOT_IMPLEMENTED(run.row_major(), "[", op.name, "] is not implemented for '",
                              run.common, "'");
  for (const Scalar* scalar : run.scalars) check_number(run, *scalar);
  TENON_CHECK(!op.uses_index || run.compute != kFloat || run.length <= (int64_t{1} << 24), "[",
              op.name, "] positions beyond 2^24 are no values of float, got rows of ", run.length);
}

void check_inputs(const RowRun& run) {
  const RowOp& op = run.op;
  for (int k = 0; k < op.num_inputs; ++k) {
    if (!present(run, k)) continue;
    const RowInput& input = op.inputs[k];
    const TensorBase& t = *run.inputs[k];
    if (input.kind == RowOperand::Column) {
      check_column_values(op.name, input.name, t.sizes(), run.shape);
    } else if (input.kind == RowOperand::Row) {
      check_row_values(op.name, input.name, t.sizes(), run.shape);
    }
    const ScalarType dtype = t.scalar_type();
    if (input.is_position) {
      TENON_CHECK(is_integral(dtype, false), "[", op.name, "] '", input.name,
                  "' holds positions and must be of an integer type, got ", dtype);
    } else if (!input.promotes && !run.dtype) {
      const bool whole = is_integral(run.compute, true);
      TENON_CHECK(!is_complex(dtype) && (!whole || is_integral(dtype, true)), "[", op.name, "] '",
                  input.name, "' of dtype ", dtype, " cannot be computed with in ", run.common,
                  ", the dtype of the elements");
    }
  }
  TENON_CHECK_INDEX(!op.needs_elements || run.length > 0 || run.rows == 0, "[", op.name,
                    "] expected the reduced dimensions of shape ", run.shape.sizes,
                    " to have non-zero size");
}

/// Inputs in a dtype that the compute type does not round to by itself.
struct Converted {
  SmallVector<TensorBase, 4> tensors;
  SmallVector<const TensorBase*, 4> inputs;

  void convert(RowRun& run) {
    tensors.resize(run.inputs.size());
    for (size_t k = 0; k < run.inputs.size(); ++k) {
      const TensorBase* t = run.inputs[k];
      const bool other =
          t && t->defined() && !run.op.inputs[k].is_position && t->scalar_type() != run.common;
      if (other && !run.device.is_meta()) {
        tensors[k] = empty(t->sizes(), run.common, run.device);
        copy(tensors[k], *t);
        t = &tensors[k];
      }
      inputs.push_back(t);
    }
    run.inputs = inputs;
  }
};

void allocate_outputs(const RowRun& run, uint32_t wanted) {
  for (int k = 0; k < run.op.num_outputs; ++k) {
    if (!((wanted >> k) & 1)) continue;
    const RowOutput& output = run.op.outputs[k];
    ScalarType dtype = run.common;
    if (output.dtype == RowOutput::DType::Bool) dtype = kBool;
    if (output.dtype == RowOutput::DType::Long) dtype = kLong;
    const bool sums = output.dtype == RowOutput::DType::Sum;
    if (sums && is_integral(run.common, true) && !run.dtype) dtype = kLong;
    if (output.kind == RowOperand::Element) {
      run.outputs[k] = empty(run.shape.sizes, dtype, run.device);
    } else {
      const bool row = output.kind == RowOperand::Row;
      run.outputs[k] =
          empty(row ? run.shape.reduced_sizes() : run.shape.row_sizes(), dtype, run.device);
    }
  }
}

/// The outputs, once the inputs are known to be right.
void compute(const RowRun& run, uint32_t wanted) {
  allocate_outputs(run, wanted);
  if (run.device.is_meta()) return;
  TENON_CHECK_NOT_IMPLEMENTED(row_kernel_runs(run.op, run.device), "[", run.op.name,
                              "] its row kernel does not run on device ", run.device);
  run.device.is_cpu() ? run_rows_on_cpu(run) : run_rows_on_device(run);
}

RowShape shape_of(std::initializer_list<const TensorBase*> elements) {
  const IntArrayRef first = (*elements.begin())->sizes();
  bool alike = true;
  for (const TensorBase* t : elements) alike &= t->sizes() == first;
  RowShape shape;
  if (alike) {
    shape.sizes.append(first.begin(), first.end());
  } else {
    shape.sizes = broadcast_shape(ArrayRef<const TensorBase*>(elements.begin(), elements.size()));
  }
  return shape;
}

}  // namespace

int64_t RowShape::rows() const { return product(*this, false); }
int64_t RowShape::length() const { return product(*this, true); }
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

DimVector RowShape::row_last() const {
  DimVector order;
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
    const uint64_t batches = (uint64_t{1} << thread_state.batch_dims) - 1;
    shape.mask = ((uint64_t{1} << rank) - 1) & ~batches;
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

RowShape row_shape_of_dim(const char* op, std::initializer_list<const TensorBase*> elements,
                          std::optional<int64_t> dim, bool keepdim) {
  if (!dim) return row_shape(op, elements, std::nullopt, keepdim);
  return row_shape(op, elements, IntArrayRef({*dim}), keepdim);
}

RowShape row_shape_of_sizes(const char* op, std::initializer_list<const TensorBase*> elements,
                            IntArrayRef sizes, bool keepdim) {
  RowShape shape = shape_of(elements);
  shape.keepdim = keepdim;
  const size_t rank = shape.sizes.size(), count = sizes.size();
  TENON_CHECK(count > 0, "[", op, "] expected the sizes of one dimension at least, got none");
  const bool fits = count <= rank && rank < 64 &&
                    std::equal(sizes.begin(), sizes.end(), shape.sizes.end() - count);
  TENON_CHECK(fits, "[", op, "] expected the last dimensions to be ", sizes,
              ", got an input of shape ", shape.sizes);
  for (size_t d = rank - count; d < rank; ++d) shape.mask |= uint64_t{1} << d;
  return shape;
}

bool are_row_values(IntArrayRef sizes, const RowShape& shape) {
  return are_chosen(sizes, shape, false) || are_kept(sizes, shape);
}

void check_row_values(const char* op, const char* operand, IntArrayRef sizes,
                      const RowShape& shape) {
  TENON_CHECK(are_row_values(sizes, shape), "[", op, "] '", operand,
              "' must have one value per row, shape ", shape.outer_sizes(), ", got ", sizes);
}

void check_column_values(const char* op, const char* operand, IntArrayRef sizes,
                         const RowShape& shape) {
  TENON_CHECK(are_chosen(sizes, shape, true), "[", op, "] '", operand,
              "' must have the shape of a row, ", shape.row_sizes(), ", got ", sizes);
}

void check_row_dtype(const char* op, std::optional<ScalarType> dtype, bool floating) {
  TENON_CHECK(!dtype || !floating || !is_integral(*dtype, true), "[", op,
              "] 'dtype' must be a floating type, got ", *dtype);
}

bool row_kernel_runs(const RowOp& op, Device device) {
  return device.is_cpu() || device.is_meta() || (device.is_cuda() && op.cuda);
}

void run_rows(const RowOp& op, const RowShape& shape, ArrayRef<const TensorBase*> inputs,
              ArrayRef<const Scalar*> scalars, TensorBase* outputs, uint32_t wanted,
              std::optional<ScalarType> dtype) {
  TENON_ASSERT(inputs.size() == op.num_inputs && scalars.size() == op.num_scalars, op.name);
  for (const TensorBase* t : inputs) {
    if (t && t->defined()) t->data_ptr();  // an error for a tensor without memory
  }
  if (!dtype && run_plain_rows(op, shape, inputs, scalars, outputs, wanted)) return;
  RowRun run = {op, shape, inputs, scalars, outputs, shape.rows(), shape.length(), dtype};
  choose_types(run);
  check_inputs(run);
  if (!dtype || run.common == run.compute) return compute(run, wanted);
  Converted converted;
  converted.convert(run);
  compute(run, wanted);
}

}  // namespace tenon::native
