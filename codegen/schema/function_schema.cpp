#include "codegen/schema/function_schema.h"

#include <array>

namespace tenon::schema {

namespace {

constexpr std::array<std::string_view, 12> kAugmented = {
    "add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or", "floordiv"};

bool is_augmented(std::string_view stem) {
  if (stem.empty() || stem.front() != 'i') return false;
  stem.remove_prefix(1);
  for (std::string_view name : kAugmented) {
    if (name == stem) return true;
  }
  return false;
}

std::string_view dunder_stem(std::string_view name) { return name.substr(2, name.size() - 4); }

}  // namespace

std::string_view to_string(SchemaKind kind) {
  constexpr std::array<std::string_view, 5> kNames = {"functional", "inplace", "out", "mutable",
                                                      "scratch"};
  return kNames[static_cast<size_t>(kind)];
}

std::string FunctionSchema::full_name() const {
  return overload.empty() ? name : name + "." + overload;
}

std::string FunctionSchema::qualified_name() const {
  return ns.empty() ? full_name() : ns + "::" + full_name();
}

bool FunctionSchema::is_dunder() const {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

bool FunctionSchema::is_inplace_name() const {
  if (is_dunder()) return is_augmented(dunder_stem(name));
  return name.size() > 1 && name.ends_with("_") && !name.ends_with("__");
}

std::string FunctionSchema::base_name() const {
  if (is_dunder()) {
    const std::string_view stem = dunder_stem(name);
    return std::string(is_augmented(stem) ? stem.substr(1) : stem);
  }
  return is_inplace_name() ? name.substr(0, name.size() - 1) : name;
}

SchemaKind FunctionSchema::kind() const {
  if (is_inplace_name()) return SchemaKind::kInplace;
  bool has_out = false, has_scratch = false, writes_positional = false;
  for (const Argument& arg : args) {
    if (!arg.is_mutable()) continue;
    if (arg.kwarg_only) {
      has_out = true;
      has_scratch = has_scratch || arg.name.starts_with("_scratch_");
    } else {
      writes_positional = true;
    }
  }
  if (has_scratch) return SchemaKind::kScratch;
  if (has_out) return SchemaKind::kOut;
  return writes_positional ? SchemaKind::kMutable : SchemaKind::kFunctional;
}

const Argument* FunctionSchema::self() const {
  const Argument* arg = find_arg("self");
  return arg != nullptr && !arg->kwarg_only ? arg : nullptr;
}

const Argument* FunctionSchema::find_arg(std::string_view arg_name) const {
  const int i = arg_index(arg_name);
  return i < 0 ? nullptr : &args[static_cast<size_t>(i)];
}

int FunctionSchema::arg_index(std::string_view arg_name) const {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i].name == arg_name) return static_cast<int>(i);
  }
  return -1;
}

std::vector<const Argument*> FunctionSchema::out_args() const {
  std::vector<const Argument*> out;
  for (const Argument& arg : args) {
    if (arg.kwarg_only && arg.is_mutable()) out.push_back(&arg);
  }
  return out;
}

std::vector<const Argument*> FunctionSchema::non_out_args() const {
  std::vector<const Argument*> in;
  for (const Argument& arg : args) {
    if (!arg.kwarg_only || !arg.is_mutable()) in.push_back(&arg);
  }
  return in;
}

size_t FunctionSchema::num_positional() const {
  size_t n = 0;
  while (n < args.size() && !args[n].kwarg_only) ++n;
  return n;
}

std::optional<size_t> FunctionSchema::tensor_options() const {
  for (size_t i = num_positional(); i + 4 <= args.size(); ++i) {
    if (args[i].name == "dtype" && args[i + 1].name == "layout" && args[i + 2].name == "device" &&
        args[i + 3].name == "pin_memory") {
      return i;
    }
  }
  return std::nullopt;
}

bool FunctionSchema::is_view() const {
  for (const Return& ret : returns) {
    if (ret.alias && !ret.alias->is_write) return true;
  }
  for (const Argument& arg : args) {
    if (arg.alias && arg.alias->after_wildcard) return true;
  }
  return false;
}

bool FunctionSchema::has_mutable_arg() const {
  for (const Argument& arg : args) {
    if (arg.is_mutable()) return true;
  }
  return false;
}

std::string FunctionSchema::return_name(size_t i) const {
  if (!returns[i].name.empty()) return returns[i].name;
  return returns.size() == 1 ? "result" : "result" + std::to_string(i);
}

int FunctionSchema::return_index(std::string_view wanted) const {
  for (size_t i = 0; i < returns.size(); ++i) {
    if (return_name(i) == wanted) return static_cast<int>(i);
  }
  return -1;
}

}  // namespace tenon::schema
