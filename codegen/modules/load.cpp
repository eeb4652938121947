#include <algorithm>

#include "codegen/modules/entry.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen::modules {
namespace {

using detail::Reader;

const std::vector<std::string> kModuleKeys = {
    "module",  "dims",     "calls", "parameters", "buffers",     "modules", "check",
    "repr",    "repr_cpp", "words", "defaults",   "expand",      "names",   "legacy",
    "extends", "version",  "only",  "holder",     "forward(...)"};
const std::vector<std::string> kFunctionKeys = {"function",   "dims",  "as",      "options",
                                                "positional", "words", "defaults"};

/// Of entries for one, two and three dimensions: the text for `digit` of them, in place of `#`.
SourceString with_dims(SourceString text, char digit) {
  if (digit) std::replace(text.text.begin(), text.text.end(), '#', digit);
  return text;
}

/// The comment above an entry, without its signs.
std::string comment_above(const Location& place) {
  std::string text;
  uint32_t line = place.line;
  while (line > 1 && place.file->line(line - 1).find_first_not_of(' ') != std::string_view::npos) {
    const std::string_view before = place.file->line(line - 1);
    const size_t begin = before.find_first_not_of(' ');
    if (before[begin] != '#') break;
    std::string_view part = before.substr(begin + 1);
    if (part.starts_with(' ')) part.remove_prefix(1);
    text = std::string(part) + (text.empty() ? "" : "\n" + text);
    --line;
  }
  return text;
}

class Loader {
 public:
  Loader(DiagnosticSink& sink) : sink_(sink), reader_(sink) {}

  Declarations load(const YamlNode& root) {
    Declarations all;
    if (!root.is_map()) {
      reader_.wrong_kind(root, "modules.yaml", "a map of families");
      return all;
    }
    reader_.map(root, [&](const LocatedName& name, const YamlNode&, const YamlNode& entries) {
      Family family{name, {}, {}};
      if (!entries.is_sequence())
        return reader_.wrong_kind(entries, "a family", "a list of entries");
      for (const YamlPtr& entry : entries.items) load_entry(*entry, family);
      all.families.push_back(std::move(family));
    });
    return all;
  }

 private:
  struct Keys {
    std::optional<SourceString> signature;
    bool is_module = false;
    Location location;
    std::vector<std::pair<LocatedName, const YamlNode*>> others;
  };

  void load_entry(const YamlNode& node, Family& family) {
    if (!node.is_map())
      return reader_.wrong_kind(node, "an entry", "a map with the key `module` or `function`");
    Keys keys;
    std::string dims(1, '\0');
    keys.location = node.location;
    reader_.map(node, [&](const LocatedName& key, const YamlNode& key_node, const YamlNode& value) {
      if (key.text == "module" || key.text == "function") {
        keys.is_module = key.text == "module";
        keys.signature = reader_.text(value, "`" + key.text + "`");
        keys.location = key_node.location;
      } else if (key.text == "dims") {
        dims.clear();
        for (const LocatedName& digit : reader_.names(value, "`dims`")) dims += digit.text[0];
      } else {
        keys.others.emplace_back(key, &value);
      }
    });
    if (!keys.signature) {
      sink_.error(node.location, "an entry needs the key `module` or `function`");
      return;
    }
    for (const char digit : dims) {
      digit_ = digit;
      if (keys.is_module) {
        load_module(keys, family);
      } else {
        load_function(keys, family);
      }
    }
  }

  std::optional<SourceString> text(const YamlNode& node, const std::string& what) {
    std::optional<SourceString> read = reader_.text(node, what);
    if (read) *read = with_dims(std::move(*read), digit_);
    return read;
  }

  std::vector<LocatedName> names(const YamlNode& node, const std::string& what) {
    std::vector<LocatedName> read = reader_.names(node, what);
    for (LocatedName& name : read) {
      if (digit_) std::replace(name.text.begin(), name.text.end(), '#', digit_);
    }
    return read;
  }

  std::optional<Expression> expression(SourceString text) {
    expr::FormulaResult result = expr::parse_formula(text.text);
    for (const expr::ExprError& error : result.errors) {
      sink_.error(text.at(error.offset), error.message, error.suggestion);
    }
    if (!result.complete) return std::nullopt;
    return Expression{std::move(text), std::move(result.formula)};
  }

