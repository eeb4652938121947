#include "codegen/yaml/short_schema.h"

#include <algorithm>
#include <cctype>

#include "codegen/schema/parser.h"
#include "codegen/schema/printer.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen {

namespace {

constexpr std::string_view kOptions = "TensorOptions";
constexpr std::string_view kDtype = "ScalarType? dtype=";
constexpr std::string_view kOtherOptions =
    ", Layout? layout=None, Device? device=None, bool? pin_memory=None";

struct Word {
  size_t begin = 0, end = 0;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// What stands between blanks, commas and brackets of a schema before its `->`, but annotations and
/// what has a quote in it. The first is the name.
std::vector<Word> words_of(const std::string& text) {
  std::vector<Word> words;
  int depth = 0;
  char quote = '\0';
  bool quoted = false;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (quote != '\0') {
      if (c == quote) quote = '\0';
      continue;
    }
    if (c == '"' || c == '\'') {
      quote = c;
      quoted = true;
      continue;
    }
    if (std::string_view(" \t\n(),").find(c) == std::string_view::npos) continue;
    if (i > begin && !quoted && depth < 2) words.push_back({begin, i});
    begin = i + 1;
    quoted = false;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (depth == 0 && c == ')') break;
  }
  return words;
}

std::vector<Word> parts_of(const std::string& text, Word word) {
  std::vector<Word> parts;
  size_t begin = word.begin;
  for (size_t i = word.begin; i <= word.end; ++i) {
    if (i < word.end && text[i] != '|') continue;
    parts.push_back({begin, i});
    begin = i + 1;
  }
  return parts;
}

/// A text made of parts of another, and of words that stand for one.
class Assembly {
 public:
  explicit Assembly(const SourceString& from) : from_(from) { result_.location = from.location; }

  void copy(size_t begin, size_t end) {
    const SourceString part = detail::slice(from_, begin, end);
    for (SourceString::Segment segment : part.segments) {
      segment.offset += static_cast<uint32_t>(result_.text.size());
      result_.segments.push_back(segment);
    }
    result_.text += part.text;
  }
  void insert(std::string_view text, size_t place) {
    const Location location = from_.at(place);
    result_.segments.push_back(
        {static_cast<uint32_t>(result_.text.size()), location.line, location.column});
    result_.text += text;
  }
  SourceString take() && { return std::move(result_); }

 private:
  const SourceString& from_;
  SourceString result_;
};

std::string_view text_of(const std::string& text, Word word) {
  return std::string_view(text).substr(word.begin, word.end - word.begin);
}

/// True where the blanks around a `|` between words are reported.
bool has_blank_bar(const SourceString& schema, const std::vector<Word>& words,
                   DiagnosticSink& sink) {
  const std::string& text = schema.text;
  const auto joined_to_next = [&](size_t i, bool bar) {
    if (!bar || i + 1 >= words.size()) return false;
    return text.find_first_not_of(' ', words[i].end) == words[i + 1].begin;
  };
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = text_of(text, words[i]);
    const bool before = i > 0 && joined_to_next(i - 1, word.starts_with('|'));
    const bool after = joined_to_next(i, word.ends_with('|'));
    if (!before && !after) continue;
    const size_t begin = words[before ? i - 1 : i].begin, end = words[after ? i + 1 : i].end;
    std::string joined = text.substr(begin, end - begin);
    std::erase(joined, ' ');
    const RuleScope scope(sink, "alternatives");
    sink.error(schema.at(begin), "alternatives have no blanks around `|`", joined,
               schema.end_at(end));
    return true;
  }
  return false;
}

/// True where it is reported that two of the schemas that `written` stands for are the same but for
/// their names.
bool has_equal_schemas(const SourceString& written, Word choice,
                       const std::vector<SourceString>& schemas, DiagnosticSink& sink) {
  const auto name_and_rest = [](const SourceString& schema) {
    const size_t open = std::min(schema.text.find('('), schema.text.size());
    return std::make_pair(schema.text.substr(0, open), schema.text.substr(open));
  };
  for (size_t i = 1; i < schemas.size(); ++i) {
    for (size_t before = 0; before < i; ++before) {
      const auto [name, rest] = name_and_rest(schemas[i]);
      const auto [other, other_rest] = name_and_rest(schemas[before]);
      if (name != other && rest != other_rest) continue;
      const std::string text(text_of(written.text, choice));
      const std::string base = name.substr(0, name.find('.'));
      std::string message = "`" + other + "` and `" + name + "` take the same arguments";
      if (name == other) {
        message = "`" + text + "` " +
                  (text.starts_with(base + ".")
                       ? "names `" + name + "` twice"
                       : "needs an overload for each, as `" + base + "." + text + "`");
      }
      const RuleScope scope(sink, "alternatives");
      sink.error(written.at(choice.begin), message, "", written.end_at(choice.end));
      return true;
    }
  }
  return false;
}

