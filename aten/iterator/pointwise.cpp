#include "aten/iterator/pointwise.h"

#include <algorithm>
#include <atomic>

#include "aten/dispatch/warning.h"
#include "aten/iterator/blocks.h"
#include "aten/iterator/mixed.h"
#include "aten/iterator/new_memory.h"
#include "aten/iterator/number_fits.h"
#include "aten/iterator/number_rules.h"
#include "aten/iterator/row_runner.h"
#include "aten/iterator/update.h"
#include "aten/iterator/zero_division.h"

namespace tenon::native {
namespace {

constexpr int kMaxScalars = 32;  // as the generator has it

PointwiseLoop find_loop(const PointwiseOp& op, ScalarType common, ComputeType type) {
  const PointwiseLoops& loops = *op.cpu();
  const PointwiseLoop loop = loops.loop[static_cast<int>(type)];
  TENON_CHECK_NOT_IMPLEMENTED(loop, "[", op.name, "] is not implemented for '", common, "'");
  return loop;
}

/// Numbers that do not take part in type promotion have to fit.
void check_scalars(const PointwiseOp& op, ScalarType common, ArrayRef<const Scalar*> scalars) {
  for (size_t k = 0; k < scalars.size(); ++k) {
    if ((op.promoting_scalars >> k) & 1) continue;
    const bool real = is_floating_point(common) && !scalars[k]->is_complex();
    if (real || (is_narrow(common) && number_rule(op) == NumberRule::Bound)) continue;
    check_number_fits(op.name, *scalars[k], common);
  }
}

/// Scalars side by side, as loops want them.
class ScalarList {
 public:
  /// Numbers of a computation in `common`: in Bool they are true or false, as elements are.
  TENON_ALWAYS_INLINE ScalarList(const PointwiseOp& op, ArrayRef<const Scalar*> scalars,
                                 ScalarType common)
      : size_(scalars.size()) {
    for (size_t k = 0; k < size_; ++k) ::new (&at(k)) Scalar(*scalars[k]);
    if (TENON_UNLIKELY(size_ > 0 && (common == kBool || is_narrow(common)))) convert(op, common);
  }
  const Scalar* data() const { return std::launder(reinterpret_cast<const Scalar*>(bytes_)); }
  const Scalar* begin() const { return data(); }
  const Scalar* end() const { return data() + size_; }

 private:
  TENON_NOINLINE void convert(const PointwiseOp& op, ScalarType common) {
    for (size_t k = 0; k < size_; ++k) {
      at(k) = common == kBool ? Scalar(at(k).toBool()) : converted_number(op, k, at(k), common);
    }
  }

