#include <algorithm>
#include <cctype>
#include <map>

#include "codegen/expr/formulas/formula.h"
#include "codegen/load/entry_reader.h"
#include "codegen/load/loaders.h"
#include "codegen/meaning/defaults.h"
#include "codegen/meaning/expression.h"
#include "codegen/model/variants.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/parser.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/short_schema.h"

namespace tenon::codegen::detail {

namespace {

bool is_key(const YamlNode& key, std::string_view name) {
  return key.is_scalar() && trimmed(key.scalar).text == name;
}

// Reads `func` or `alias` first: other keys are understood in terms of the schema. Gives the
// schemas that it stands for; none where it is not understood.
std::vector<SourceString> read_schemas(Reader& reader, Dialect dialect, const YamlNode& entry,
                                       Location& place, BrokenNames& broken) {
  for (const auto& [key, value] : entry.entries) {
    const bool alias = dialect == Dialect::kTenon && is_key(*key, "alias");
    if (!alias && !is_key(*key, "func")) continue;
    place = key->location;
    std::optional<SourceString> text = reader.text(*value, alias ? "`alias`" : "`func`");
    if (!text) return {};
    std::vector<SourceString> all = {std::move(*text)};
    if (dialect == Dialect::kTenon) {
      const SourceString written = all.front();
      all = alternatives(written, reader.sink());
      if (all.empty()) broken.insert(written.text.substr(0, written.text.find_first_of(".(")));
    }
    return all;
  }
  // A misspelt `func` is reported as an unknown key, with the spelling that is meant.
  const bool misspelt =
      std::any_of(entry.entries.begin(), entry.entries.end(), [&](const auto& pair) {
        return pair.first->is_scalar() &&
               meant_key(trimmed(pair.first->scalar).text, dialect) == "func";
      });
  if (dialect == Dialect::kUpstream || !misspelt) {
    const RuleScope scope(reader.sink(), "missing_key");
    reader.sink().error(entry.location, "an entry needs `func`, its schema");
  }
  return {};
}

bool parse_schema(Reader& reader, Dialect dialect, const SourceString& written, Operator& op,
                  BrokenNames& broken) {
  op.schema_text = dialect == Dialect::kTenon ? with_tensor_options(written) : written;
  const std::string& text = op.schema_text.text;
  schema::ParseResult parsed = schema::parse_schema(text);
  reader.sink().report(op.schema_text, parsed.errors);
  if (!parsed.ok()) {
    broken.insert(trimmed({text.substr(0, text.find('(')), {}, {}}).text);
    return false;
  }
  op.schema = std::move(*parsed.schema);
  return true;
}

// What can be said of texts whose names nothing is known of.
void check_syntax(const YamlNode& value, const char* rule, Reader& reader) {
  if (value.is_scalar()) {
    const SourceString text = trimmed(value.scalar);
    const RuleScope scope(reader.sink(), rule);
    if (!text.text.empty()) report(text, expr::parse_formula(text.text).errors, reader.sink());
  }
  for (const YamlPtr& item : value.items) check_syntax(*item, rule, reader);
  for (const auto& [key, inner] : value.entries) check_syntax(*inner, rule, reader);
}

// What the entry does not say.
void complete(Operator& op) {
  if (!op.has_key("python_module") && (op.uses_tenon_keys() || op.is<AliasOf>())) {
    if (const std::string_view module = module_of(op.schema); !module.empty()) {
      op.python_module = {std::string(module), op.location};
    }
  }
  if (!op.has_key("variants")) {
    op.variants = default_variants(op);
    op.variants_location = op.location;
  }
  // Upstream's word for the out form of what returns new tensors.
  const bool functional = op.schema.kind() == schema::SchemaKind::kFunctional;
  const auto out = functional ? derive_out(op.schema, out_overload(op)) : std::nullopt;
  for (const LocatedName& name : op.autogen)
    op.variants.out |= out && out->qualified_name() == name.text;
}

// `define: name(a, b)`, and `as`.
void read_definition(Reader& reader, const YamlNode& entry, std::vector<Definition>& definitions) {
  Definition definition;
  bool understood = true;
  Location place = entry.location;
  reader.map(entry, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
    if (key.text == "define") {
      place = key.location;
      const std::optional<SourceString> text = reader.text(value, "`define`");
      if (!text) {
        understood = false;
        return;
      }
      const size_t open = text->text.find('('), close = text->text.size() - 1;
      understood = open != std::string::npos && text->text[close] == ')';
      if (understood) {
        definition.name = {trimmed({text->text.substr(0, open), {}, {}}).text, text->location};
        const SourceString inner = {
            text->text.substr(open + 1, close - open - 1), text->at(open + 1), {}};
        definition.parameters = split_names(inner);
        understood = is_name(definition.name.text) &&
                     std::all_of(definition.parameters.begin(), definition.parameters.end(),
                                 [](const LocatedName& p) { return is_name(p.text); });
      }
      if (!understood) {
        const RuleScope scope(reader.sink(), "definition_form");
        reader.sink().error(text->location, "`define` must be a name and its parameters, as "
                                            "`name(a, b)`, got `" +
                                                text->text + "`");
      }
    } else if (key.text == "as") {
      if (std::optional<SourceString> text = reader.text(value, "`as`")) {
        definition.body = std::move(*text);
      } else {
        understood = false;
      }
    } else {
      const RuleScope scope(reader.sink(), "definition_form");
      reader.sink().error(key.location,
                          "a definition has the keys `define` and `as`, got `" + key.text + "`",
                          schema::nearest(key.text, {"define", "as"}));
    }
  });
  if (understood && definition.body.text.empty()) {
    const RuleScope scope(reader.sink(), "missing_key");
    reader.sink().error(place, "`define` needs `as`, the expression that it stands for");
    return;
  }
  if (understood) definitions.push_back(std::move(definition));
}

}  // namespace

