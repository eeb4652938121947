#include "aten/core/print.h"
#include "autograd/checkpoint/checkpoint.h"
#include "bindings/python/src/calls/caster.h"
#include "bindings/python/src/calls/dispatch.h"
#include "bindings/python/src/calls/foreign_calls.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/errors.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/tensor_api.h"
#include "bindings/python/src/tensor_methods.h"

NB_MODULE(_C, module) {
  using namespace tenon::python;
  nanobind::set_leak_warnings(false);  // hooks and graphs may live until the process ends
  static PyObject* checkpoint_error = nullptr;
  nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const ErrorIsSet&) {
    } catch (const tenon::autograd::CheckpointError& what) {
      PyErr_SetString(checkpoint_error, what.what());
    } catch (const tenon::Error&) {
      set_error_from_exception();
    } catch (const std::exception&) {
      throw;  // nanobind's own translator knows it
    } catch (...) {
      set_error_from_exception();
    }
  });
  try {
    checkpoint_error =
        PyErr_NewException("tenon.utils.checkpoint.CheckpointError", PyExc_RuntimeError, nullptr);
    check(PyModule_AddObjectRef(module.ptr(), "CheckpointError", checkpoint_error));
    tenon::print_hooks().module = "tenon";
    add_errors(module);
    add_named_values(module.ptr());
    add_tensor_type(module.ptr());
    add_tensor_methods();
    add_overrides(module.ptr());
    add_functions(module.ptr());
    add_creation(module.ptr());
    add_autograd(module);
    add_functions_of_users(module);
    add_differentiation(module);
    add_selective_checkpoint(module);
    add_storages(module);
    add_serialization(module);
    add_sharded(module);
    add_exchange(module);
    add_global_state(module);
    add_func(module);
    add_fusion(module);
    add_modes(module);
    add_module_attributes(module);
    add_cuda(module);
    add_runtime_operators(module);
    add_python_kernels(module);
    add_dispatch(module);
    add_foreign_calls(module);
    static const TensorApi api{tensor_type, &wrap, &set_error_from_exception, &keep};
    module.attr("_tensor_api") = nanobind::capsule(&api, TensorApi::kName);
  } catch (const nanobind::python_error&) {
    throw;
  } catch (...) {
    set_error_from_exception();
    throw nanobind::python_error();
  }
}
