#include "aten/meta/structured.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "aten/core/thread_state.h"
#include "aten/dispatch/warning.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/plan.h"
#include "aten/meta/apart.h"

namespace tenon::structured {
namespace {

/// The name of the C++ type, which PyTorch's messages have.
const char* cpp_name(ScalarType type) {
  switch (type) {
  case kByte: return "unsigned char";
  case kChar: return "signed char";
  case kShort: return "short int";
  case kInt: return "int";
  case kLong: return "long int";
  case kHalf: return "c10::Half";
  case kBFloat16: return "c10::BFloat16";
  case kFloat: return "float";
  case kDouble: return "double";
  case kComplexHalf: return "c10::complex<c10::Half>";
  case kComplexFloat: return "c10::complex<float>";
  case kComplexDouble: return "c10::complex<double>";
  case kBool: return "bool";
  case kUInt16: return "short unsigned int";
  case kUInt32: return "unsigned int";
  case kUInt64: return "long unsigned int";
  default: return to_string(type);
  }
}

/// The words of PyTorch for a result of linear algebra; null for other operators.
const char* result_of_linalg(std::string_view op) {
  if (op == "linalg_eig" || op == "linalg_eigvals") return "eigenvalues";
  constexpr std::array names = {"cholesky_inverse",
                                "cholesky_solve",
                                "linalg_matrix_rank",
                                "linalg_pinv",
                                "linalg_tensorsolve",
                                "linalg_tensorinv",
                                "orgqr"};
  return std::find(names.begin(), names.end(), op) == names.end() ? nullptr : "result";
}

/// Operators that cast into no `out`, although they are made of others that would.
constexpr auto kExactOuts = std::to_array<std::string_view>({"addbmm",
                                                             "addmv",
                                                             "alias_copy",
                                                             "as_strided_copy",
                                                             "avg_pool3d",
                                                             "bucketize",
                                                             "complex",
                                                             "diag",
                                                             "diagonal_copy",
                                                             "dot",
                                                             "expand_copy",
                                                             "float_power",
                                                             "frobenius_norm",
                                                             "histc",
                                                             "index_copy",
                                                             "index_reduce",
                                                             "inner",
                                                             "inverse",
                                                             "linalg_cholesky",
                                                             "linalg_det",
                                                             "linalg_eigvalsh",
                                                             "linalg_inv",
                                                             "linalg_matrix_norm",
                                                             "linalg_multi_dot",
                                                             "linalg_norm",
                                                             "linalg_solve",
                                                             "linalg_svdvals",
                                                             "linalg_vecdot",
                                                             "linear",
                                                             "logcumsumexp",
                                                             "lu_solve",
                                                             "matmul",
                                                             "matrix_power",
                                                             "msort",
                                                             "multinomial",
                                                             "mv",
                                                             "nan_to_num",
                                                             "nanquantile",
                                                             "narrow_copy",
                                                             "nonzero_static",
                                                             "nuclear_norm",
                                                             "permute_copy",
                                                             "polar",
                                                             "quantile",
                                                             "renorm",
                                                             "searchsorted",
                                                             "select_copy",
                                                             "slice_copy",
                                                             "slice_scatter",
                                                             "squeeze_copy",
                                                             "t_copy",
                                                             "take_along_dim",
                                                             "transpose_copy",
                                                             "unfold_copy",
                                                             "unsqueeze_copy",
                                                             "vdot",
                                                             "view_as_complex_copy",
                                                             "view_as_real_copy",
                                                             "view_copy"});
static_assert(std::is_sorted(kExactOuts.begin(), kExactOuts.end()));

void check_cast(const char* op, ScalarType from, ScalarType to) {
  if (can_cast(from, to)) return;
  if (const char* const result = result_of_linalg(op))
    tenon::detail::raise<Error>("[", op, "] Expected ", result, " to be safely castable from ",
                                from, " dtype, but got ", result, " with dtype ", to);
  tenon::detail::raise<Error>("[", op, "] result type ", from,
                              " can't be cast to the desired output type ", to);
}

void check_device(const char* op, const char* what, const TensorBase& t, const TensorSpec& spec) {
  const Device have = t.device(), want = spec.device;
  const bool same =
      have.type() == want.type() && (have == want || !have.has_index() || !want.has_index());
  TENON_CHECK(same, "[", op, "] expected ", what, " on ", want, ", got ", have);
}

bool shares_memory(const TensorBase& out, const TensorBase& input) {
  return input.defined() && input.has_storage() && input.is_alias_of(out);
}

/// Whether a kernel can write what the spec says into `out`, whose sizes are right.
bool is_laid_out(const TensorBase& out, const TensorSpec& spec) {
  return out.scalar_type() == spec.dtype &&
         (spec.strides.empty() ? out.is_contiguous() : out.strides() == IntArrayRef(spec.strides));
}

}  // namespace

bool overlap(const TensorBase& out, const TensorBase& input) {
  if (!input.defined() || !input.has_storage() || !input.is_alias_of(out)) return false;
  if (!out.is_non_overlapping_and_dense() || !input.is_non_overlapping_and_dense()) return false;
  const char* a = static_cast<const char*>(out.const_data_ptr());
  const char* b = static_cast<const char*>(input.const_data_ptr());
  return a && b && a < b + input.nbytes() && b < a + out.nbytes();
}

void check_apart(const char* op, const TensorBase& out, ArrayRef<const TensorBase*> inputs) {
  native::check_no_internal_overlap(out);
  for (const TensorBase* input : inputs) {
    TENON_CHECK(!overlap(out, *input), "[", op,
                "] unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location. Please clone() the tensor before "
                "performing the operation.");
  }
}

void check_outs_apart(const char* op, std::initializer_list<const TensorBase*> outs,
                      const char* const* names) {
  const TensorBase* const* all = outs.begin();
  for (size_t k = 1; k < outs.size(); ++k) {
    for (size_t j = 0; j < k; ++j) {
      const bool both = all[j]->defined() && all[k]->defined();
      TENON_CHECK(!both || !overlap(*all[j], *all[k]), "[", op, "] ", names[j], " and ", names[k],
                  " are both written, so they must not share memory");
    }
  }
}

TensorBase allocate(const TensorSpec& spec) {
  return spec.strides.empty() ? empty(spec.sizes, spec.dtype, spec.device)
                              : empty_strided(spec.sizes, spec.strides, spec.dtype, spec.device);
}

void check_out_dtype(const char* op, const TensorBase& out, ScalarType dtype) {
  if (result_of_linalg(op)) check_cast(op, dtype, out.scalar_type());
  const std::string_view name = op;
  TENON_CHECK(out.scalar_type() == dtype || (name != "amax" && name != "amin"), "[", op,
              "] Expected the dtype for input and out to match, but got ", dtype,
              " for input's dtype and ", out.scalar_type(), " for out's dtype.");
  TENON_CHECK(out.scalar_type() == dtype, "[", op, "] Expected out tensor to have dtype ",
              cpp_name(dtype), ", but got ", cpp_name(out.scalar_type()), " instead");
}

void resize_out(const char* op, const TensorBase& out, IntArrayRef sizes, ScalarType dtype) {
  if (out.defined()) out.unsafe_impl()->check_may_change();
  check_cast(op, dtype, out.scalar_type());
  if (out.scalar_type() != dtype &&
      std::binary_search(kExactOuts.begin(), kExactOuts.end(), std::string_view(op)))
    check_out_dtype(op, out, dtype);
  if (out.sizes() == sizes) return;
  TENON_CHECK(!out.requires_grad(), "[", op, "] cannot resize an out tensor that requires grad");
  if (out.numel() != 0) warn_of_resized_out(out, sizes);
  resize(out, sizes);
}

TensorBase prepare_out(const char* op, const TensorBase& out, const TensorSpec& spec,
                       ArrayRef<const TensorBase*> inputs) {
  check_device(op, "out", out, spec);
  if (spec.apart) check_apart(op, out, inputs);
  if (spec.apart_from_others) check_apart(op, out, inputs.slice(1));
  bool aliased = false;
  for (const TensorBase* input : inputs) aliased |= shares_memory(out, *input);
  // The kernel would read what resizing makes of the input.
  TENON_CHECK(!aliased || out.sizes() == IntArrayRef(spec.sizes), "[", op,
              "] out shares memory with an input, so it must have the result's sizes ", spec.sizes,
              ", got ", out.sizes());
  const ScalarType dtype = out.scalar_type();
  TENON_CHECK(!spec.condition || dtype == kBool || dtype == kByte, op,
              " only supports bool tensor for result, got: ", dtype);
  if (!spec.casts && !spec.condition) check_out_dtype(op, out, spec.dtype);
  resize_out(op, out, spec.sizes, spec.condition ? dtype : spec.dtype);
  return !aliased && is_laid_out(out, spec) ? out : allocate(spec);
}

TensorBase prepare_inplace(const char* op, const TensorBase& self, const TensorSpec& spec,
                           ArrayRef<const TensorBase*> others) {
  if (self.defined()) self.unsafe_impl()->check_may_change();
  check_device(op, "self", self, spec);
  check_inplace(op, self, spec.sizes, spec.dtype);
  if (spec.apart_from_others) check_apart(op, self, others);
  bool direct = is_laid_out(self, spec);
  for (const TensorBase* other : others) direct &= !shares_memory(self, *other);
  return direct ? self : allocate(spec);
}

void check_inplace(const char* op, const TensorBase& self, IntArrayRef sizes, ScalarType dtype) {
  TENON_CHECK(self.sizes() == sizes, "[", op, "] output with shape ", self.sizes(),
              " doesn't match the broadcast shape ", sizes);
  check_cast(op, dtype, self.scalar_type());
}

void detail::forget_base(TensorImpl& result) {
  if (result.autograd_meta) return;  // recorded: its history needs the base
  result.own_version.store(0, std::memory_order_relaxed);
  result.is_inference = thread_state.inference_mode;
  result.base.reset();
  result.creation_meta = CreationMeta::Default;
  result.key_set = result.key_set.remove(DispatchLayer::Autograd);
}

void finish(const TensorBase& out, const TensorBase& written) {
  if (!written.is_same(out)) native::copy(out, written);
  out.unsafe_impl()->bump_version();
}

}  // namespace tenon::structured
