#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "aten/dispatch/value.h"
#include "codegen/schema/function_schema.h"

/// The language of compositions (docs/language.md), as a trace writes it.
namespace tenon::fusion {

/// The number that a tensor without dimensions stands for.
Scalar wrapped_number(const TensorBase& t);
/// `2`, `0.5`, `(-1)`, `true`. `type`: of the argument, "float" for one that is never an integer.
std::string number_text(const Scalar& number, std::string_view type);
/// An argument; nothing for a value that a composition cannot have, such as a generator.
std::optional<std::string>
value_text(const Value& value, const schema::Type& type,
           const std::function<std::string(const TensorBase&)>& text_of_tensor);
/// The call of the operator, `a * b` for mul.
std::string operator_text(const schema::FunctionSchema& schema,
                          const std::vector<std::string>& arguments);

/// The locals that a result needs, and the result: one a line.
struct Lines {
  std::string text;
  std::set<std::string> names;  ///< that occur
};
Lines needed_lines(const std::vector<std::pair<std::string, std::string>>& locals,
                   const std::string& result);

struct Argument {
  std::string name;
  IntArrayRef sizes;
};
/// The name and the entry of a composition: the name depends on all that the kernels do.
std::pair<std::string, std::string> entry_text(const std::vector<Argument>& arguments,
                                               const Lines& lines, size_t num_results,
                                               const std::vector<ScalarType>& dtypes);

/// 32 hexadecimal digits that depend on the text.
std::string digest(std::string_view text);

}  // namespace tenon::fusion
