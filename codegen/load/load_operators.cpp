#include <algorithm>
#include <cctype>
#include <map>

#include "codegen/expr/formulas/formula.h"
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

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

/// The key that is meant by one that is none; maybe "".
std::string meant_key(const std::string& key, Dialect dialect) {
  constexpr schema::ForeignWord kForeign[] = {
      {"function", "func"}, {"schema", "func"}, {"name", "func"}, {"op", "func"}};
  return schema::suggest(key, operator_keys(dialect), kForeign);
}

/// Which of the operators that an entry stands for.
struct Alternative {
  size_t index = 0, count = 1;
};

// Fills one Operator from the keys of its entry; one member function per key.
class EntryReader {
 public:
  EntryReader(Reader& reader, Dialect dialect, Alternative which, Operator& op)
      : reader_(reader), dialect_(dialect), which_(which), op_(op) {}

  void read(const LocatedName& key, const YamlNode& value) {
    if (is_left_out(key, value)) return;
    op_.keys.push_back(key);
    const auto handler = handlers().find(key.text);
    if (handler != handlers().end()) {
      what_ = "`" + key.text + "`";
      (this->*handler->second)(value);
    } else if (key.text != "func" && key.text != "alias") {
      unknown(key);
    }
  }

 private:
  using Handler = void (EntryReader::*)(const YamlNode&);

  static const std::map<std::string_view, Handler>& handlers() {
    static const std::map<std::string_view, Handler> table = {
        {"variants", &EntryReader::variants},
        {"of", &EntryReader::one_name<&Operator::alias_of>},
        {"dispatch", &EntryReader::dispatch},
        {"pointwise", &EntryReader::pointwise},
        {"dtypes", &EntryReader::dtypes},
        {"rowwise", &EntryReader::rowwise},
        {"over", &EntryReader::over},
        {"rows", &EntryReader::row_operands<&RowwiseSpec::rows>},
        {"columns", &EntryReader::row_operands<&RowwiseSpec::columns>},
        {"keepdim", &EntryReader::keepdim},
        {"promote", &EntryReader::promote},
        {"check", &EntryReader::one_name<&Operator::check>},
        {"composite", &EntryReader::composite},
        {"foreach", &EntryReader::foreach_expression},
        {"structured", &EntryReader::structured},
        {"structured_delegate", &EntryReader::one_name<&Operator::structured_delegate>},
        {"structured_inherits", &EntryReader::one_name<&Operator::structured_inherits>},
        {"precomputed", &EntryReader::precomputed},
        {"ufunc_inner_loop", &EntryReader::ufunc_inner_loop},
        {"non_differentiable", &EntryReader::flag<&Operator::non_differentiable>},
        {"out_name", &EntryReader::one_name<&Operator::out_name>},
        {"tags", &EntryReader::name_list<&Operator::tags>},
        {"autogen", &EntryReader::name_list<&Operator::autogen>},
        {"cpp_no_default_args", &EntryReader::name_list<&Operator::cpp_no_default_args>},
        {"python_module", &EntryReader::one_name<&Operator::python_module>},
        {"category_override", &EntryReader::one_name<&Operator::category_override>},
        {"device_check", &EntryReader::device_check},
        {"device_guard", &EntryReader::flag<&Operator::device_guard>},
        {"manual_cpp_binding", &EntryReader::flag<&Operator::manual_cpp_binding>},
        {"manual_kernel_registration", &EntryReader::flag<&Operator::manual_kernel_registration>},
        {"use_const_ref_for_mutable_tensors",
         &EntryReader::flag<&Operator::use_const_ref_for_mutable_tensors>},
    };
    return table;
  }

  void unknown(const LocatedName& key) {
    const RuleScope scope(reader_.sink(), "known_key");
    const std::string message = "unknown key `" + key.text + "`";
    const std::string suggestion = meant_key(key.text, dialect_);
    if (dialect_ == Dialect::kUpstream) {
      reader_.sink().warning(key.location, message, suggestion);
    } else {
      reader_.sink().error(key.location, message, suggestion);
    }
  }

  template <bool Operator::*member>
  void flag(const YamlNode& value) {
    if (std::optional<bool> read = reader_.boolean(value, what_)) op_.*member = *read;
  }

  template <std::optional<LocatedName> Operator::*member>
  void one_name(const YamlNode& value) {
    const std::optional<SourceString> text = reader_.text(value, what_);
    if (!text) return;
    if (const auto one = alternative(*text, which_.index, which_.count, what_, reader_.sink())) {
      op_.*member = LocatedName{one->text, one->location};
    }
  }

  // An empty alternative, "a|", is a key that the other operator has.
  bool is_left_out(const LocatedName& key, const YamlNode& value) {
    constexpr std::string_view kNames[] = {"check", "of", "out_name"};
    if (which_.count == 1 || !value.is_scalar() ||
        std::find(std::begin(kNames), std::end(kNames), key.text) == std::end(kNames)) {
      return false;
    }
    DiagnosticSink reported;  // by one_name
    const auto one = alternative(trimmed(value.scalar), which_.index, which_.count, "", reported);
    return one && one->empty() && !trimmed(value.scalar).empty();
  }

