#include "codegen/load/entry_reader.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "codegen/load/loaders.h"
#include "codegen/load/upstream_keys.h"
#include "codegen/meaning/defaults.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"
#include "codegen/yaml/short_schema.h"

namespace tenon::codegen::detail {

std::string meant_key(const std::string& key, Dialect dialect) {
  constexpr schema::ForeignWord kForeign[] = {
      {"function", "func"}, {"schema", "func"}, {"name", "func"}, {"op", "func"}};
  return schema::suggest(key, operator_keys(dialect), kForeign);
}

bool is_name(std::string_view text) {
  const auto letter = [](char c) {
    return c == '_' || std::isalpha(static_cast<unsigned char>(c));
  };
  return !text.empty() && letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return letter(c) || std::isdigit(static_cast<unsigned char>(c));
  });
}

struct EntryReader::Handlers {
  template <std::optional<LocatedName> Operator::*member>
  static void name(EntryReader& r, const YamlNode& value) {
    r.one_name(value, r.op_.*member);
  }
  template <std::vector<LocatedName> Operator::*member>
  static void names(EntryReader& r, const YamlNode& value) {
    r.op_.*member = r.reader_.names(value, r.what_);
  }
  template <std::vector<LocatedName> Rowwise::*member>
  static void row_names(EntryReader& r, const YamlNode& value) {
    r.rows().*member = r.reader_.names(value, r.what_);
  }
  template <void (EntryReader::*member)(const YamlNode&)>
  static void call(EntryReader& r, const YamlNode& value) {
    (r.*member)(value);
  }

  using Function = void (*)(EntryReader&, const YamlNode&);
  static const std::map<std::string_view, Function>& table() {
    static const std::map<std::string_view, Function> functions = {
        {"variants", call<&EntryReader::variants>},
        {"of", [](EntryReader& r, const YamlNode& v) { r.one_name(v, r.alias_of_); }},
        {"dispatch", call<&EntryReader::dispatch>},
        {"pointwise", call<&EntryReader::pointwise>},
        {"dtypes", call<&EntryReader::dtypes>},
        {"rowwise",
         [](EntryReader& r, const YamlNode& v) { read_named(v, r.reader_, "rowwise", r.rows()); }},
        {"over", call<&EntryReader::over>},
        {"rows", row_names<&Rowwise::rows>},
        {"columns", row_names<&Rowwise::columns>},
        {"keepdim", [](EntryReader& r, const YamlNode& v) { r.flag(v, r.rows().keepdim); }},
        {"promote", call<&EntryReader::promote>},
        {"check", name<&Operator::check>},
        {"batched",
         [](EntryReader& r, const YamlNode& v) { r.op_.batched = r.reader_.text(v, r.what_); }},
        {"composite", call<&EntryReader::composite>},
        {"fuse", [](EntryReader& r, const YamlNode& v) { r.flag(v, r.op_.fuse); }},
        {"foreach", call<&EntryReader::foreach_expression>},
        {"structured", call<&EntryReader::structured>},
        {"structured_delegate",
         [](EntryReader& r, const YamlNode& v) { r.one_name(v, r.delegate_); }},
        {"non_differentiable",
         [](EntryReader& r, const YamlNode& v) { r.flag(v, r.op_.non_differentiable); }},
        {"out_name", name<&Operator::out_name>},
        {"tags", names<&Operator::tags>},
        {"autogen", names<&Operator::autogen>},
        {"cpp_no_default_args", names<&Operator::cpp_no_default_args>},
        {"python_module", name<&Operator::python_module>},
        {"manual_cpp_binding",
         [](EntryReader& r, const YamlNode& v) { r.flag(v, r.op_.manual_cpp_binding); }},
    };
    return functions;
  }
};

void EntryReader::read(const LocatedName& key, const YamlNode& value) {
  if (is_left_out(key, value)) return;
  op_.keys.push_back(key);
  what_ = "`" + key.text + "`";
  const auto handler = Handlers::table().find(key.text);
  if (handler != Handlers::table().end()) {
    handler->second(*this, value);
  } else if (!read_upstream_key(key.text, value, reader_, op_.upstream) && key.text != "func" &&
             key.text != "alias") {
    unknown(key);
  }
}

void EntryReader::finish(bool understood) {
  if (op_.has_key("alias")) {
    op_.computation = AliasOf{alias_of_};
    return;
  }
  if (understood && dialect_ == Dialect::kTenon) apply_dtypes();
  if (structured_ && delegate_) {
    const RuleScope scope(reader_.sink(), "structured_delegate");
    reader_.sink().error(delegate_->location,
                         "an operator is either structured or delegates to one");
  }
  if (pointwise_) {
    pointwise_->dtypes = std::move(dtypes_);
    op_.computation = std::move(*pointwise_);
  } else if (update_) {
    op_.computation = std::move(*update_);
  } else if (op_.has_key("rowwise")) {
    op_.computation = std::move(*rowwise_);
  } else if (structured_) {
    op_.computation = Structured{};
  } else if (composition_) {
    Composition written = {std::move(*composition_), true, {}, {}};
    if (rowwise_) written.columns = std::move(rowwise_->columns);
    if (op_.has_key("foreach")) {
      op_.computation = Foreach{written};
    } else {
      op_.computation = written;
    }
  } else if (composite_) {
    op_.computation = *composite_;
  } else if (delegate_) {
    op_.computation = Delegate{*delegate_};
  } else if (op_.has_key("dispatch")) {
    op_.computation = Kernels{};
  }
}