  Scalar& at(size_t k) { return reinterpret_cast<Scalar*>(bytes_)[k]; }
  size_t size_;
  alignas(Scalar) char bytes_[kMaxScalars * sizeof(Scalar)];
};

/// The type to compute in. Bounds beyond int32 need int64, so that they compare as what they are;
/// so does an operator that has a loop for that alone.
ComputeType loop_type(const PointwiseOp& op, ScalarType common, const ScalarList& scalars) {
  if (common == ScalarType::ComplexHalf && op.complex32) return ComputeType::C64;
  if (is_wide_unsigned(common) && op.unsigned_integers) return ComputeType::I64;
  const ComputeType type = compute_type(common);
  if (type != ComputeType::I32) return type;
  const PointwiseLoops& loops = *op.cpu();
  const auto has = [&](ComputeType one) { return loops.loop[static_cast<int>(one)] != nullptr; };
  const bool fit = std::all_of(scalars.begin(), scalars.end(), [](const Scalar& s) {
    return !s.is_integral(true) || is_value_of(s.toLong(), kInt);
  });
  return fit && (has(type) || !has(ComputeType::I64)) ? type : ComputeType::I64;
}

/// Fewest elements worth a thread of their own: waking one takes about as long as 10 us of work.
int64_t grain_of(const PointwiseOp& op) {
  return std::max<int64_t>(8192, 65536 * 4 / (3 + op.cost));
}

bool can_divide_by_zero(ComputeType type) {
  return type == ComputeType::I32 || type == ComputeType::I64 || type == ComputeType::Bool;
}

/// The loop that works on the operands as they are in memory, if all have one dtype narrower than
/// what it computes in.
PointwiseLoop find_narrow_loop(const PointwiseOp& op, const PointwisePlan& plan) {
  const ScalarType dtype = plan.operands[0].dtype;
  for (int k = 0; k < plan.num_operands(); ++k) {
    const PointwisePlan::Operand& operand = plan.operands[k];
    if (operand.dtype != dtype || operand.round_to != ScalarType::Undefined) return nullptr;
  }
  return op.cpu()->narrow(dtype, plan.compute);
}

void run_on_cpu(const PointwiseOp& op, PointwisePlan& plan, const Scalar* scalars, bool is_new) {
  const PointwiseLoop narrow_loop = find_narrow_loop(op, plan);
  const PointwiseLoop loop = narrow_loop ? narrow_loop : find_loop(op, plan.common, plan.compute);
  const ScalarType storage = narrow_loop ? plan.operands[0].dtype : to_scalar_type(plan.compute);
  int64_t written = 0;
  for (int k = 0; k < plan.num_outputs; ++k) {
    if (!plan.operands[k].data) continue;
    written += plan.numel * static_cast<int64_t>(element_size(plan.operands[k].dtype));
  }
  const int64_t new_bytes = std::max(is_new ? written : 0, NewMemory::bytes());
  const bool stream = new_bytes >= kStreamBytes;
  const bool may_divide = can_divide_by_zero(plan.compute);
  std::atomic<bool> divided{false};
  for_each_row(
      plan, grain_of(op), stream,
      [&](bool direct) { return RowRunner(plan, loop, storage, scalars, direct); },
      [&](const RowRunner&) {
        if (stream) stream_fence();
        if (may_divide && take_zero_division()) divided = true;
      });
  if (divided) raise_zero_division(op.name);
}

/// Whether every value of `from` is one of `to` as well, as far as small types are concerned.
bool holds(ScalarType to, ScalarType from) {
  const bool byte = from == kByte || from == kChar;
  return to == from || from == kBool || (byte && to != kByte && to != kChar && to != kBool);
}

/// The compute type has more precision than the promoted dtype, so values are rounded to the dtypes
/// that PyTorch computes in.
void set_round_to(PointwisePlan& plan, const PointwiseOp& op, ResultTypes types,
                  ArrayRef<const TensorBase*> inputs, bool writes_arguments) {
  const ScalarType storage = to_scalar_type(plan.compute);
  for (int k = 0; k < plan.num_outputs; ++k) {
    PointwisePlan::Operand& out = plan.operands[k];
    if (types.output != out.dtype && types.output != storage) out.round_to = types.output;
  }
  if (types.common == storage) return;
  for (int k = 0; k < plan.num_inputs; ++k) {
    PointwisePlan::Operand& in = plan.operands[plan.num_outputs + k];
    if (((op.promoting_inputs >> k) & 1) == 0 || holds(types.common, in.dtype)) continue;
    if (is_reduced_floating_point(types.common) && inputs[k]->dim() == 0) {
      // A loss is scaled by more than Half holds; steps are counted beyond what BFloat16 holds.
      const NumberRule rule = writes_arguments ? NumberRule::Exact : number_rule(op);
      if (rule == NumberRule::Exact || (rule == NumberRule::Factor && k == 1)) continue;
    }
    in.round_to = types.common;
  }
}

/// Checks the call and lays out its plan; false if nothing is to be computed.
bool prepare_plan(PointwisePlan& plan, const PointwiseOp& op, IntArrayRef shape, ResultTypes types,
                  Device device, ArrayRef<const TensorBase*> outputs,
                  ArrayRef<const TensorBase*> inputs, const ScalarList& scalars,
                  bool writes_arguments) {
  const ScalarType common = types.common;
  plan.common = common;
  plan.compute = loop_type(op, common, scalars);
  find_loop(op, common, plan.compute);  // what is not implemented is so for empty tensors, too
  if (device.is_meta()) return false;
  make_plan(plan, shape, outputs, inputs);
  plan.device = device;
  if (plan.numel == 0) return false;
  set_round_to(plan, op, types, inputs, writes_arguments);
  return true;
}

struct RunOptions {
  bool is_new = false;            ///< the outputs are not inputs as well
  bool writes_arguments = false;  ///< the call is an update: its outputs are inputs
};

TENON_NOINLINE void run(const PointwiseOp& op, IntArrayRef shape, ResultTypes types, Device device,
                        ArrayRef<const TensorBase*> outputs, ArrayRef<const TensorBase*> inputs,
                        ArrayRef<const Scalar*> scalars, RunOptions options) {
  check_scalars(op, types.common, scalars);
  const ScalarList list(op, scalars, types.common);
  PointwisePlan plan;
  if (!prepare_plan(plan, op, shape, types, device, outputs, inputs, list,
                    options.writes_arguments))
    return;
  if (device.is_cpu()) return run_on_cpu(op, plan, list.data(), options.is_new);
  TENON_CHECK_NOT_IMPLEMENTED(device.is_cuda() && op.cuda, "[", op.name,
                              "] is not implemented for device ", device);
  op.cuda(plan, list.data());
}

}  // namespace

void run_pointwise(const PointwiseOp& op, IntArrayRef shape, ResultTypes types, Device device,
                   ArrayRef<const TensorBase*> outputs, ArrayRef<const TensorBase*> inputs,
                   ArrayRef<const Scalar*> scalars, bool is_new) {
  run(op, shape, types, device, outputs, inputs, scalars, {.is_new = is_new});
}

void run_drawing(const PointwiseOp& op, CudaDrawingLauncher launcher, IntArrayRef shape,
                 ResultTypes types, Device device, ArrayRef<const TensorBase*> outputs,
                 ArrayRef<const TensorBase*> inputs, ArrayRef<const Scalar*> scalars,
                 const std::optional<Generator>& generator) {
  check_scalars(op, types.common, scalars);
  const ScalarList list(op, scalars, types.common);
  PointwisePlan plan;
  if (!prepare_plan(plan, op, shape, types, device, outputs, inputs, list, false)) return;
  launcher(plan, list.data(), generator);
}

namespace {

void check_output_device(const TensorBase& out, Device device) {
  TENON_CHECK(out.device() == device || (out.is_cpu() && device.is_cpu()),
              "Expected all tensors to be on the same device, but found at least two devices, ",
              out.device(), " and ", device, "!");
}

void check_counts([[maybe_unused]] const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                  ArrayRef<const Scalar*> scalars) {
  TENON_ASSERT(inputs.size() == op.num_inputs && scalars.size() == op.num_scalars &&
                   scalars.size() <= kMaxScalars,
               op.name);
}

/// The call without a plan: contiguous CPU operands of one dtype and shape, or single values of
/// that dtype. Most calls are of this kind.
struct FastPath {
  PointwiseLoop loop;
  int64_t numel;
  const TensorImpl* shape;  ///< an input that has the result's shape
  ScalarType dtype;         ///< of the inputs
  ScalarType out_dtype;
  ComputeType compute;
  bool direct;  ///< the loop works on the operands' own memory
  const void* in[kMaxOperands];
  int64_t steps[kMaxOperands];

