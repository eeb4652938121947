#pragma once

#include "aten/core/python_object.h"
#include "aten/dispatch/exclude_layers.h"
#include "aten/dispatch/operator_entry.h"
#include "bindings/python/src/calls/caster.h"

/// `__torch_dispatch__`: classes and modes that take calls of operators below autograd.
namespace tenon::python {

/// Whether objects of the class take such calls: its `__torch_dispatch__` is not Tensor's own.
bool has_dispatch(PyTypeObject* type);

/// Of PythonHooks: an object that only its tensor keeps goes, with the tensor, or keeps it.
bool release_object(TensorImpl* impl) noexcept;

/// What the last function of Python gave for a tensor, until it is wrapped again or the next one
/// runs: so the caller gets the same object. Python's lock guards it.
extern PyObject* result_of_python;
void keep_result(PyObject* object);

/// From now on operators ask classes and modes: whoever makes the first of them calls it.
void register_dispatch();

/// Calls of this thread neither reach classes nor modes until the end of the scope.
class WithoutDispatch {
 public:
  WithoutDispatch() : exclude_(kPythonLayers) {}

 private:
  ExcludeLayers exclude_;
};

/// The TypeError of a call that every `__torch_dispatch__` answers with NotImplemented.
PyObject* not_dispatched_error();

/// Whether a mode of this thread takes calls of operators.
inline bool modes_take_calls() { return python_takes(DispatchKeySet(DispatchLayer::PythonMode)); }
/// The operator by which modes learn of a tensor that Python's values were written to.
Tensor lift_fresh(const Tensor& self);

void add_dispatch(nb::module_& module);

}  // namespace tenon::python
