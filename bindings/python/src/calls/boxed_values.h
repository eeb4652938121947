#pragma once

#include "aten/dispatch/value.h"
#include "bindings/python/src/calls/caster.h"
#include "codegen/schema/function_schema.h"

/// Arguments and results of boxed calls, in Python.
namespace tenon::python {

/// The value of an argument or result of this type. A new reference.
PyObject* wrap_value(const Value& value, const schema::Type& type);

/// What Python code gave where a value of this type belongs: a tensor, a number, a string, or a
/// sequence of tensors or numbers. TypeError, which begins with `what`, for anything else.
Value read_value(nb::handle object, const schema::Type& type, const std::string& what);

}  // namespace tenon::python