  template <std::vector<LocatedName> Operator::*member>
  void name_list(const YamlNode& value) {
    op_.*member = reader_.names(value, what_);
  }

  void variants(const YamlNode& value) {
    op_.variants_location = value.location;
    VariantSet set;
    for (const LocatedName& name : reader_.names(value, what_)) {
      const std::optional<size_t> word =
          reader_.word(name, variant_words(dialect_), "each of `variants`");
      if (!word) continue;
      bool VariantSet::*const members[] = {&VariantSet::function, &VariantSet::method,
                                           &VariantSet::inplace, &VariantSet::out};
      set.*members[*word] = true;
    }
    op_.variants = set;
  }

  // Backends by their names; kernel_name() says what their kernels are called.
  void backends(const YamlNode& value) {
    op_.names_backends = true;
    const std::vector<LocatedName> keys = reader_.names(value, what_);
    if (keys.empty() && (value.is_sequence() || value.is_scalar())) {
      const RuleScope scope(reader_.sink(), "value_form");
      reader_.sink().error(value.location, what_ + " names no backend");
    }
    for (const LocatedName& key : keys) {
      op_.dispatch.push_back(
          {key.text, kernel_name(op_.schema, key.text), {}, key.location, key.location});
    }
  }

  void structured(const YamlNode& value) {
    std::vector<LocatedName> names;
    if (value.is_scalar()) names = split_names(value.scalar);
    const auto& keys = dispatch_keys(dialect_);
    const bool one_backend = names.size() == 1 && (contains(keys, names[0].text) ||
                                                   !schema::nearest(names[0].text, keys).empty());
    const bool is_list = value.is_sequence() || names.size() > 1 || one_backend;
    if (dialect_ == Dialect::kUpstream || !is_list) {
      flag<&Operator::structured>(value);
      return;
    }
    op_.structured = true;
    backends(value);
  }

  void dispatch(const YamlNode& value) {
    if (!value.is_map() && dialect_ == Dialect::kTenon) {
      backends(value);
      return;
    }
    if (!value.is_map()) {
      reader_.wrong_kind(value, what_, "a map of backends to kernels, as {CPU: foo_cpu}");
      return;
    }
    reader_.map(value, [&](const LocatedName& keys, const YamlNode& key, const YamlNode& kernel) {
      std::optional<LocatedName> name = reader_.name(kernel, "the kernel of `" + keys.text + "`");
      if (!name) return;
      DispatchEntry entry;
      entry.kernel_location = name->location;
      const size_t colons = name->text.rfind("::");
      entry.kernel = colons == std::string::npos ? name->text : name->text.substr(colons + 2);
      if (colons != std::string::npos) entry.kernel_namespace = name->text.substr(0, colons);
      for (const LocatedName& one : split_names(key.scalar)) {
        entry.key = one.text;
        entry.key_location = one.location;
        op_.dispatch.push_back(entry);
      }
    });
  }

  void pointwise(const YamlNode& value) {
    if (op_.schema.has_mutable_arg() && !op_.schema.is_out()) {
      read_named(value, reader_, "pointwise", op_.update.emplace());
    } else {
      op_.pointwise = read_pointwise(value, reader_, op_.schema);
    }
  }

  void dtypes(const YamlNode& value) {
    const std::vector<LocatedName> names = reader_.names(value, what_);
    if (names.empty() && (value.is_sequence() || value.is_scalar())) {
      const RuleScope scope(reader_.sink(), "value_form");
      reader_.sink().error(value.location, what_ + " names none");
    }
    for (const LocatedName& name : names) {
      const auto same = [&](const LocatedName& before) { return before.text == name.text; };
      if (!contains(pointwise_categories(), name.text)) {
        const RuleScope scope(reader_.sink(), "known_word");
        reader_.sink().error(name.location,
                             "each of `dtypes` must be " + join_words(pointwise_categories()) +
                                 ", got `" + name.text + "`",
                             nearest_category(name.text));
      } else if (std::any_of(op_.dtypes.begin(), op_.dtypes.end(), same)) {
        const RuleScope scope(reader_.sink(), "dtypes");
        reader_.sink().error(name.location, "`" + name.text + "` is given twice");
      } else {
        op_.dtypes.push_back(name);
      }
    }
  }

  RowwiseSpec& row_spec() {
    if (!op_.rowwise) op_.rowwise.emplace();
    return *op_.rowwise;
  }

  void rowwise(const YamlNode& value) { read_named(value, reader_, "rowwise", row_spec()); }

  void over(const YamlNode& value) {
    if (!value.is_sequence() && !value.is_scalar()) {
      return reader_.wrong_kind(value, what_, "an argument, whole numbers or `all`");
    }
    if (!value.is_sequence()) {
      row_spec().over = reader_.text(value, what_);
      return;
    }
    std::optional<SourceString> all;
    if (value.items.empty()) all = SourceString{"[]", value.location, {}};
    for (const YamlPtr& item : value.items) {
      const std::optional<SourceString> one = reader_.text(*item, "each of `over`");
      if (!one) continue;
      if (all) {
        all->text += ", " + one->text;
      } else {
        all = one;
      }
    }
    row_spec().over = all;
  }

