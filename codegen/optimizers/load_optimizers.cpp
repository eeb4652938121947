#include <algorithm>
#include <cctype>

#include "codegen/optimizers/check_optimizer.h"
#include "codegen/optimizers/optimizer.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen::optimizers {
namespace {

const std::vector<std::string> kKeys = {"optimizer", "extends", "group",  "check",
                                        "state",     "start",   "update", "lists"};

class EntryLoader {
 public:
  EntryLoader(const YamlNode& entry, DiagnosticSink& sink) : entry_(entry), reader_(sink) {}

  /// Nothing where there is no signature.
  std::optional<Optimizer> load() {
    bool has_signature = false;
    reader_.map(entry_, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
      if (key.text == "optimizer") has_signature = read_signature(value);
    });
    reader_.map(entry_, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
      read(key, value);
    });
    if (!has_signature) return std::nullopt;
    read_comment();
    return std::move(optimizer_);
  }

 private:
  DiagnosticSink& sink() { return reader_.sink(); }

  void error(const char* rule, const Location& place, const std::string& message,
             const std::string& suggestion = "") {
    const RuleScope scope(sink(), rule);
    sink().error(place, message, suggestion);
  }

  bool read_signature(const YamlNode& value) {
    std::optional<SourceString> text = reader_.text(value, "`optimizer`");
    if (!text) return false;
    // It has the grammar of a schema, and returns nothing.
    schema::ParseResult parsed = schema::parse_schema(text->text + " -> ()");
    sink().report(*text, parsed.errors);
    if (!parsed.ok()) return false;
    optimizer_.schema = std::move(*parsed.schema);
    optimizer_.schema_text = std::move(*text);
    return true;
  }

  void read(const LocatedName& key, const YamlNode& value) {
    if (key.text == "optimizer") return;
    if (key.text == "extends") {
      read_base(value);
    } else if (key.text == "group") {
      for (const LocatedName& name : reader_.names(value, "`group`"))
        optimizer_.group.push_back(name.text);
    } else if (key.text == "check") {
      read_checks(value);
    } else if (key.text == "state") {
      read_states(value);
    } else if (key.text == "start") {
      const auto name = reader_.name(value, "`start`");
      if (name && reader_.word(*name, {"construction"}, "`start`"))
        optimizer_.starts_at_construction = true;
    } else if (key.text == "update") {
      if (const auto text = reader_.text(value, "`update`"))
        optimizer_.update = parse_statements(*text, sink());
    } else if (key.text == "lists") {
      if (const auto text = reader_.text(value, "`lists`"))
        optimizer_.lists = parse_expression(*text, sink());
    } else {
      error("known_key", key.location, "unknown key `" + key.text + "`",
            schema::nearest(key.text, kKeys));
    }
  }

  /// `Name(option=value, ...)`, as the defaults of a schema are written.
  void read_base(const YamlNode& value) {
    const auto text = reader_.text(value, "`extends`");
    if (!text) return;
    const size_t open = text->text.find('(');
    optimizer_.base = text->text.substr(0, open);
    if (open == std::string::npos) return;
    for (const LocatedName& part :
         detail::split_names(detail::slice(*text, open + 1, text->text.size()))) {
      std::string given = part.text;
      if (given.ends_with(")")) given.pop_back();
      const size_t equal = given.find('=');
      if (equal == std::string::npos) {
        error("optimizer_form", part.location, "expected `option=value`, got `" + given + "`");
        continue;
      }
      optimizer_.fixed.emplace_back(given.substr(0, equal), given.substr(equal + 1));
    }
  }

  void read_checks(const YamlNode& value) {
    if (!value.is_map())
      return reader_.wrong_kind(value, "`check`", "a map of conditions to texts");
    for (const auto& [condition, message] : value.entries) {
      const auto text = reader_.text(*message, "the message of a check");
      auto parsed = parse_expression(condition->scalar, sink());
      if (text && parsed) optimizer_.checks.push_back({std::move(*parsed), text->text});
    }
  }

  void read_states(const YamlNode& value) {
    if (!value.is_map()) return reader_.wrong_kind(value, "`state`", "a map of names");
    reader_.map(value, [&](const LocatedName& name, const YamlNode&, const YamlNode& init) {
      StateItem item;
      item.name = name;
      if (!init.is_map()) {
        read_init(init, item);
      } else {
        reader_.map(init, [&](const LocatedName& key, const YamlNode&, const YamlNode& part) {
          if (key.text == "init") return read_init(part, item);
          if (key.text == "when") {
            if (const auto text = reader_.text(part, "`when`"))
              item.when = parse_expression(*text, sink());
            return;
          }
          error("known_key", key.location, "unknown key `" + key.text + "`",
                schema::nearest(key.text, {"init", "when"}));
        });
      }
      optimizer_.states.push_back(std::move(item));
    });
  }

  /// `zeros`, `full(value)`, or a number.
  void read_init(const YamlNode& value, StateItem& item) {
    const auto text = reader_.text(value, "the start of a state");
    if (!text) return;
    if (item.name.text == "step") {
      item.kind = StateItem::Kind::kStep;
      if (text->text != "0") error("optimizer_form", text->location, "`step` starts at 0");
      return;
    }
    if (text->text == "zeros") return;
    auto parsed = parse_expression(*text, sink());
    if (!parsed) return;
    if (parsed->kind == Expr::Kind::kCall && parsed->text == "full" &&
        parsed->operands.size() == 1) {
      item.init = std::move(parsed->operands[0]);
      return;
    }
    item.kind = StateItem::Kind::kNumber;
    item.init = std::move(parsed);
  }

  void read_comment() {
    const SourceFile& file = *entry_.location.file;
    uint32_t line = entry_.location.line;
    while (line > 1 && file.line(line - 1).starts_with("#")) --line;
    for (; line < entry_.location.line; ++line) {
      const std::string_view text = file.line(line);
      optimizer_.comment.emplace_back(text.substr(std::min<size_t>(2, text.size())));
    }
  }

  const YamlNode& entry_;
  detail::Reader reader_;
  Optimizer optimizer_;
};