  std::optional<Expression> expression(const YamlNode& node, const std::string& what) {
    std::optional<SourceString> read = text(node, what);
    return read ? expression(std::move(*read)) : std::nullopt;
  }

  std::vector<Expression> expressions(const YamlNode& node, const std::string& what) {
    std::vector<Expression> all;
    const auto add = [&](const YamlNode& one) {
      if (auto read = expression(one, what)) all.push_back(std::move(*read));
    };
    if (node.is_sequence()) {
      for (const YamlPtr& item : node.items) add(*item);
    } else {
      add(node);
    }
    return all;
  }

  std::string comment(const Location& place) {
    std::string text = comment_above(place);
    if (digit_) std::replace(text.begin(), text.end(), '#', digit_);
    return text;
  }

  /// Of a text that may lack `-> returns`.
  std::optional<schema::FunctionSchema> signature(SourceString text, const std::string& returns) {
    if (text.text.find("->") == std::string::npos) text.text += " -> " + returns;
    schema::ParseResult parsed = schema::parse_schema(text.text);
    sink_.report(text, parsed.errors);
    return parsed.errors.empty() ? std::move(parsed.schema) : std::nullopt;
  }

  std::vector<Argument> arguments_of(const schema::FunctionSchema& schema) {
    std::vector<Argument> all;
    for (const schema::Argument& argument : schema.args) {
      Argument one{argument, {}, {}, false, argument.name};
      if (argument.name == "reduction" && argument.type.base == schema::BaseType::kStr)
        one.words = {"none", "mean", "sum"};
      all.push_back(std::move(one));
    }
    return all;
  }

  Argument* find(std::vector<Argument>& arguments, const LocatedName& name,
                 const std::string& what) {
    std::vector<std::string> known;
    for (Argument& argument : arguments) {
      if (argument.name() == name.text) return &argument;
      known.push_back(argument.name());
    }
    sink_.error(name.location, what + " names `" + name.text + "`, which is no argument",
                schema::nearest(name.text, known));
    return nullptr;
  }

