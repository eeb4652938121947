#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "codegen/modules/entry.h"
#include "codegen/modules/language.h"

/// Statements and expressions of a module's class in Python.
namespace tenon::codegen::modules {

/// The size of a parameter or buffer that is given as one list, in the printer's language; empty if
/// it is given number by number.
std::string size_list(const Module& module, const State& state, Printer& printer);

/// Adds the lines of reset_parameters() for the state.
void python_init(const State& state, Printer& printer, nlohmann::ordered_json& lines);

/// The parameters of __init__.
std::string python_parameters(const Module& module, bool makes_tensors);

/// The statement of __init__ that keeps an argument; empty if the module does not keep it.
std::string python_assignment(const Module& module, const Argument& argument);

/// The statement of __init__ that makes a parameter or buffer.
std::string python_register(const Module& module, const State& state, bool is_buffer,
                            Printer& printer);

/// The expression that extra_repr returns; empty if nothing is shown.
std::string python_shown(const Module& module);

}  // namespace tenon::codegen::modules
