#pragma once

#include <string>
#include <utility>

#include "aten/dispatch/operator_entry.h"
#include "bindings/python/src/calls/caster.h"

/// Under which of PyTorch's names `__torch_dispatch__` sees Tenon's operators.
namespace tenon::python {

/// Name and overload: {"aten::add", "Tensor"} also of add.Scalar, which PyTorch's functions do not
/// call.
std::pair<std::string, std::string> shown_name(const OperatorEntry& op);

/// Adds the keyword arguments that the operator of the shown name takes and this one implies.
void add_shown_arguments(const OperatorEntry& op, nb::dict& keywords);

/// Defines the operators that only Python calls: aten::detach and aten::lift_fresh.
void define_shown_operators();
/// Registers, for the layers of Python, what operators of Tenon's own are made of.
void compose_operators();

}  // namespace tenon::python