std::string number_of(size_t count) {
  return std::to_string(count) + (count == 1 ? " alternative" : " alternatives");
}

}  // namespace

std::vector<SourceString> alternatives(const SourceString& schema, DiagnosticSink& sink) {
  const std::string& text = schema.text;
  const std::vector<Word> words = words_of(text);
  if (has_blank_bar(schema, words, sink)) return {};
  std::vector<std::pair<Word, std::vector<Word>>> choices;
  for (const Word& word : words) {
    std::vector<Word> parts = parts_of(text, word);
    if (parts.size() == 1) continue;
    // Of the name, only the overload is chosen.
    const size_t dot =
        word.begin == words.front().begin ? text.rfind('.', word.end - 1) : std::string::npos;
    if (dot != std::string::npos && dot >= word.begin && dot < parts.front().end) {
      parts.front().begin = dot + 1;
    }
    if (!choices.empty() && parts.size() != choices.front().second.size()) {
      const Word& first = choices.front().first;
      const RuleScope scope(sink, "alternatives");
      sink.report(
          {Severity::kError,
           schema.at(word.begin),
           "`" + std::string(text_of(text, word)) + "` has " + number_of(parts.size()) +
               ", but what stands before it " + std::to_string(choices.front().second.size()),
           {{schema.at(first.begin), "`" + std::string(text_of(text, first)) + "` is here"}},
           {}});
      return {};
    }
    choices.emplace_back(word, std::move(parts));
  }
  if (choices.empty()) return {schema};
  std::vector<SourceString> result;
  for (size_t i = 0; i < choices.front().second.size(); ++i) {
    Assembly assembly(schema);
    size_t at = 0;
    for (const auto& [word, parts] : choices) {
      size_t end = parts.front().begin;  // past the name's dot, which goes with the overload
      if (parts[i].begin == parts[i].end && end > word.begin) --end;
      assembly.copy(at, end);
      assembly.copy(parts[i].begin, parts[i].end);
      at = word.end;
    }
    assembly.copy(at, text.size());
    result.push_back(std::move(assembly).take());
  }
  if (has_equal_schemas(schema, choices.front().first, result, sink)) return {};
  return result;
}

std::optional<SourceString> alternative(const SourceString& text, size_t index, size_t count,
                                        std::string_view what, DiagnosticSink& sink) {
  const std::vector<Word> parts = parts_of(text.text, {0, text.text.size()});
  if (parts.size() == 1) return text;
  if (parts.size() == count) {
    return detail::trimmed(detail::slice(text, parts[index].begin, parts[index].end));
  }
  const RuleScope scope(sink, "alternatives");
  sink.error(text.location, std::string(what) + " has " + number_of(parts.size()) +
                                ", the schema has " +
                                (count == 1 ? "none" : std::to_string(count)));
  return std::nullopt;
}

SourceString with_tensor_options(const SourceString& schema) {
  const std::string& text = schema.text;
  const size_t begin = text.find(kOptions);
  if (begin == std::string::npos || (begin > 0 && is_word(text[begin - 1]))) return schema;
  size_t end = begin + kOptions.size();
  std::string dtype = "None";
  constexpr std::string_view kGiven = "(dtype=";
  if (text.compare(end, kGiven.size(), kGiven) == 0) {
    const size_t close = text.find(')', end);
    if (close == std::string::npos) return schema;
    dtype = text.substr(end + kGiven.size(), close - end - kGiven.size());
    end = close + 1;
  }
  // With a name behind it, it would be an argument of a type that schemas do not have.
  const size_t next = text.find_first_not_of(" \t\n", end);
  if (next == std::string::npos || (text[next] != ',' && text[next] != ')')) return schema;
  Assembly assembly(schema);
  assembly.copy(0, begin);
  assembly.insert(std::string(kDtype) + dtype + std::string(kOtherOptions), begin);
  assembly.copy(end, text.size());
  return std::move(assembly).take();
}

