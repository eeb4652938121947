#pragma once

#include "bindings/python/src/calls/caster.h"
#include "runtime/serialization/values/value.h"

/// Python's objects and what they are in a checkpoint.
namespace tenon::python {

/// What save() writes for an object. An object that occurs twice is one Value.
serialization::Value to_value(nb::handle object);

/// What load() gives for a Value.
nb::object to_object(const serialization::Value& value);

}  // namespace tenon::python