// `dtypes`: the expression holds for these alone.
void EntryReader::apply_dtypes() {
  const Location* key = op_.key_location("dtypes");
  if (key == nullptr) return;
  DiagnosticSink& sink = reader_.sink();
  const RuleScope scope(sink, "dtypes");
  if (!pointwise_) {
    if (update_) {
      sink.error(*key, "what is written keeps its dtype: `dtypes` says nothing here");
    } else if (!op_.has_key("pointwise")) {
      sink.error(*key, "`dtypes` says for which dtypes the expression of `pointwise` holds");
    }
    return;
  }
  // None was understood, which was reported.
  if (dtypes_.empty()) {
    pointwise_->complete = false;
    return;
  }
  std::vector<PointwiseCase> cases;
  for (const PointwiseCase& one : pointwise_->cases) {
    if (!one.category.empty()) {
      sink.error(*key, "`dtypes` is for one expression; `pointwise` has one for `" + one.category +
                           "` already");
      return;
    }
    for (const LocatedName& dtype : dtypes_) {
      cases.push_back(one);
      cases.back().category = dtype.text;
    }
  }
  pointwise_->cases = std::move(cases);
}

void EntryReader::unknown(const LocatedName& key) {
  const RuleScope scope(reader_.sink(), "known_key");
  const std::string message = "unknown key `" + key.text + "`";
  const std::string suggestion = meant_key(key.text, dialect_);
  if (dialect_ == Dialect::kUpstream) {
    reader_.sink().warning(key.location, message, suggestion);
  } else {
    reader_.sink().error(key.location, message, suggestion);
  }
}

void EntryReader::flag(const YamlNode& value, bool& member) {
  if (const std::optional<bool> read = reader_.boolean(value, what_)) member = *read;
}

void EntryReader::one_name(const YamlNode& value, std::optional<LocatedName>& member) {
  const std::optional<SourceString> text = reader_.text(value, what_);
  if (!text) return;
  if (const auto one = alternative(*text, which_.index, which_.count, what_, reader_.sink())) {
    member = LocatedName{one->text, one->location};
  }
}

// An empty alternative, "a|", is a key that the other operator has.
bool EntryReader::is_left_out(const LocatedName& key, const YamlNode& value) {
  constexpr std::string_view kNames[] = {"check", "of", "out_name"};
  if (which_.count == 1 || !value.is_scalar() ||
      std::find(std::begin(kNames), std::end(kNames), key.text) == std::end(kNames)) {
    return false;
  }
  DiagnosticSink reported;  // by one_name
  const auto one = alternative(trimmed(value.scalar), which_.index, which_.count, "", reported);
  return one && one->empty() && !trimmed(value.scalar).empty();
}

void EntryReader::variants(const YamlNode& value) {
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
void EntryReader::backends(const YamlNode& value) {
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

void EntryReader::structured(const YamlNode& value) {
  std::vector<LocatedName> names;
  if (value.is_scalar()) names = split_names(value.scalar);
  const auto& keys = dispatch_keys(dialect_);
  const bool one_backend = names.size() == 1 && (contains(keys, names[0].text) ||
                                                 !schema::nearest(names[0].text, keys).empty());
  const bool is_list = value.is_sequence() || names.size() > 1 || one_backend;
  if (dialect_ == Dialect::kUpstream || !is_list) {
    flag(value, structured_);
    return;
  }
  structured_ = true;
  backends(value);
}

void EntryReader::dispatch(const YamlNode& value) {
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

void EntryReader::pointwise(const YamlNode& value) {
  if (op_.schema.has_mutable_arg() && !op_.schema.is_out()) {
    read_named(value, reader_, "pointwise", update_.emplace());
  } else {
    pointwise_ = read_pointwise(value, reader_, op_.schema);
  }
}

void EntryReader::dtypes(const YamlNode& value) {
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
    } else if (std::any_of(dtypes_.begin(), dtypes_.end(), same)) {
      const RuleScope scope(reader_.sink(), "dtypes");
      reader_.sink().error(name.location, "`" + name.text + "` is given twice");
    } else {
      dtypes_.push_back(name);
    }
  }
}

void EntryReader::over(const YamlNode& value) {
  if (!value.is_sequence() && !value.is_scalar()) {
    return reader_.wrong_kind(value, what_, "an argument, whole numbers or `all`");
  }
  if (!value.is_sequence()) {
    rows().over = reader_.text(value, what_);
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
  rows().over = all;
}

void EntryReader::promote(const YamlNode& value) {
  const std::optional<LocatedName> name = reader_.name(value, what_);
  if (!name) return;
  op_.promotion.reset();
  if (const std::optional<size_t> word = reader_.word(*name, promotions(), what_))
    op_.promotion = static_cast<Promotion>(*word);
}

void EntryReader::composite(const YamlNode& value) {
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
    composition_ = *text;
    return;
  }
  if (std::optional<size_t> word = reader_.word(name, {"implicit", "explicit"}, what_)) {
    composite_ = CompositeFunction{*word == 0};
  }
}

void EntryReader::foreach_expression(const YamlNode& value) {
  composite_ = CompositeFunction{true};
  composition_ = reader_.text(value, what_);
}

}  // namespace tenon::codegen::detail