/// What an entry that extends another one has of it.
void inherit(Optimizer& one, const std::vector<Optimizer>& before, DiagnosticSink& sink) {
  std::vector<std::string> names;
  for (const Optimizer& other : before) {
    names.push_back(other.name());
    if (other.name() != one.base) continue;
    one.checks = other.checks;
    one.states = other.states;
    one.update = other.update;
    one.starts_at_construction = other.starts_at_construction;
    return;
  }
  const RuleScope scope(sink, "optimizer_name");
  sink.error(one.schema_text.location, "`extends` names no optimizer above: `" + one.base + "`",
             schema::nearest(one.base, names));
}

}  // namespace

std::string Optimizer::module_of(std::string name) {
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return name;
}

const StateItem* Optimizer::state(const std::string& name) const {
  const auto found = std::find_if(states.begin(), states.end(),
                                  [&](const StateItem& item) { return item.name.text == name; });
  return found == states.end() ? nullptr : &*found;
}

const Statement* Optimizer::call() const {
  for (const Statement& one : update)
    if (one.target.empty()) return &one;
  return nullptr;
}

bool is_switch(const std::string& option) {
  return option == "foreach" || option == "fused" || option == "capturable" ||
         option == "differentiable";
}

const Operator* find_operator(const Model& model, const std::string& name) {
  for (const Operator& op : model.operators())
    if (op.name() == name) return &op;
  return nullptr;
}

const std::vector<std::string>& optimizer_keys() { return kKeys; }

std::vector<Optimizer> load_optimizers(const std::string& path, const Model& model,
                                       DiagnosticSink& sink) {
  const SourceFile* file = sink.sources().open(path);
  if (file != nullptr) return load_optimizers(*file, model, sink);
  const RuleScope scope(sink, "unreadable_file");
  sink.error({}, "cannot read `" + path + "`");
  return {};
}

std::vector<Optimizer> load_optimizers(const SourceFile& file, const Model& model,
                                       DiagnosticSink& sink) {
  std::vector<Optimizer> all;
  const YamlPtr root = parse_yaml(file, sink);
  if (root == nullptr) return all;
  detail::Reader reader(sink);
  if (!root->is_sequence()) {
    reader.wrong_kind(*root, "the file", "a list of entries");
    return all;
  }
  for (const YamlPtr& entry : root->items) {
    if (!entry->is_map()) {
      reader.wrong_kind(*entry, "an entry", "a map with the key `optimizer`");
      continue;
    }
    const size_t errors = sink.num_errors();
    std::optional<Optimizer> one = EntryLoader(*entry, sink).load();
    if (!one) {
      const RuleScope scope(sink, "missing_key");
      if (sink.num_errors() == errors)
        sink.error(entry->location, "an entry of the optimizers needs `optimizer`");
      continue;
    }
    if (!one->base.empty()) inherit(*one, all, sink);
    // What could not be read says nothing of what is right.
    if (sink.num_errors() == errors) check_optimizer(*one, model, sink);
    all.push_back(std::move(*one));
  }
  return all;
}

}  // namespace tenon::codegen::optimizers
