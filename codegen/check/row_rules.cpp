#include <algorithm>
#include <charconv>
#include <map>

#include "codegen/check/rules.h"
#include "codegen/schema/printer.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/reader.h"

// What the keys of `rowwise` say about the schema.

namespace tenon::codegen::rules {

namespace {

using schema::Argument;
using schema::BaseType;

std::vector<std::string> names_of(const schema::FunctionSchema& schema, bool tensors) {
  std::vector<std::string> names;
  for (const Argument& arg : schema.args) {
    if (arg.type.holds_tensors() == tensors) names.push_back(arg.name);
  }
  return names;
}

bool is_whole_number(const std::string& text) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, code] = std::from_chars(text.data(), end, value);
  return stop == end && code == std::errc();
}

void check_over(const Entry& entry, const SourceString& over) {
  const std::vector<LocatedName> words = detail::split_names(over);
  const bool dims = !words.empty() && std::all_of(words.begin(), words.end(), [](const auto& w) {
    return is_whole_number(w.text);
  });
  if (dims) {
    for (auto word = words.begin(); word != words.end(); ++word) {
      const bool again = std::any_of(words.begin(), word, [&](const LocatedName& before) {
        return std::stoll(before.text) == std::stoll(word->text);
      });
      if (again) {
        entry.sink.error(word->location, "`over` names the dimension " + word->text + " twice");
      }
    }
    return;
  }
  if (over.text == "all") return;
  if (const Argument* arg = entry.schema().find_arg(over.text)) {
    const schema::Type type = arg->type.without_optional();
    const bool one = type.is(BaseType::kInt);
    const bool dims = type.is_list() && type.base == BaseType::kInt && !type.holds_tensors();
    const bool sizes = type.is_list() && type.base == BaseType::kSymInt && !arg->type.is_optional();
    if (one || dims || sizes) return;
    entry.sink.error(over.location, "`over` names dimensions or sizes, int, int?, int[], int[]? "
                                    "or SymInt[], got `" +
                                        schema::to_string(*arg) + "`");
    return;
  }
  entry.sink.error(over.location,
                   "`over` must be an argument of dimensions, whole numbers or `all`, got `" +
                       over.text + "`",
                   schema::nearest(over.text, names_of(entry.schema(), false)));
}

/// Arguments whose names say what they mean.
void check_named(const Entry& entry) {
  for (const Argument& arg : entry.schema().args) {
    if (arg.name == "keepdim" && !arg.type.is(BaseType::kBool)) {
      entry.sink.error(entry.op.at(arg.span),
                       "the argument `keepdim` of a row operator says whether results keep the "
                       "reduced dimensions, got `" +
                           schema::to_string(arg) + "`",
                       "bool keepdim=False");
    }
    const bool dtype =
        arg.type.is_optional() && arg.type.without_optional().is(BaseType::kScalarType);
    if (arg.name == "dtype" && !dtype) {
      entry.sink.error(entry.op.at(arg.span),
                       "the argument `dtype` of a row operator is what it computes in, where it is "
                       "given, got `" +
                           schema::to_string(arg) + "`",
                       "ScalarType? dtype=None");
    }
  }
}

}  // namespace

void rowwise_keys(const Entry& entry) {
  if (entry.has("rowwise") || entry.has_unknown_key()) return;
  const bool composed = entry.op.is<Composition>();
  for (const std::string_view key : {"over", "rows", "columns", "keepdim"}) {
    if (entry.has(key) && !(composed && key == "columns")) {
      entry.sink.error(entry.at_key(key), "`" + std::string(key) + "` needs `rowwise`");
    }
  }
}

void rowwise_schema(const Entry& entry) {
  const schema::FunctionSchema& schema = entry.schema();
  // An entry that is computed in another way too is an error of computed_once.
  if (!entry.op.as<Rowwise>() || lacks_write(schema)) return;
  const Rowwise& spec = *entry.op.as<Rowwise>();
  if (entry.kind() != schema::SchemaKind::kFunctional) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "`rowwise` belongs to the functional schema; its out form is asked for with "
                     "`variants`");
    return;
  }
  const bool tensors = !schema.returns.empty() &&
                       std::all_of(schema.returns.begin(), schema.returns.end(),
                                   [](const auto& r) { return r.type.is_tensor() && !r.alias; });
  if (!tensors) {
    entry.sink.error(entry.op.at(schema.returns_span),
                     "a row operator returns new tensors only, got `" +
                         schema::returns_to_string(schema.returns) + "`");
  }
  if (!spec.over) {
    if (!entry.has("over") && !entry.has_unknown_key()) {
      entry.sink.error(entry.at_key("rowwise"),
                       "`rowwise` needs `over`: which dimensions make a row", "over: -1");
    }
  } else {
    check_over(entry, *spec.over);
  }
  check_named(entry);
  if (entry.has("keepdim") && schema.find_arg("keepdim") != nullptr) {
    entry.sink.error(entry.at_key("keepdim"), "the argument `keepdim` says it for each call");
  }
  const std::vector<std::string> known = names_of(schema, true);
  size_t elements = 0;
  for (const Argument& arg : schema.args) {
    const auto named = [&](const std::vector<LocatedName>& names) {
      return std::any_of(names.begin(), names.end(),
                         [&](const LocatedName& name) { return name.text == arg.name; });
    };
    const bool placed = named(spec.rows) || named(spec.columns);
    elements += arg.type.is_tensor() && !placed;
    if (arg.type.is_optional_tensor() && !placed) {
      entry.sink.error(entry.op.at(arg.span),
                       "a tensor that may be absent must be named in `columns` or `rows`, got `" +
                           schema::to_string(arg) + "`");
    } else if (arg.type.holds_tensors() && !arg.type.is_tensor() &&
               !arg.type.is_optional_tensor()) {
      entry.sink.error(entry.op.at(arg.span), "a row operator takes no list of tensors, got `" +
                                                  schema::to_string(arg) + "`");
    }
  }
  std::map<std::string, std::string> seen;
  for (const auto* names : {&spec.rows, &spec.columns}) {
    for (const LocatedName& name : *names) {
      const std::string key = names == &spec.rows ? "rows" : "columns";
      const Argument* arg = schema.find_arg(name.text);
      if (arg == nullptr || !arg->type.holds_tensors()) {
        entry.sink.error(name.location,
                         "`" + key + "` names tensors that are arguments, got `" +
                             (arg ? schema::to_string(*arg) : name.text) + "`",
                         arg ? "" : schema::nearest(name.text, known));
      }
      const auto [before, first] = seen.try_emplace(name.text, key);
      if (!first) {
        entry.sink.error(name.location, before->second == key
                                            ? "`" + name.text + "` is named twice"
                                            : "`" + name.text +
                                                  "` is named in `rows` and in `columns`: it has a "
                                                  "value for each row, or the shape of a row");
      }
    }
  }
  if (elements == 0) {
    entry.sink.error(entry.op.at(schema.name_span),
                     "a row operator needs a Tensor argument that has elements, beside those in "
                     "`rows` and `columns`");
  }
}

}  // namespace tenon::codegen::rules
