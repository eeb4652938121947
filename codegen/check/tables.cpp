// Keys of structured operators that have a small language of their own.

#include <algorithm>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

const std::vector<std::string>& ufunc_keys() {
  static const std::vector<std::string> keys = {
      "Generic",     "ScalarOnly",         "CPUScalar",        "CPUVector",
      "CUDAFunctor", "CUDAFunctorOnOther", "CUDAFunctorOnSelf"};
  return keys;
}

const std::vector<std::string>& ufunc_dtypes() {
  static const std::vector<std::string> names = {"Byte",
                                                 "Char",
                                                 "Short",
                                                 "Int",
                                                 "Long",
                                                 "Half",
                                                 "Float",
                                                 "Double",
                                                 "ComplexHalf",
                                                 "ComplexFloat",
                                                 "ComplexDouble",
                                                 "Bool",
                                                 "BFloat16",
                                                 "Float8_e5m2",
                                                 "Float8_e5m2fnuz",
                                                 "Float8_e4m3fn",
                                                 "Float8_e4m3fnuz",
                                                 "Float8_e8m0fnu",
                                                 "Integral",
                                                 "Floating",
                                                 "Complex",
                                                 "All",
                                                 "AllAndComplex"};
  return names;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Visits the parts of "a, b" with their offsets in `whole`.
template <typename Visit>
void for_each_part(std::string_view whole, std::string_view list, Visit visit) {
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view part = trim(list.substr(begin, end - begin));
    const size_t offset = part.empty() ? static_cast<size_t>(list.data() - whole.data()) + begin
                                       : static_cast<size_t>(part.data() - whole.data());
    visit(std::string(part), offset);
    begin = end + 1;
  }
}

// `int dim` of a precomputed line.
void check_element(const Entry& entry, const SourceString& line, const std::string& part,
                   size_t offset) {
  const size_t space = part.rfind(' ');
  if (space == std::string::npos) {
    entry.sink.error(line.at(offset), "a precomputed value is `type name`, got `" + part + "`");
    return;
  }
  std::vector<schema::ParseError> errors;
  schema::parse_type(trim(std::string_view(part).substr(0, space)), errors);
  for (const schema::ParseError& problem : errors) {
    entry.sink.error(line.at(offset + problem.span.begin), problem.message, problem.suggestion);
  }
}

}  // namespace

void precomputed_lines(const Entry& entry) {
  const std::vector<SourceString>& lines = entry.op.upstream.precomputed;
  std::vector<std::string> names;
  for (const schema::Argument& arg : entry.schema().args) names.push_back(arg.name);
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::string_view text = lines[i].text;
    const size_t arrow = text.find("->");
    std::string_view values = text;
    if (arrow == std::string_view::npos) {
      if (i + 1 < lines.size()) {
        entry.sink.error(lines[i].location,
                         "only the last line of `precomputed` may add values: expected `argument "
                         "-> type name`");
        continue;
      }
    } else {
      const std::string name(trim(text.substr(0, arrow)));
      values = text.substr(arrow + 2);
      if (!contains(names, name)) {
        entry.sink.error(lines[i].location, "no argument named `" + name + "`",
                         schema::nearest(name, names));
      }
    }
    for_each_part(text, values, [&](const std::string& part, size_t offset) {
      check_element(entry, lines[i], part, offset);
    });
  }
}

void ufunc_loops(const Entry& entry) {
  if (entry.op.upstream.ufunc_inner_loop.empty()) return;
  for (const UfuncInnerLoop& loop : entry.op.upstream.ufunc_inner_loop) {
    if (!contains(ufunc_keys(), loop.key)) {
      entry.sink.error(loop.key_location, "unknown key `" + loop.key + "` of `ufunc_inner_loop`",
                       schema::nearest(loop.key, ufunc_keys()));
    }
    const std::string_view text = loop.value.text;
    const size_t open = text.find(" (");
    if (open == std::string_view::npos || text.back() != ')') {
      entry.sink.error(loop.value.location,
                       "an inner loop is `name (dtype, dtype)`, got `" + loop.value.text + "`");
      continue;
    }
    const std::string_view dtypes = text.substr(open + 2, text.size() - open - 3);
    for_each_part(text, dtypes, [&](const std::string& part, size_t offset) {
      if (contains(ufunc_dtypes(), part)) return;
      entry.sink.error(loop.value.at(offset), "unknown dtype `" + part + "`",
                       schema::nearest(part, ufunc_dtypes()));
    });
  }
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    if (kernel.key != "CPU" && kernel.key != "CUDA") continue;
    entry.sink.report({Severity::kError,
                       kernel.key_location,
                       "the kernel for `" + kernel.key + "` already comes from `ufunc_inner_loop`",
                       {{entry.at_key("ufunc_inner_loop"), "it is here"}},
                       {}});
  }
}

void manual_registration(const Entry& entry) {
  if (!entry.op.upstream.manual_kernel_registration || !entry.has("dispatch")) return;
  entry.sink.report({Severity::kError,
                     entry.at_key("dispatch"),
                     "`dispatch` has no effect on an operator whose kernels are registered by hand",
                     {{entry.at_key("manual_kernel_registration"), "it says so here"}},
                     {}});
}

}  // namespace tenon::codegen::rules
