#include "codegen/yaml/reader.h"

#include <algorithm>

#include "codegen/schema/suggest.h"
#include "codegen/yaml/words.h"

namespace tenon::codegen::detail {

namespace {

constexpr std::string_view kBlanks = " \t\n";

}  // namespace

SourceString slice(const SourceString& text, size_t begin, size_t end) {
  SourceString result;
  result.text = text.text.substr(begin, end - begin);
  result.location = text.at(begin);
  // The byte just before the slice may belong to an earlier segment that still covers its start.
  const Location start = result.location;
  result.segments.push_back({0, start.line, start.column});
  for (const SourceString::Segment& segment : text.segments) {
    if (segment.offset <= begin || segment.offset > end) continue;
    result.segments.push_back(
        {segment.offset - static_cast<uint32_t>(begin), segment.line, segment.column});
  }
  return result;
}

SourceString trimmed(const SourceString& text) {
  const size_t begin = text.text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) return slice(text, 0, 0);
  return slice(text, begin, text.text.find_last_not_of(kBlanks) + 1);
}

std::vector<LocatedName> split_names(const SourceString& text) {
  std::vector<LocatedName> result;
  size_t begin = 0;
  while (begin <= text.text.size()) {
    const size_t end = std::min(text.text.find(',', begin), text.text.size());
    const SourceString part = trimmed(slice(text, begin, end));
    if (!part.empty()) result.push_back({part.text, part.location});
    begin = end + 1;
  }
  return result;
}

std::string join_names(const SourceString& text) {
  std::string result;
  for (const LocatedName& name : split_names(text)) {
    if (!result.empty()) result += ", ";
    result += name.text;
  }
  return result;
}

void Reader::wrong_kind(const YamlNode& node, std::string_view what, std::string_view wanted) {
  const RuleScope scope(sink_, "value_form");
  sink_.error(node.location, std::string(what) + " must be " + std::string(wanted) + ", got " +
                                 std::string(node.describe()));
}

std::optional<SourceString> Reader::text(const YamlNode& node, std::string_view what) {
  if (node.is_text_in_braces()) {
    const RuleScope scope(sink_, "value_form");
    sink_.error(node.location,
                std::string(what) + " must be a text, and one that begins with `{` needs quotes");
    return std::nullopt;
  }
  if (!node.is_scalar()) {
    wrong_kind(node, what, "a text");
    return std::nullopt;
  }
  SourceString result = trimmed(node.scalar);
  if (result.empty()) {
    const RuleScope scope(sink_, "value_form");
    sink_.error(node.location, std::string(what) + " is empty");
    return std::nullopt;
  }
  return result;
}

std::optional<LocatedName> Reader::name(const YamlNode& node, std::string_view what) {
  std::optional<SourceString> value = text(node, what);
  if (!value) return std::nullopt;
  return LocatedName{value->text, value->location};
}

std::optional<bool> Reader::boolean(const YamlNode& node, std::string_view what) {
  if (node.is_scalar()) {
    const std::string& value = node.scalar.text;
    if (value == "True" || value == "true") return true;
    if (value == "False" || value == "false") return false;
    const RuleScope scope(sink_, "value_form");
    sink_.error(node.location, std::string(what) + " must be True or False, got `" + value + "`",
                schema::nearest(value, {"True", "False"}));
    return std::nullopt;
  }
  wrong_kind(node, what, "True or False");
  return std::nullopt;
}

std::vector<LocatedName> Reader::names(const YamlNode& node, std::string_view what) {
  if (node.is_scalar()) return split_names(node.scalar);
  if (!node.is_sequence()) {
    wrong_kind(node, what, "a list of names");
    return {};
  }
  std::vector<LocatedName> result;
  for (const YamlPtr& item : node.items) {
    if (std::optional<LocatedName> one = name(*item, "each name of " + std::string(what))) {
      result.push_back(std::move(*one));
    }
  }
  return result;
}

std::optional<size_t> Reader::word(const LocatedName& name, const std::vector<std::string>& words,
                                   std::string_view what) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name.text) return i;
  }
  const RuleScope scope(sink_, "known_word");
  sink_.error(name.location,
              std::string(what) + " must be " + join_words(words) + ", got `" + name.text + "`",
              schema::nearest(name.text, words));
  return std::nullopt;
}

bool Reader::is_new_key(const YamlNode& key, std::vector<LocatedName>& seen) {
  if (!key.is_scalar()) {
    wrong_kind(key, "a key", "a text");
    return false;
  }
  const SourceString text = trimmed(key.scalar);
  const std::string names = join_names(text);
  for (const LocatedName& before : seen) {
    if (join_names({before.text, {}, {}}) != names) continue;
    const RuleScope scope(sink_, "duplicate_key");
    sink_.report({Severity::kError,
                  text.location,
                  "key `" + text.text + "` is given twice",
                  {{before.location, "the first is here"}},
                  {}});
    return false;
  }
  seen.push_back({text.text, text.location});
  return true;
}

}  // namespace tenon::codegen::detail
