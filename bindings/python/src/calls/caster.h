#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "autograd/engine/node.h"
#include "bindings/python/src/tensor_object.h"

/// Tensors as arguments and results of functions that nanobind wraps. None is an undefined tensor.
template <>
struct nanobind::detail::type_caster<tenon::Tensor> {
  NB_TYPE_CASTER(tenon::Tensor, const_name("tenon.Tensor"))

  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    if (source.is_none()) {
      value = tenon::Tensor();
      return true;
    }
    if (!tenon::python::is_tensor(source.ptr())) return false;
    value = tenon::python::tensor_of(source.ptr());
    return true;
  }
  static handle from_cpp(const tenon::Tensor& tensor, rv_policy, cleanup_list*) noexcept {
    return tenon::python::guarded([&] { return tenon::python::wrap(tensor); });
  }
};

namespace tenon::python {

namespace nb = nanobind;
using Tensors = std::vector<Tensor>;

/// A Python object that C++ keeps, whichever thread lets go of it.
using Kept = std::shared_ptr<PyObject>;
Kept keep(nb::handle object);

/// Throws the C++ exception that ended a call of Python code, if it was no error of Python's.
void rethrow_carried(nb::python_error& error);

/// What custom Functions share between forward and backward, of a node that is one's; else null.
nb::object context_of(const autograd::Node& node);

/// The tensors of what a Python function gave: None, a tensor, or a sequence of both. TypeError
/// that begins with `what` for anything else.
autograd::variable_list to_tensors(nb::handle object, const char* what);
nb::tuple to_tuple(const autograd::variable_list& tensors);
inline autograd::variable_list to_list(const Tensors& tensors) {
  return autograd::variable_list(tensors.begin(), tensors.end());
}
inline Tensors to_vector(const autograd::variable_list& tensors) {
  return Tensors(tensors.begin(), tensors.end());
}

void add_autograd(nb::module_& module);
void add_functions_of_users(nb::module_& module);
void add_differentiation(nb::module_& module);
void add_selective_checkpoint(nb::module_& module);
void add_serialization(nb::module_& module);
void add_sharded(nb::module_& module);
void add_storages(nb::module_& module);
void add_exchange(nb::module_& module);
void add_global_state(nb::module_& module);
void add_func(nb::module_& module);
void add_fusion(nb::module_& module);
void add_modes(nb::module_& module);
void add_module_attributes(nb::module_& module);
void add_cuda(nb::module_& module);
void add_runtime_operators(nb::module_& module);
void add_python_kernels(nb::module_& module);

}  // namespace tenon::python