  /// False if the call is not of that kind.
  TENON_ALWAYS_INLINE bool prepare(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                                   ArrayRef<const Scalar*> scalars) {
    const TensorImpl* lead = inputs[0]->unsafe_impl();
    if (TENON_UNLIKELY(!lead || op.promoting_inputs == 0)) return false;
    for (size_t k = 1; k < inputs.size() && lead->sizes.empty(); ++k) {
      lead = inputs[k]->unsafe_impl();
      if (TENON_UNLIKELY(!lead)) return false;
    }
    shape = lead;
    dtype = out_dtype = lead->dtype;
    numel = lead->numel;
    for (size_t k = 0; k < inputs.size(); ++k) {
      const TensorImpl* t = inputs[k]->unsafe_impl();
      if (!t || t->dtype != dtype || !t->contiguous || !t->has_memory || !t->device.is_cpu())
        return false;
      in[k] = t->data;
      steps[k] = 1;
      if (t == lead) continue;
      if (t->sizes.empty()) {
        steps[k] = 0;
      } else if (!(IntArrayRef(t->sizes) == IntArrayRef(lead->sizes))) {
        return false;
      }
    }
    if (TENON_LIKELY(dtype == ScalarType::Float)) {
      compute = ComputeType::F32;
      direct = true;
    } else {
      if (is_storage_only(dtype)) return false;
      compute = compute_type(dtype);
      direct = to_scalar_type(compute) == dtype;
    }
    const bool integer = is_integral(dtype, true);
    for (const Scalar* s : scalars) {
      if (dtype == ScalarType::Bool ? !s->is_boolean() : integer && !s->is_integral(true))
        return false;
      if (compute == ComputeType::I32 && !is_value_of(s->toLong(), dtype)) return false;
      if (s->is_complex() && !is_complex(dtype)) return false;
    }
    if (op.promotion != Promotion::kDefault) {
      if (schema::makes_floating(op.promotion) && integer) return false;
      if (op.promotion == Promotion::kBoolToLong && dtype == ScalarType::Bool) return false;
      if (schema::gives_bool(op.promotion)) out_dtype = ScalarType::Bool;
      if (op.promotion == Promotion::kComplexToFloat) out_dtype = to_real(dtype);
      direct &= out_dtype == dtype;
    }
    const PointwiseLoops& loops = *op.cpu();
    loop = loops.loop[static_cast<int>(compute)];
    if (!direct && out_dtype == dtype) {
      if (const PointwiseLoop narrow_loop = loops.narrow(dtype, compute)) {
        loop = narrow_loop;
        direct = true;
      }
    }
    return loop != nullptr;
  }

