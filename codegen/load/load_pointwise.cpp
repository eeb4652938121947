#include "codegen/load/loaders.h"
#include "codegen/model/vocabulary.h"
#include "codegen/schema/suggest.h"

namespace tenon::codegen::detail {

namespace {

constexpr schema::ForeignWord kForeign[] = {
    {"float", "floating"},   {"double", "floating"}, {"real", "floating"}, {"int", "integral"},
    {"integer", "integral"}, {"long", "integral"},   {"boolean", "bool"},  {"gpu", "cuda"}};

// Reads `pointwise`: a text, or a map whose keys select an output, a dtype category or a backend
// and whose values are again either. Each selector can be given once on the way down.
class PointwiseReader {
 public:
  PointwiseReader(Reader& reader, const schema::FunctionSchema& schema, Pointwise& spec)
      : reader_(reader), spec_(spec) {
    for (size_t i = 0; i < schema.returns.size(); ++i) outputs_.push_back(schema.return_name(i));
    words_ = outputs_;
    for (const auto* more : {&pointwise_categories(), &pointwise_backends()}) {
      words_.insert(words_.end(), more->begin(), more->end());
    }
  }

  void read(const YamlNode& value, const PointwiseCase& selected) {
    if (!value.is_map() || value.is_text_in_braces()) {
      if (std::optional<SourceString> text = reader_.text(value, "the expression of `pointwise`")) {
        PointwiseCase one = selected;
        one.expression = std::move(*text);
        spec_.cases.push_back(std::move(one));
      } else {
        spec_.complete = false;
      }
      return;
    }
    reader_.map(value, [&](const LocatedName&, const YamlNode& key, const YamlNode& inner) {
      for (const LocatedName& word : split_names(key.scalar)) {
        PointwiseCase next = selected;
        if (select(word, next)) {
          read(inner, next);
        } else {
          spec_.complete = false;
        }
      }
    });
  }

 private:
  bool select(const LocatedName& word, PointwiseCase& selected) {
    std::string* slot = nullptr;
    if (contains(outputs_, word.text))
      slot = &selected.output;
    else if (contains(pointwise_categories(), word.text))
      slot = &selected.category;
    else if (contains(pointwise_backends(), word.text))
      slot = &selected.backend;
    if (slot == nullptr) {
      const RuleScope scope(reader_.sink(), "known_word");
      reader_.sink().error(word.location,
                           "`" + word.text + "` selects no case of `pointwise`; expected " +
                               join_words(words_),
                           schema::suggest(word.text, words_, kForeign));
      return false;
    }
    if (!slot->empty()) {
      const RuleScope scope(reader_.sink(), "pointwise_cases");
      reader_.sink().error(word.location, "`" + word.text + "` is inside the case for `" + *slot +
                                              "`, which it excludes");
      return false;
    }
    *slot = word.text;
    return true;
  }

  Reader& reader_;
  Pointwise& spec_;
  std::vector<std::string> outputs_;
  std::vector<std::string> words_;
};

}  // namespace

std::string nearest_category(const std::string& word) {
  return schema::suggest(word, pointwise_categories(), kForeign);
}

std::optional<Pointwise> read_pointwise(const YamlNode& value, Reader& reader,
                                        const schema::FunctionSchema& schema) {
  Pointwise spec;
  spec.location = value.location;
  PointwiseReader(reader, schema, spec).read(value, {});
  if (value.is_map() && value.entries.empty()) {
    const RuleScope scope(reader.sink(), "value_form");
    reader.sink().error(value.location, "`pointwise` gives no expression");
  }
  if (spec.cases.empty()) return std::nullopt;
  return spec;
}

}  // namespace tenon::codegen::detail
