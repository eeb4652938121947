#include <nanobind/nanobind.h>

#include "aten/core/print.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/tensor_methods.h"
#include "bindings/python/src/tensor_object.h"

NB_MODULE(_C, module) {
  using namespace tenon::python;
  try {
    tenon::print_hooks().module = "tenon";
    add_named_values(module.ptr());
    add_tensor_type(module.ptr());
    add_tensor_methods();
    add_functions(module.ptr());
    add_creation(module.ptr());
  } catch (...) {
    set_error_from_exception();
    throw nanobind::python_error();
  }
}
