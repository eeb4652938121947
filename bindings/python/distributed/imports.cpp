#include "bindings/python/distributed/imports.h"

/// What this module shares with `_C`, under the names that it has there.
namespace tenon::python {

PyTypeObject* tensor_type = nullptr;

namespace {

const TensorApi* api = nullptr;

}  // namespace

void import_tensors() {
  const nb::object capsule = nb::module_::import_("tenon._C").attr("_tensor_api");
  api = static_cast<const TensorApi*>(PyCapsule_GetPointer(capsule.ptr(), TensorApi::kName));
  if (!api) throw nb::python_error();
  tensor_type = api->tensor_type;
}

PyObject* wrap(Tensor tensor) { return api->wrap(std::move(tensor)); }
void set_error_from_exception() noexcept { api->set_error_from_exception(); }
Kept keep(nb::handle object) { return api->keep(object); }

}  // namespace tenon::python
