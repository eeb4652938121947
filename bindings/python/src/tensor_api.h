#pragma once

#include "bindings/python/src/calls/caster.h"

namespace tenon::python {

/// What other extension modules need of `_C` to take and give tensors: the capsule
/// `_C._tensor_api`.
struct TensorApi {
  static constexpr const char* kName = "tenon._C._tensor_api";

  PyTypeObject* tensor_type;
  PyObject* (*wrap)(Tensor tensor);
  void (*set_error_from_exception)() noexcept;
  Kept (*keep)(nb::handle object);
};

}  // namespace tenon::python
