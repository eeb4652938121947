#include "aten/sparse/sparse_tensor.h"

#include "aten/registration/library.h"
#include "aten/sparse/sparse_fallback.h"
#include "aten/sparse/sparse_kernels.h"

namespace tenon::sparse {
namespace {

/// Registers kernels of operators that the library has: one of selected operators may lack some.
class Kernels {
 public:
  explicit Kernels(std::vector<DispatchKey> keys)
      : library_("aten", Library::IMPL), keys_(std::move(keys)) {
    for (const DispatchKey key : keys_) library_.fallback(key, fallback);
  }

  template <class F>
  Kernels& add(const char* name, const F& function) {
    if (!find_operator(name)) return *this;
    for (const DispatchKey key : keys_) library_.impl(name, key, function);
    return *this;
  }

 private:
  Library library_;
  std::vector<DispatchKey> keys_;
};

[[noreturn]] void refuse_adam(const OperatorEntry&, DispatchKeySet, Stack&) {
  detail::raise<Error>(
      "Adam does not support sparse gradients, please consider SparseAdam instead");
}

Kernels* make_kernels() {
  auto* const kernels = new Kernels({DispatchKey::SparseCPU, DispatchKey::SparseCsrCPU});
  kernels->add("add.Tensor", TENON_FN(add))
      .add("add_.Tensor", TENON_FN(add_))
      .add("add.Scalar", TENON_FN(add_scalar))
      .add("sub.Tensor", TENON_FN(sub))
      .add("sub_.Tensor", TENON_FN(sub_))
      .add("sub.Scalar", TENON_FN(add_scalar))
      .add("mul.Tensor", TENON_FN(mul))
      .add("mul_.Tensor", TENON_FN(mul_))
      .add("mul.Scalar", TENON_FN(mul_scalar))
      .add("div.Tensor", TENON_FN(div))
      .add("div.Tensor_mode", TENON_FN(div_mode))
      .add("floor_divide", TENON_FN(floor_divide))
      .add("pow.Tensor_Scalar", TENON_FN(pow_scalar))
      .add("neg", TENON_FN(neg))
      .add("mm", TENON_FN(mm))
      .add("addmm", TENON_FN(addmm))
      .add("mv", TENON_FN(mv))
      .add("bmm", TENON_FN(bmm))
      .add("sum", TENON_FN(sum))
      .add("sum.dim_IntList", TENON_FN(sum_dim))
      .add("linalg_vector_norm", TENON_FN(vector_norm))
      .add("any", TENON_FN(any))
      .add("_local_scalar_dense", TENON_FN(item))
      .add("sgd_step_", TENON_FN(sgd_step_))
      .add("_adagrad_step_", TENON_FN(adagrad_step_))
      .add("adam_step_", refuse_adam)
      .add("alias", TENON_FN(alias))
      .add("clone", TENON_FN(clone))
      .add("_to_copy", TENON_FN(to_copy))
      .add("zeros_like", TENON_FN(zeros_like))
      .add("empty_like", TENON_FN(zeros_like))
      .add("new_zeros", TENON_FN(new_zeros))
      .add("new_empty", TENON_FN(new_zeros))
      .add("copy_", TENON_FN(copy_))
      .add("zero_", TENON_FN(zero_))
      .add("transpose.int", TENON_FN(transposed))
      .add("t", TENON_FN(t))
      .add("permute", TENON_FN(permute))
      .add("unsqueeze", TENON_FN(unsqueeze))
      .add("select.int", TENON_FN(selected))
      .add("select_backward", TENON_FN(select_backward))
      .add("unbind.int", TENON_FN(unbind))
      .add("narrow_copy", TENON_FN(narrow_copy))
      .add("index_select", TENON_FN(index_select))
      .add("cat", TENON_FN(cat));
  return kernels;
}

}  // namespace

void register_kernels() {
  // Kept for the life of the program: tensors may outlive static objects.
  static Kernels* const kernels = make_kernels();
  static_cast<void>(kernels);
}

}  // namespace tenon::sparse