  /// `is_new`: the outputs are not inputs as well, so writes may bypass the caches.
  TENON_ALWAYS_INLINE void run(const PointwiseOp& op, void* const* outs,
                               ArrayRef<const Scalar*> scalars, bool is_new) const {
    const ScalarList list(op, scalars, dtype);
    if (TENON_LIKELY(direct && numel < 2 * grain_of(op))) {
      loop(outs, in, steps, list.data(), numel, false);
      if (can_divide_by_zero(compute) && take_zero_division()) raise_zero_division(op.name);
    } else {
      run_planned(op, outs, list.data(), is_new);
    }
  }

  TENON_NOINLINE void run_planned(const PointwiseOp& op, void* const* outs, const Scalar* scalars,
                                  bool is_new) const {
    PointwisePlan plan;
    plan.num_outputs = op.num_outputs;
    plan.num_inputs = op.num_inputs;
    plan.ndim = 1;
    plan.numel = plan.sizes[0] = numel;
    plan.common = dtype;
    plan.compute = compute;
    for (int k = 0; k < plan.num_operands(); ++k) {
      PointwisePlan::Operand& operand = plan.operands[k];
      const bool is_output = k < plan.num_outputs;
      operand.data = is_output ? outs[k] : const_cast<void*>(in[k - plan.num_outputs]);
      operand.dtype = is_output ? out_dtype : dtype;
      operand.round_to = ScalarType::Undefined;
      operand.cpu_scalar = false;
      operand.strides[0] = !is_output && steps[k - plan.num_outputs] == 0
                               ? 0
                               : static_cast<int64_t>(element_size(operand.dtype));
    }
    run_on_cpu(op, plan, scalars, is_new);
  }
};

TENON_NOINLINE void allocate_and_run(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                                     ArrayRef<const Scalar*> scalars, TensorBase* outs,
                                     uint32_t wanted) {
  check_counts(op, inputs, scalars);
  const ResultTypes types = result_types(op, inputs, scalars);
  const DimVector shape = broadcast_shape(inputs);
  const Device device = common_device(inputs);
  const DimVector strides = output_strides(shape, inputs);
  const TensorBase* outputs[kMaxOperands];
  for (int k = 0; k < op.num_outputs; ++k) {
    outputs[k] = nullptr;
    outs[k].reset();
    if (((wanted >> k) & 1) == 0) continue;
    outs[k] = empty_strided(shape, strides, types.output, device);
    outputs[k] = &outs[k];
  }
  run_pointwise(op, shape, types, device, {outputs, op.num_outputs}, inputs, scalars, true);
}

}  // namespace

TensorBase pointwise(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                     ArrayRef<const Scalar*> scalars) {
  FastPath fast;
  if (TENON_LIKELY(fast.prepare(op, inputs, scalars))) {
    TensorBase out = empty(fast.shape->sizes, fast.out_dtype, kCPU);
    void* outs[] = {out.unsafe_impl()->data};
    fast.run(op, outs, scalars, true);
    return out;
  }
  TensorBase out;
  allocate_and_run(op, inputs, scalars, &out, 1);
  return out;
}

void pointwise_multi(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                     ArrayRef<const Scalar*> scalars, TensorBase* outs, uint32_t wanted) {
  FastPath fast;
  if (!fast.prepare(op, inputs, scalars))
    return allocate_and_run(op, inputs, scalars, outs, wanted);
  void* data[kMaxOperands];
  for (int k = 0; k < op.num_outputs; ++k) {
    data[k] = nullptr;
    outs[k].reset();
    if (((wanted >> k) & 1) == 0) continue;
    outs[k] = empty(fast.shape->sizes, fast.out_dtype, kCPU);
    data[k] = outs[k].unsafe_impl()->data;
  }
  fast.run(op, data, scalars, true);
}

void pointwise_inplace(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                       ArrayRef<const Scalar*> scalars) {
  const TensorBase& self = *inputs[0];
  FastPath fast;
  if (fast.prepare(op, inputs, scalars) && fast.shape == self.unsafe_impl() &&
      fast.out_dtype == fast.dtype) {
    bool aliased = false;
    for (size_t k = 1; k < inputs.size(); ++k) {
      aliased |= !inputs[k]->is_same(self) && inputs[k]->is_alias_of(self);
    }
    if (TENON_LIKELY(!aliased)) {
      void* outs[] = {fast.shape->data};
      return fast.run(op, outs, scalars, false);
    }
  }
  check_counts(op, inputs, scalars);
  const ResultTypes types = result_types(op, inputs, scalars);
  const DimVector shape = broadcast_shape(inputs);
  const Device device = common_device(inputs);
  check_output_device(self, device);
  TENON_CHECK(op.promotion != Promotion::kComplexToFloat || !self.is_complex(), "In-place ",
              op.name, " is not supported for complex tensors.");
  TENON_CHECK(self.sizes() == IntArrayRef(shape), "output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", shape);
  TENON_CHECK(can_cast(types.output, self.scalar_type()), "result type ", types.output,
              " can't be cast to the desired output type ", self.scalar_type());
  check_no_internal_overlap(self);
  for (const TensorBase* input : inputs) check_no_partial_overlap(self, *input);
  const TensorBase* out = &self;
  run_pointwise(op, shape, types, device, out, inputs, scalars, false);
}

void pointwise_update(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                      ArrayRef<const Scalar*> scalars, ArrayRef<const TensorBase*> written,
                      const char* const* names) {
  const auto separate = [](const TensorBase& a, const TensorBase& b) {
    return a.is_same(b) || !a.is_alias_of(b);
  };
  FastPath fast;
  if (fast.prepare(op, inputs, scalars)) {
    bool plain = true;
    void* outs[kMaxOperands];
    for (size_t k = 0; k < written.size() && plain; ++k) {
      const TensorImpl& w = *written[k]->unsafe_impl();
      plain = w.has_memory && w.dtype == fast.out_dtype &&
              IntArrayRef(w.sizes) == IntArrayRef(fast.shape->sizes);
      for (size_t j = 0; j < k; ++j) plain &= !written[j]->is_alias_of(*written[k]);
      for (const TensorBase* input : inputs) plain &= separate(*input, *written[k]);
      outs[k] = w.data;
    }
    if (TENON_LIKELY(plain)) return fast.run(op, outs, scalars, false);
  }
  check_counts(op, inputs, scalars);
  const ResultTypes types = result_types(op, inputs, scalars);
  for (size_t k = 1; k < written.size(); ++k) {
    TENON_CHECK(written[k]->sizes() == written[0]->sizes(), "[", op.name, "] ", names[k],
                " must have the shape of ", names[0], ", ", written[0]->sizes(), ", got ",
                written[k]->sizes());
  }
  const DimVector shape = broadcast_shape(inputs);
  const Device device = common_device(inputs);
  for (size_t k = 0; k < written.size(); ++k) {
    const TensorBase& w = *written[k];
    check_output_device(w, device);
    TENON_CHECK(w.sizes() == IntArrayRef(shape), "[", op.name, "] ", names[k], " with shape ",
                w.sizes(), " doesn't match the broadcast shape ", shape);
    TENON_CHECK(can_cast(types.output, w.scalar_type()), "[", op.name, "] result type ",
                types.output, " can't be cast to ", w.scalar_type(), ", the dtype of ", names[k]);
    check_no_internal_overlap(w);
    for (size_t j = 0; j < k; ++j) {
      const TensorBase& other = *written[j];
      const void* data = w.unsafe_impl()->data;
      TENON_CHECK(!data || w.numel() == 0 || data != other.unsafe_impl()->data, "[", op.name, "] ",
                  names[j], " and ", names[k], " are both written, so they must not share memory");
      check_no_partial_overlap(w, other);
    }
    for (const TensorBase* input : inputs) check_no_partial_overlap(w, *input);
  }
  run(op, shape, types, device, written, inputs, scalars, {.writes_arguments = true});
}

void pointwise_out(const PointwiseOp& op, ArrayRef<const TensorBase*> inputs,
                   ArrayRef<const Scalar*> scalars, const TensorBase& out) {
  FastPath fast;
  if (fast.prepare(op, inputs, scalars) && out.unsafe_impl()) {
    const TensorImpl& o = *out.unsafe_impl();
    bool aliased = false;
    for (const TensorBase* input : inputs) aliased |= input->is_alias_of(out);
    if (!aliased && o.contiguous && o.has_memory && o.dtype == fast.out_dtype &&
        o.device.is_cpu() && IntArrayRef(o.sizes) == IntArrayRef(fast.shape->sizes)) {
      void* outs[] = {o.data};
      return fast.run(op, outs, scalars, true);
    }
  }
  check_counts(op, inputs, scalars);
  const ResultTypes types = result_types(op, inputs, scalars);
  const DimVector shape = broadcast_shape(inputs);
  const Device device = common_device(inputs);
  check_output_device(out, device);
  TENON_CHECK(can_cast(types.output, out.scalar_type()), "result type ", types.output,
              " can't be cast to the desired output type ", out.scalar_type());
  bool is_new = true;
  if (out.sizes() != IntArrayRef(shape)) {
    for (const TensorBase* input : inputs) {
      TENON_CHECK(!input->is_alias_of(out), "output with shape ", out.sizes(),
                  " doesn't match the broadcast shape ", shape);
    }
    if (out.numel() != 0) warn_of_resized_out(out, shape);
    resize(out, shape);
  } else {
    check_no_internal_overlap(out);
    for (const TensorBase* input : inputs) {
      check_no_partial_overlap(out, *input);
      is_new &= !input->is_alias_of(out);
    }
  }
  const TensorBase* outputs = &out;
  run_pointwise(op, shape, types, device, outputs, inputs, scalars, is_new);
}

}  // namespace tenon::native
