#pragma once

#include <string>

#include "codegen/ir/library.h"

namespace tenon::codegen {

/// Where the things of the generated files are declared: OUT/index.txt, which the build's compile
/// launcher (cmake/tools/compile_note.sh) reads when a compilation fails. The generated texts hold
/// no lines of the YAML files themselves. One line each, fields separated by tabs:
///   operator  <operator>       <file>:<line>  <schema>
///   kernel    <function>       <file>:<line>  <schema>   <signature>
///   node      <node>           <file>:<line>  <operator>
///   formula   <node> <inputs>  <file>:<line>  <formula>
/// with <inputs> as in the comment above the formula, "self, other".
std::string print_index(const ir::Library& library);

}  // namespace tenon::codegen