  /// `names: {p: norm, input: x}`: Python's names of arguments' attributes, and of the tensors that
  /// forward takes for the function that it calls.
  void read_names(const YamlNode& value, Module& module) {
    if (!value.is_map()) return reader_.wrong_kind(value, "`names`", "a map of arguments");
    reader_.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& said) {
      auto read = text(said, "`names`");
      if (!read) return;
      for (Argument& argument : module.arguments) {
        if (argument.name() == name.text) {
          argument.attribute = read->text;
          return;
        }
      }
      module.forward_names.emplace_back(name, read->text);
    });
  }

  /// The keys that say more of arguments; false: it is another one.
  bool read_about_arguments(const LocatedName& key, const YamlNode& value,
                            std::vector<Argument>& arguments) {
    if (key.text == "words" || key.text == "defaults" || key.text == "legacy") {
      if (!value.is_map()) {
        reader_.wrong_kind(value, "`" + key.text + "`", "a map of arguments");
        return true;
      }
      reader_.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& said) {
        Argument* argument = find(arguments, name, "`" + key.text + "`");
        if (!argument) return;
        const std::vector<LocatedName> words = names(said, "`" + key.text + "`");
        if (words.empty()) return;
        if (key.text == "words") {
          argument->words.clear();
          for (const LocatedName& word : words) argument->words.push_back(word.text);
        } else if (key.text == "defaults") {
          if (find(arguments, words[0], "`defaults`")) argument->fallback = words[0].text;
        } else {
          if (find(arguments, words[0], "`legacy`")) argument->replaced_by = words[0].text;
        }
      });
      return true;
    }
    if (key.text != "expand") return false;
    for (const LocatedName& name : names(value, "`expand`")) {
      if (Argument* argument = find(arguments, name, "`expand`")) argument->expand = true;
    }
    return true;
  }

  void load_function(const Keys& keys, Family& family) {
    const SourceString text = with_dims(*keys.signature, digit_);
    auto schema = signature(text, "Tensor");
    if (!schema) return;
    Function function{text, *schema, arguments_of(*schema), comment(keys.location), {}, false, {}};
    for (const auto& [key, value] : keys.others) {
      if (key.text == "as") {
        function.body = expression(*value, "`as`");
      } else if (key.text == "positional") {
        function.positional = reader_.boolean(*value, "`positional`").value_or(false);
      } else if (key.text == "options") {
        if (auto name = this->text(*value, "`options`")) function.options = name->text;
      } else if (!read_about_arguments(key, *value, function.arguments)) {
        unknown_key(key, kFunctionKeys);
      }
    }
    family.functions.push_back(std::move(function));
  }

  void load_module(const Keys& keys, Family& family) {
    const SourceString text = with_dims(*keys.signature, digit_);
    auto schema = signature(text, "()");
    if (!schema) return;
    Module module;
    module.name = schema->name;
    module.signature_text = text;
    module.location = keys.location;
    module.comment = comment(keys.location);
    module.arguments = arguments_of(*schema);
    for (const auto& [key, value] : keys.others) read_module_key(key, *value, module);
    if (!module.forward && module.calls.empty()) {
      sink_.error(keys.location, "module `" + module.name + "` needs `calls` or `forward(...)`");
    }
    check_members(module);
    family.modules.push_back(std::move(module));
  }

  /// Of a name that every module has the class would have two.
  void check_members(const Module& module) {
    static const std::vector<std::string> kTaken = {"apply",
                                                    "buffers",
                                                    "children",
                                                    "clone",
                                                    "eval",
                                                    "forward",
                                                    "is_training",
                                                    "load",
                                                    "modules",
                                                    "name",
                                                    "named_parameters",
                                                    "options",
                                                    "parameters",
                                                    "reset",
                                                    "save",
                                                    "self",
                                                    "state_dict",
                                                    "to",
                                                    "train",
                                                    "training",
                                                    "zero_grad"};
    std::vector<LocatedName> seen;
    const auto check = [&](const LocatedName& name) {
      if (std::find(kTaken.begin(), kTaken.end(), name.text) != kTaken.end())
        sink_.error(name.location,
                    "every module has a member `" + name.text + "`; choose another name");
      for (const LocatedName& other : seen) {
        if (other.text == name.text)
          sink_.error(name.location, "`" + name.text + "` is declared twice");
      }
      seen.push_back(name);
    };
    for (const State& state : module.parameters) check(state.name);
    for (const State& state : module.buffers) check(state.name);
    for (const Submodule& submodule : module.submodules) {
      check(submodule.name);
      if (module.find(submodule.name.text))
        sink_.error(submodule.name.location,
                    "`" + submodule.name.text + "` is an argument of the module too");
    }
  }

  void read_module_key(const LocatedName& key, const YamlNode& value, Module& module) {
    const std::string what = "`" + key.text + "`";
    if (key.text.starts_with("forward")) {
      read_forward(key, value, module);
    } else if (key.text == "calls") {
      if (auto read = text(value, what)) module.calls = read->text;
    } else if (key.text == "parameters") {
      read_state(value, what, module.parameters);
    } else if (key.text == "buffers") {
      read_state(value, what, module.buffers);
    } else if (key.text == "modules") {
      read_submodules(value, module);
    } else if (key.text == "check") {
      module.checks = expressions(value, what);
    } else if (key.text == "repr") {
      module.shown = shown(value, what);
    } else if (key.text == "repr_cpp") {
      module.shown_cpp = shown(value, what);
    } else if (key.text == "names") {
      read_names(value, module);
    } else if (key.text == "extends") {
      read_bases(value, module);
    } else if (key.text == "version") {
      if (auto read = text(value, what)) module.version = std::stoll(read->text);
    } else if (key.text == "only") {
      if (auto read = text(value, what)) {
        module.cpp = read->text == "cpp";
        module.python = !module.cpp;
      }
    } else if (key.text == "holder") {
      module.holder = false;
    } else if (!read_about_arguments(key, value, module.arguments)) {
      unknown_key(key, kModuleKeys);
    }
  }

  void read_bases(const YamlNode& value, Module& module) {
    const auto python = [&](const std::string& base) {  // `Name` or `Name(arguments)`
      const size_t bracket = base.find('(');
      module.python_base = base.substr(0, bracket);
      if (bracket == base.npos) return;
      module.python_base_arguments = base.substr(bracket + 1, base.rfind(')') - bracket - 1);
    };
    if (!value.is_map()) {
      if (auto read = text(value, "`extends`")) python(read->text);
      return;
    }
    reader_.map(value, [&](const LocatedName& language, const YamlNode&, const YamlNode& base) {
      auto read = text(base, "`extends`");
      if (!read) return;
      if (language.text == "python") {
        python(read->text);
      } else if (language.text == "cpp") {
        module.cpp_base = read->text;
      } else {
        unknown_key(language, {"python", "cpp"});
      }
    });
  }

  void read_forward(const LocatedName& key, const YamlNode& value, Module& module) {
    SourceString text{key.text, key.location, {}};
    auto schema = signature(with_dims(std::move(text), digit_), "Tensor");
    auto body = expression(value, "`forward`");
    if (schema && body) {
      module.forward = Forward{arguments_of(*schema), schema->returns, std::move(*body)};
    }
  }

  /// `weight: {size: [a, b], init: ones_(), when: affine}`, or `weight: argument`.
  void read_state(const YamlNode& value, const std::string& what, std::vector<State>& states) {
    if (!value.is_map()) return reader_.wrong_kind(value, what, "a map of names");
    reader_.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& said) {
      State state{name, {}, {}, {}, {}, {}};
      if (!said.is_map()) {
        if (auto argument = text(said, what)) state.given = argument->text;
        states.push_back(std::move(state));
        return;
      }
      reader_.map(said, [&](const LocatedName& key, const YamlNode&, const YamlNode& node) {
        if (key.text == "size") {
          state.sizes = expressions(node, "`size`");
        } else if (key.text == "init") {
          state.init = expressions(node, "`init`");
        } else if (key.text == "when") {
          state.when = expression(node, "`when`");
        } else if (key.text == "given") {
          if (auto argument = text(node, "`given`")) state.given = argument->text;
        } else if (key.text == "dtype") {
          if (auto dtype = text(node, "`dtype`")) state.dtype = dtype->text;
        } else {
          unknown_key(key, {"size", "init", "when", "given", "dtype"});
        }
      });
      states.push_back(std::move(state));
    });
  }

  /// `up: Linear(dim, hidden, bias=false)`.
  void read_submodules(const YamlNode& value, Module& module) {
    if (!value.is_map()) return reader_.wrong_kind(value, "`modules`", "a map of names");
    reader_.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& said) {
      std::optional<SourceString> read = text(said, "`modules`");
      if (!read) return;
      const size_t open = read->text.find('(');
      const bool is_call = open != std::string::npos && open > 0 && read->text.back() == ')';
      if (!is_call || read->text.find_first_not_of(kNameSigns) != open) {
        sink_.error(read->location, "a submodule is a module with its arguments, as `Linear(dim, "
                                    "hidden, bias=false)`");
        return;
      }
      Submodule submodule{name, {read->text.substr(0, open), read->location}, {}};
      for (const auto& [begin, end] : parts_of(read->text, open + 1, read->text.size() - 1))
        read_value(*read, begin, end, submodule);
      module.submodules.push_back(std::move(submodule));
    });
  }

  static constexpr const char* kNameSigns =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

  /// Begin and end of what commas outside of brackets and texts separate.
  static std::vector<std::pair<size_t, size_t>> parts_of(const std::string& text, size_t begin,
                                                         size_t end) {
    std::vector<std::pair<size_t, size_t>> parts;
    int depth = 0;
    bool quoted = false;
    for (size_t i = begin; i < end; ++i) {
      const char c = text[i];
      if (c == '"') quoted = !quoted;
      if (quoted) continue;
      depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
      if (c != ',' || depth != 0) continue;
      parts.emplace_back(begin, i);
      begin = i + 1;
    }
    if (text.find_first_not_of(' ', begin) < end) parts.emplace_back(begin, end);
    return parts;
  }

  /// One argument of a submodule, `name=value` or `value`.
  void read_value(const SourceString& all, size_t begin, size_t end, Submodule& submodule) {
    begin = all.text.find_first_not_of(' ', begin);
    LocatedName argument;
    const size_t equals = all.text.find_first_not_of(kNameSigns, begin);
    if (equals < end && all.text[equals] == '=' && all.text[equals + 1] != '=') {
      argument = {all.text.substr(begin, equals - begin), all.at(begin)};
      begin = equals + 1;
    }
    // The expression keeps its place: what is before it is blank.
    SourceString part = all;
    part.text = std::string(begin, ' ') + all.text.substr(begin, end - begin);
    if (auto value = expression(std::move(part)))
      submodule.values.push_back({std::move(argument), std::move(*value)});
  }

  /// `in_features, =normalized_shape, inplace?, approximate!`.
  std::vector<ShownPart> shown(const YamlNode& value, const std::string& what) {
    std::vector<ShownPart> parts;
    for (LocatedName name : names(value, what)) {
      ShownPart part;
      if (name.text.starts_with('=')) {
        part.bare = true;
        name.text.erase(0, 1);
      }
      for (; name.text.ends_with('?') || name.text.ends_with('!'); name.text.pop_back()) {
        (name.text.back() == '?' ? part.if_changed : part.represented) = true;
      }
      part.name = name.text;
      parts.push_back(std::move(part));
    }
    return parts;
  }

  void unknown_key(const LocatedName& key, const std::vector<std::string>& known) {
    const RuleScope scope(sink_, "known_key");
    sink_.error(key.location, "unknown key `" + key.text + "`", schema::nearest(key.text, known));
  }

  DiagnosticSink& sink_;
  Reader reader_;
  char digit_ = '\0';
};

}  // namespace

