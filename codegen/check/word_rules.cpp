#include <cctype>

#include "codegen/check/rules.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::rules {

namespace {

bool is_identifier(std::string_view name) {
  if (name.empty() || (name.front() >= '0' && name.front() <= '9')) return false;
  for (const char c : name) {
    const bool word =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
  }
  return true;
}

// Backends of the dispatcher, and kernels for all of them. Other keys are upstream's.
bool runs_here(std::string_view key) {
  return key == "CPU" || key == "CUDA" || key == "Meta" || key == "PrivateUse1" ||
         key.starts_with("Composite");
}

}  // namespace

void unknown_word(const Model& model, DiagnosticSink& sink, Location location,
                  const std::string& message, const std::string& suggestion) {
  const Severity severity =
      model.dialect() == Dialect::kUpstream ? Severity::kWarning : Severity::kError;
  sink.report({severity, location, message, {}, suggestion});
}

void known_dispatch_key(const Keys& entry) {
  const std::vector<std::string>& keys = dispatch_keys(entry.model.dialect());
  const std::vector<DispatchEntry>& dispatch = entry.op.dispatch;
  for (size_t i = 0; i < dispatch.size(); ++i) {
    if (!contains(keys, dispatch[i].key)) {
      unknown_word(entry.model, entry.sink, dispatch[i].key_location,
                   "unknown dispatch key `" + dispatch[i].key + "`",
                   schema::nearest(dispatch[i].key, keys));
    } else if (entry.model.dialect() == Dialect::kTenon && !runs_here(dispatch[i].key)) {
      entry.sink.warning(dispatch[i].key_location, "Tenon has no backend `" + dispatch[i].key +
                                                       "`: nothing calls `" + dispatch[i].kernel +
                                                       "`");
    }
    for (size_t before = 0; before < i; ++before) {
      if (dispatch[before].key != dispatch[i].key) continue;
      entry.sink.report({Severity::kError,
                         dispatch[i].key_location,
                         "dispatch key `" + dispatch[i].key + "` is given twice",
                         {{dispatch[before].key_location, "the first is here"}},
                         {}});
      break;
    }
  }
}

void known_tag(const Keys& entry) {
  const std::vector<Tag>& tags = entry.model.tags();
  if (tags.empty()) return;
  std::vector<std::string> names;
  for (const Tag& tag : tags) names.push_back(tag.name.text);
  for (const LocatedName& tag : entry.op.tags) {
    if (contains(names, tag.text)) continue;
    unknown_word(entry.model, entry.sink, tag.location, "unknown tag `" + tag.text + "`",
                 schema::nearest(tag.text, names));
  }
}

void known_python_module(const Keys& entry) {
  const std::optional<LocatedName>& module = entry.op.python_module;
  if (!module || contains(python_modules(), module->text)) return;
  entry.sink.error(module->location,
                   "`python_module` must be " + join_words(python_modules()) + ", got `" +
                       module->text + "`",
                   schema::nearest(module->text, python_modules()));
}

void known_category_override(const Keys& entry) {
  const std::optional<LocatedName>& category = entry.op.upstream.category_override;
  if (!category || contains(category_overrides(), category->text)) return;
  entry.sink.error(category->location,
                   "`category_override` must be " + join_words(category_overrides()) + ", got `" +
                       category->text + "`",
                   schema::nearest(category->text, category_overrides()));
}

void kernel_name(const Keys& entry) {
  constexpr size_t kMaxNamespaces = 3;
  for (const DispatchEntry& kernel : entry.op.dispatch) {
    bool valid = is_identifier(kernel.kernel);
    size_t levels = 0;
    for (size_t begin = 0; valid && !kernel.kernel_namespace.empty();) {
      const size_t end = kernel.kernel_namespace.find("::", begin);
      valid = is_identifier(std::string_view(kernel.kernel_namespace)
                                .substr(begin, end == std::string::npos ? end : end - begin));
      valid = valid && ++levels <= kMaxNamespaces;
      if (end == std::string::npos) break;
      begin = end + 2;
    }
    if (valid) continue;
    entry.sink.error(kernel.kernel_location,
                     "a kernel is named by an identifier after at most three namespaces, got `" +
                         (kernel.kernel_namespace.empty() ? "" : kernel.kernel_namespace + "::") +
                         kernel.kernel + "`");
  }
}

void identifier_keys(const Keys& entry) {
  const auto check = [&](std::string_view key, const std::optional<LocatedName>& name) {
    if (!name || is_identifier(name->text)) return;
    entry.sink.error(name->location,
                     "`" + std::string(key) + "` must be an identifier, got `" + name->text + "`");
  };
  check("out_name", entry.op.out_name);
  check("check", entry.op.check);
  check("structured_inherits", entry.op.upstream.structured_inherits);
}

void no_default_argument(const Entry& entry) {
  std::vector<std::string> names;
  for (const schema::Argument& arg : entry.schema().args) names.push_back(arg.name);
  for (const LocatedName& name : entry.op.cpp_no_default_args) {
    const schema::Argument* arg = entry.schema().find_arg(name.text);
    if (arg == nullptr) {
      entry.sink.error(name.location, "no argument named `" + name.text + "`",
                       schema::nearest(name.text, names));
    } else if (!arg->default_value) {
      entry.sink.error(name.location, "argument `" + name.text + "` has no default to leave out");
    }
  }
}

}  // namespace tenon::codegen::rules