std::optional<std::string> join_alternatives(const std::vector<std::string>& schemas) {
  const std::string& first = schemas.front();
  std::vector<std::vector<Word>> words;
  for (const std::string& schema : schemas) {
    words.push_back(words_of(schema));
    if (words.back().size() != words.front().size()) return std::nullopt;
  }
  std::string result;
  size_t at = 0;
  bool types_differ = false;
  std::vector<size_t> ends(schemas.size(), 0);
  const auto word = [&](size_t schema, size_t i) {
    return schemas[schema].substr(words[schema][i].begin,
                                  words[schema][i].end - words[schema][i].begin);
  };
  // What stands between the words, and behind the last, must be the same.
  const auto same_gap = [&](size_t i) {
    for (size_t k = 0; k < schemas.size(); ++k) {
      const size_t end = i < words[k].size() ? words[k][i].begin : schemas[k].size();
      const size_t first_end = i < words[0].size() ? words[0][i].begin : first.size();
      if (schemas[k].substr(ends[k], end - ends[k]) != first.substr(ends[0], first_end - ends[0])) {
        return false;
      }
    }
    return true;
  };
  for (size_t i = 0; i < words.front().size(); ++i) {
    if (!same_gap(i)) return std::nullopt;
    result += first.substr(at, words[0][i].begin - at);
    std::string joined;
    bool differ = false;
    const std::string name = word(0, 0).substr(0, word(0, 0).find('.'));
    for (size_t k = 0; k < schemas.size(); ++k) {
      std::string one = word(k, i);
      differ = differ || one != word(0, i);
      if (i == 0) {
        if (one.substr(0, one.find('.')) != name) return std::nullopt;
        one = one.size() > name.size() ? one.substr(name.size() + 1) : "";
      }
      joined += (k > 0 ? "|" : "") + one;
    }
    const bool is_type = std::all_of(schemas.begin(), schemas.end(), [&](const std::string& s) {
      const std::string one = word(static_cast<size_t>(&s - schemas.data()), i);
      return one == "Tensor" || one == "Scalar";
    });
    if (differ && i > 0 && !is_type) return std::nullopt;
    types_differ = types_differ || (differ && i > 0);
    result += i == 0 ? name + "." + joined : differ ? joined : word(0, i);
    at = words[0][i].end;
    for (size_t k = 0; k < schemas.size(); ++k) ends[k] = words[k][i].end;
  }
  if (!types_differ || !same_gap(words.front().size())) return std::nullopt;
  return result + first.substr(at);
}

std::string fold_tensor_options(const std::string& schema) {
  const size_t begin = schema.find(kDtype);
  const size_t rest = schema.find(kOtherOptions);
  if (begin == std::string::npos || rest == std::string::npos || rest < begin) return schema;
  const size_t value = begin + kDtype.size();
  const std::string dtype = schema.substr(value, rest - value);
  if (dtype.empty() || !std::all_of(dtype.begin(), dtype.end(), is_word)) return schema;
  std::string folded = std::string(kOptions);
  if (dtype != "None") folded += "(dtype=" + dtype + ")";
  return schema.substr(0, begin) + folded + schema.substr(rest + kOtherOptions.size());
}

std::string canonical_schema(const std::string& schema) {
  const SourceString text = {schema, {}, {}};
  DiagnosticSink unused;
  std::vector<std::string> printed;
  bool folded = false;
  for (const SourceString& one : alternatives(text, unused)) {
    const SourceString full = with_tensor_options(one);
    folded = folded || full.text != one.text;
    const schema::ParseResult parsed = schema::parse_schema(full.text);
    if (!parsed.ok()) return schema;
    printed.push_back(schema::to_string(*parsed.schema));
    if (folded) printed.back() = fold_tensor_options(printed.back());
  }
  if (printed.empty()) return schema;
  return printed.size() == 1 ? printed.front() : join_alternatives(printed).value_or(schema);
}

}  // namespace tenon::codegen