void load_operators(const YamlNode& root, Dialect dialect, DiagnosticSink& sink,
                    std::vector<Operator>& operators, std::vector<Operator>& unread,
                    BrokenNames& broken, std::vector<Definition>& definitions) {
  Reader reader(sink);
  for (const YamlPtr& entry : root.items) {
    if (!entry->is_map()) {
      reader.wrong_kind(*entry, "an entry", "a map with the key `func`");
      continue;
    }
    const auto defines = [&](const auto& pair) { return is_key(*pair.first, "define"); };
    if (dialect == Dialect::kTenon &&
        std::any_of(entry->entries.begin(), entry->entries.end(), defines)) {
      read_definition(reader, *entry, definitions);
      continue;
    }
    Location place = entry->location;
    std::vector<SourceString> schemas = read_schemas(reader, dialect, *entry, place, broken);
    const Alternative all = {0, std::max<size_t>(schemas.size(), 1)};
    const bool has_schema = !schemas.empty();
    if (!has_schema) schemas.emplace_back();
    for (size_t i = 0; i < all.count; ++i) {
      Operator op;
      op.location = place;
      const bool understood = has_schema && parse_schema(reader, dialect, schemas[i], op, broken);
      // The other keys are read even so: their own mistakes are reported in the same run.
      EntryReader entry_reader(reader, dialect, {i, all.count}, op);
      reader.map(*entry, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
        const bool needs_schema =
            key.text == "pointwise" || key.text == "composite" || key.text == "foreach";
        if (understood || !needs_schema) {
          entry_reader.read(key, value);
        } else if (i == 0) {
          check_syntax(value, key.text == "pointwise" ? "pointwise_expression" : "composition",
                       reader);
        }
      });
      entry_reader.finish(understood);
      if (!understood) {
        if (op.as<Rowwise>()) {
          const RuleScope scope(sink, "rowwise_expression");
          for (const NamedExpressions::Part& part : op.as<Rowwise>()->parts)
            report(part.expression, expr::parse_formula(part.expression.text).errors, sink);
        }
        if (i == 0) unread.push_back(std::move(op));
        continue;
      }
      if (dialect == Dialect::kTenon) {
        complete(op);
      } else if (!op.has_key("variants")) {
        op.variants.function = true;
      }
      operators.push_back(std::move(op));
    }
  }
}

}  // namespace tenon::codegen::detail