const std::vector<std::string>& module_keys() { return kModuleKeys; }
const std::vector<std::string>& function_keys() { return kFunctionKeys; }

const Argument* Module::find(std::string_view argument) const {
  for (const Argument& one : arguments) {
    if (one.name() == argument) return &one;
  }
  return nullptr;
}

const State* Module::find_state(std::string_view state) const {
  for (const auto* states : {&parameters, &buffers}) {
    for (const State& one : *states) {
      if (one.name.text == state) return &one;
    }
  }
  return nullptr;
}

const State* Module::find_buffer(std::string_view buffer) const {
  for (const State& one : buffers) {
    if (one.name.text == buffer) return &one;
  }
  return nullptr;
}

const Submodule* Module::find_submodule(std::string_view submodule) const {
  for (const Submodule& one : submodules) {
    if (one.name.text == submodule) return &one;
  }
  return nullptr;
}

const Family* Declarations::family_of(std::string_view name) const {
  for (const Family& family : families) {
    for (const Function& one : family.functions) {
      if (one.name() == name) return &family;
    }
    for (const Module& one : family.modules) {
      if (one.name == name) return &family;
    }
  }
  return nullptr;
}

const Module* Declarations::find_module(std::string_view name) const {
  const Module* found = nullptr;
  for (const Family& family : families) {
    for (const Module& module : family.modules) {
      // Of two with one name, one for each language, C++'s says what there is.
      if (module.name == name && (!found || module.cpp)) found = &module;
    }
  }
  return found || !base ? found : base->find_module(name);
}

bool Declarations::declares(std::string_view function) const {
  for (const Family& family : families) {
    for (const Function& one : family.functions) {
      if (one.name() == function) return true;
    }
  }
  return false;
}

const Function* Declarations::find_function(std::string_view name) const {
  for (const Family& family : families) {
    for (const Function& function : family.functions) {
      if (function.name() == name) return &function;
    }
  }
  return base ? base->find_function(name) : nullptr;
}

Declarations load(const std::string& path, DiagnosticSink& sink) {
  const SourceFile* file = sink.sources().open(path);
  if (!file) {
    sink.error({}, path + ": there is no such file");
    return {};
  }
  const YamlPtr root = parse_yaml(*file, sink);
  return root ? Loader(sink).load(*root) : Declarations{};
}

}  // namespace tenon::codegen::modules
