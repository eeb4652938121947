#include "codegen/schema/printer.h"

namespace tenon::schema {

namespace {

void append_set(std::string& out, const std::vector<char>& letters) {
  for (size_t i = 0; i < letters.size(); ++i) {
    if (i > 0) out += '|';
    out += letters[i];
  }
}

std::string suffixes_to_string(const Type& type) {
  std::string out;
  for (const TypeSuffix& suffix : type.suffixes) {
    if (suffix.kind == TypeSuffix::Kind::kOptional) {
      out += '?';
    } else {
      out += suffix.size ? "[" + std::to_string(*suffix.size) + "]" : "[]";
    }
  }
  return out;
}

std::string base_to_string(const Type& type) {
  if (type.base == BaseType::kCustomClass) return "__torch__.torch.classes." + type.class_name;
  return std::string(to_string(type.base));
}

// `Tensor(a!)[]`: the annotation stands between the base and the suffixes.
std::string annotated(const Type& type, const std::optional<Alias>& alias) {
  return base_to_string(type) + (alias ? to_string(*alias) : "") + suffixes_to_string(type);
}

}  // namespace

std::string to_string(const Type& type) { return base_to_string(type) + suffixes_to_string(type); }

std::string to_string(const Alias& alias) {
  std::string out = "(";
  append_set(out, alias.before);
  if (alias.is_write) out += '!';
  if (alias.after_wildcard) {
    out += " -> *";
  } else if (!alias.after.empty()) {
    out += " -> ";
    append_set(out, alias.after);
  }
  return out + ")";
}

std::string to_string(const Argument& argument) {
  std::string out = annotated(argument.type, argument.alias) + " " + argument.name;
  if (argument.default_value) out += "=" + argument.default_value->text;
  return out;
}

std::string to_string(const Return& ret) {
  std::string out = annotated(ret.type, ret.alias);
  if (!ret.name.empty()) out += " " + ret.name;
  return out;
}

std::string returns_to_string(const std::vector<Return>& returns) {
  if (returns.size() == 1) return to_string(returns.front());
  std::string out = "(";
  for (size_t i = 0; i < returns.size(); ++i) {
    if (i > 0) out += ", ";
    out += to_string(returns[i]);
  }
  return out + ")";
}

std::string to_string(const FunctionSchema& schema) {
  std::string out = schema.qualified_name() + "(";
  bool keyword_part = false;
  for (size_t i = 0; i < schema.args.size(); ++i) {
    if (i > 0) out += ", ";
    if (schema.args[i].kwarg_only && !keyword_part) {
      out += "*, ";
      keyword_part = true;
    }
    out += to_string(schema.args[i]);
  }
  return out + ") -> " + returns_to_string(schema.returns);
}

}  // namespace tenon::schema