  template <std::vector<LocatedName> RowwiseSpec::*member>
  void row_operands(const YamlNode& value) {
    row_spec().*member = reader_.names(value, what_);
  }

  void keepdim(const YamlNode& value) {
    if (const std::optional<bool> read = reader_.boolean(value, what_)) row_spec().keepdim = *read;
  }

  void promote(const YamlNode& value) {
    const std::optional<LocatedName> name = reader_.name(value, what_);
    if (!name) return;
    const std::optional<size_t> word = reader_.word(*name, promotions(), what_);
    op_.promotion = word ? static_cast<Promotion>(*word) : Promotion::kUnknown;
  }

  void composite(const YamlNode& value) {
    if (value.is_map()) {
      const RuleScope scope(reader_.sink(), "value_form");
      reader_.sink().error(value.location, "`composite` gives several results in one text, "
                                           "`std::make_tuple(a, b)`, got " +
                                               std::string(value.describe()));
      return;
    }
    const std::optional<SourceString> text = reader_.text(value, what_);
    if (!text) return;
    const LocatedName name = {text->text, text->location};
    if (!is_name(text->text) || op_.schema.find_arg(text->text) != nullptr) {
      op_.composite = Composite::kImplicit;
      op_.composition = *text;
      return;
    }
    if (std::optional<size_t> word = reader_.word(name, {"implicit", "explicit"}, what_)) {
      op_.composite = *word == 0 ? Composite::kImplicit : Composite::kExplicit;
    }
  }

  void foreach_expression(const YamlNode& value) {
    op_.composite = Composite::kImplicit;
    if (const std::optional<SourceString> text = reader_.text(value, what_))
      op_.composition = *text;
  }

  void device_check(const YamlNode& value) {
    const std::optional<LocatedName> name = reader_.name(value, what_);
    if (!name) return;
    if (std::optional<size_t> word = reader_.word(*name, {"ExactSame", "NoCheck"}, what_)) {
      op_.device_check = static_cast<DeviceCheck>(*word);
    }
  }

  void precomputed(const YamlNode& value) {
    if (!value.is_sequence()) {
      reader_.wrong_kind(value, what_, "a list");
      return;
    }
    for (const YamlPtr& item : value.items) {
      if (std::optional<SourceString> line = reader_.text(*item, "each line of `precomputed`")) {
        op_.precomputed.push_back(std::move(*line));
      }
    }
  }

  void ufunc_inner_loop(const YamlNode& value) {
    if (!value.is_map()) {
      if (std::optional<SourceString> text = reader_.text(value, what_)) {
        op_.ufunc_inner_loop.push_back({"Generic", std::move(*text), value.location});
      }
      return;
    }
    reader_.map(value, [&](const LocatedName& key, const YamlNode&, const YamlNode& loop) {
      if (std::optional<SourceString> text = reader_.text(loop, what_)) {
        op_.ufunc_inner_loop.push_back({key.text, std::move(*text), key.location});
      }
    });
  }

  Reader& reader_;
  Dialect dialect_;
  Alternative which_;
  Operator& op_;
  std::string what_;  // the key being read, for messages
};

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

// `dtypes`: the expression holds for these alone.
void apply_dtypes(Operator& op, DiagnosticSink& sink) {
  const Location* key = op.key_location("dtypes");
  if (key == nullptr) return;
  const RuleScope scope(sink, "dtypes");
  if (!op.pointwise) {
    if (op.update) {
      sink.error(*key, "what is written keeps its dtype: `dtypes` says nothing here");
    } else if (!op.has_key("pointwise")) {
      sink.error(*key, "`dtypes` says for which dtypes the expression of `pointwise` holds");
    }
    return;
  }
  // None was understood, which was reported.
  if (op.dtypes.empty()) {
    op.pointwise->complete = false;
    return;
  }
  std::vector<PointwiseCase> cases;
  for (const PointwiseCase& one : op.pointwise->cases) {
    if (!one.category.empty()) {
      sink.error(*key, "`dtypes` is for one expression; `pointwise` has one for `" + one.category +
                           "` already");
      return;
    }
    for (const LocatedName& dtype : op.dtypes) {
      cases.push_back(one);
      cases.back().category = dtype.text;
    }
  }
  op.pointwise->cases = std::move(cases);
}

// What the entry does not say.
void complete(Operator& op) {
  if (!op.has_key("python_module") && (op.own_spelling() || op.is_alias())) {
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
      if (!understood) {
        if (op.rowwise) {
          const RuleScope scope(sink, "rowwise_expression");
          for (const NamedExpressions::Part& part : op.rowwise->parts)
            report(part.expression, expr::parse_formula(part.expression.text).errors, sink);
        }
        if (i == 0) unread.push_back(std::move(op));
        continue;
      }
      if (dialect == Dialect::kTenon) {
        apply_dtypes(op, reader.sink());
        complete(op);
      } else if (!op.has_key("variants")) {
        op.variants.function = true;
      }
      operators.push_back(std::move(op));
    }
  }
}

}  // namespace tenon::codegen::detail
