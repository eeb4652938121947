#include "codegen/yaml/yaml.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "codegen/yaml/yaml_mistakes.h"
#include "codegen/yaml/yaml_scalar.h"

namespace tenon::codegen {

namespace {

// A key without quotes and without a value.
bool is_lone_text(const std::pair<YamlPtr, YamlPtr>& entry) {
  return entry.first->is_scalar() && !entry.first->quoted &&
         entry.second->kind == YamlNode::Kind::kNull;
}

// Thrown after a mistake behind which the file means nothing.
struct GaveUp {};

// Builds the tree from yaml-cpp's events rather than from YAML::Node, which forgets duplicate keys
// and is several times slower.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceFile& file, DiagnosticSink& sink) : file_(file), sink_(sink) {}

  YamlPtr root() const { return root_; }
  /// The innermost list or map that has not ended, or null.
  const YamlNode* unfinished() const { return stack_.empty() ? nullptr : stack_.back().node.get(); }
  /// The root, finished or not, or null.
  const YamlNode* outermost() const {
    return stack_.empty() ? root_.get() : stack_.front().node.get();
  }
  /// A quote behind the last node that ended in the text which could not be read.
  std::optional<YamlMistake> unclosed_quote() const {
    return unclosed_quote_behind(file_, last_, outer_column());
  }

  Location locate(const YAML::Mark& mark) const {
    if (mark.is_null()) return {&file_, 1, 1};
    return {&file_, static_cast<uint32_t>(mark.line) + 1, static_cast<uint32_t>(mark.column) + 1};
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {
    for (const auto& [anchor, unused] : unused_anchors_) {
      sink_.error(unused.place, "YAML takes `&" + unused.name +
                                    "` for an anchor: a text that begins with `&` needs quotes");
      // What is left of the text says nothing of what it was.
      std::string& text = unused.node->scalar.text;
      unused.node->kind = YamlNode::Kind::kScalar;
      text = unused.name + (text.empty() ? "" : " " + text);
    }
  }
  void OnAnchor(const YAML::Mark&, const std::string& name) override { anchor_name_ = name; }

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    auto node = make(mark, YamlNode::Kind::kNull);
    // The mark of an absent value is that of whatever comes next; its key is a better place.
    if (!stack_.empty() && stack_.back().key != nullptr) {
      node->location = stack_.back().key->location;
    }
    if (anchor != 0) unused_anchors_[anchor] = {node, node->location, anchor_name_};
    finish(anchor, node);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    unused_anchors_.erase(anchor);
    const auto known = anchors_.find(anchor);
    if (known != anchors_.end()) {
      attach(known->second);
      return;
    }
    sink_.error(locate(mark), "an alias inside the node that it names");
    attach(make(mark, YamlNode::Kind::kNull));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = make(mark, YamlNode::Kind::kScalar);
    if (is_tag(tag)) {
      unexpected_tag(mark, tag);
      node->scalar = {value.empty() ? tag : tag + " " + value, node->location, {}};
    } else {
      std::optional<YamlMistake> mistake =
          codegen::unclosed_quote(file_, node->location, outer_column());
      if (!mistake) mistake = empty_block(file_, node->location, value);
      if (mistake) {
        sink_.error(mistake->location, mistake->message);
        throw GaveUp();
      }
      if (anchor != 0 && tag == "?") unused_anchors_[anchor] = {node, locate(mark), anchor_name_};
      node->scalar = locate_scalar(file_, node->location, value);
      node->location = node->scalar.location;
      node->quoted = tag == "!";
    }
    finish(anchor, node);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    if (is_tag(tag)) unexpected_tag(mark, tag);
    open(mark, YamlNode::Kind::kSequence, anchor);
    stack_.back().in_brackets = style == YAML::EmitterStyle::Flow;
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    if (is_tag(tag)) unexpected_tag(mark, tag);
    open(mark, YamlNode::Kind::kMap, anchor);
    stack_.back().in_brackets = style == YAML::EmitterStyle::Flow;
  }
  void OnMapEnd() override {
    if (stack_.back().in_brackets) rejoin_texts(*stack_.back().node);
    close();
  }

 private:
  struct Open {
    std::shared_ptr<YamlNode> node;
    YAML::anchor_t anchor;
    YamlPtr key;  // of a map entry whose value has not come yet
    bool in_brackets = false;
  };
  struct Unused {
    std::shared_ptr<YamlNode> node;
    Location place;
    std::string name;
  };

  // `!name`; what quotes and plain texts have is "!" and "?".
  static bool is_tag(const std::string& tag) { return tag.size() > 1 && tag.front() == '!'; }

  // The column of the innermost list or map that is told by its indentation; 0 outside all.
  uint32_t outer_column() const {
    for (auto open = stack_.rbegin(); open != stack_.rend(); ++open) {
      if (!open->in_brackets) return open->node->location.column;
    }
    return 0;
  }

  void unexpected_tag(const YAML::Mark& mark, const std::string& tag) {
    sink_.error(locate(mark),
                "YAML takes `" + tag + "` for a tag: a text that begins with `!` needs quotes");
  }

  // In braces a comma ends a text without quotes: `{a: f(x, y)}` has the entries `a: f(x` and `y)`.
  // Reports that, and puts the text together again, so that nothing else is said about it.
  void rejoin_texts(YamlNode& map) {
    auto& entries = map.entries;
    for (size_t i = 0; i + 1 < entries.size(); ++i) {
      const YamlNode& value = *entries[i].second;
      if (!value.is_scalar() || value.quoted) continue;
      int open = open_brackets(value.scalar.text);
      size_t last = i;
      while (open > 0 && last + 1 < entries.size() && is_lone_text(entries[last + 1])) {
        open += open_brackets(entries[++last].first->scalar.text);
      }
      if (last == i || open != 0) continue;
      const SourceString& end = entries[last].first->scalar;
      const size_t from = file_.offset(value.scalar.location.line, value.scalar.location.column);
      const size_t to = file_.offset(end.location.line, end.location.column) + end.text.size();
      if (end.location.line != value.scalar.location.line || to <= from) continue;
      auto whole = std::make_shared<YamlNode>(value);
      whole->scalar = {file_.text().substr(from, to - from), value.scalar.location, {}};
      Location past = end.location;
      past.column += static_cast<uint32_t>(end.text.size());
      sink_.error(value.scalar.location,
                  "inside braces YAML ends a text at its comma: put it in quotes",
                  "\"" + whole->scalar.text + "\"", past);
      entries[i].second = std::move(whole);
      entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                    entries.begin() + static_cast<std::ptrdiff_t>(last) + 1);
    }
  }

  static int open_brackets(const std::string& text) {
    int open = 0;
    for (const char c : text) open += c == '(' ? 1 : c == ')' ? -1 : 0;
    return open;
  }

  std::shared_ptr<YamlNode> make(const YAML::Mark& mark, YamlNode::Kind kind) {
    auto node = std::make_shared<YamlNode>();
    node->kind = kind;
    node->location = last_ = locate(mark);
    return node;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind, YAML::anchor_t anchor) {
    stack_.push_back({make(mark, kind), anchor, nullptr});
  }

  void close() {
    Open top = std::move(stack_.back());
    stack_.pop_back();
    finish(top.anchor, std::move(top.node));
  }

  void finish(YAML::anchor_t anchor, YamlPtr node) {
    if (anchor != 0) anchors_[anchor] = node;
    attach(std::move(node));
  }

  void attach(YamlPtr node) {
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& parent = stack_.back();
    if (parent.node->is_sequence()) {
      parent.node->items.push_back(std::move(node));
    } else if (parent.key == nullptr) {
      parent.key = std::move(node);
    } else {
      parent.node->entries.emplace_back(std::move(parent.key), std::move(node));
      parent.key = nullptr;
    }
  }

  const SourceFile& file_;
  DiagnosticSink& sink_;
  YamlPtr root_;
  std::vector<Open> stack_;
  std::map<YAML::anchor_t, YamlPtr> anchors_;
  std::map<YAML::anchor_t, Unused> unused_anchors_;  // of texts without quotes
  std::string anchor_name_;                          // the latest
  Location last_ = locate(YAML::Mark::null_mark());  // of the latest node
};

// yaml-cpp takes control characters for the end of the input and replaces bytes that are no UTF-8;
// both would move marks or drop text silently.
bool check_bytes(const SourceFile& file, DiagnosticSink& sink) {
  uint32_t line = 1, column = 1;
  const std::string& text = file.text();
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    const size_t length = utf8_length(text, i);
    if (length == 0) {
      sink.error({&file, line, column}, "this byte is not UTF-8");
      return false;
    }
    const bool control = (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == 0x7F;
    if (control) {
      sink.error({&file, line, column}, "control characters are not allowed");
      return false;
    }
    i += length;
    column += static_cast<uint32_t>(length);
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return true;
}

void report(DiagnosticSink& sink, const YamlMistake& mistake) {
  sink.error(mistake.location, mistake.message);
}

// Whether a line of the file, not its beginning, says that a document begins at `place`.
bool begins_document(const SourceFile& file, const Location& place) {
  uint32_t number = place.line - 1;
  while (number > 0 && (file.line(number).empty() || file.line(number).starts_with('#'))) --number;
  const std::string_view line = file.line(number);
  return line.starts_with("---") || line.starts_with("...");
}

// A map where only the list of entries can be, and what it was meant for is plain.
std::optional<YamlMistake> stray_map(const SourceFile& file, const YamlNode* outermost,
                                     bool first) {
  if (outermost == nullptr || !outermost->is_map()) return std::nullopt;
  const Location& place = outermost->location;
  if (place.column != 1 || begins_document(file, place)) return std::nullopt;
  if (first && !file.line(place.line).starts_with('-')) return std::nullopt;
  return stray_key(file, place);
}

void report(DiagnosticSink& sink, const SourceFile& file, const TreeBuilder& builder,
            const YAML::Exception& problem) {
  const Location place = builder.locate(problem.mark);
  const bool deep = problem.msg == YAML::ErrorMsg::BAD_FILE;
  Diagnostic diagnostic;
  const YamlNode* open = builder.unfinished();
  const bool below = open != nullptr && open->is_map() && open->location.line < place.line &&
                     file.line(open->location.line)[open->location.column - 1] != '{';
  diagnostic.location = place;
  diagnostic.message = deep ? "lists and maps are nested too deeply"
                            : "this is not YAML: " + problem.msg +
                                  advice(file.line(place.line), below ? open->location.column : 0);
  if (open != nullptr && !deep) {
    diagnostic.notes.push_back(
        {open->location, "while reading " + std::string(open->describe()) + " that begins here"});
  }
  sink.report(std::move(diagnostic));
}

// Gives the root of the next document of the file, or null for none. Throws GaveUp after a mistake.
YamlPtr next_document(YAML::Parser& parser, const SourceFile& file, bool first,
                      DiagnosticSink& sink) {
  TreeBuilder builder(file, sink);
  std::optional<YamlMistake> mistake;
  try {
    if (!parser.HandleNextDocument(builder)) return nullptr;
    mistake = stray_map(file, builder.outermost(), first);
    if (!mistake) return builder.root();
    report(sink, *mistake);
  } catch (const YAML::Exception& problem) {
    mistake = builder.unclosed_quote();
    if (!mistake) mistake = stray_map(file, builder.outermost(), first);
    if (mistake) {
      report(sink, *mistake);
    } else {
      report(sink, file, builder, problem);
    }
  }
  throw GaveUp();
}

}  // namespace

std::string_view YamlNode::describe() const {
  switch (kind) {
  case Kind::kNull: return "nothing";
  case Kind::kScalar: return "a text";
  case Kind::kSequence: return "a list";
  case Kind::kMap: return "a map";
  }
  return {};
}

bool YamlNode::is_text_in_braces() const {
  if (!is_map() || entries.empty()) return false;
  if (!location.file->line(location.line).substr(location.column - 1).starts_with('{'))
    return false;
  return std::all_of(entries.begin(), entries.end(), is_lone_text);
}

YamlPtr parse_yaml(const SourceFile& file, DiagnosticSink& sink) {
  const RuleScope scope(sink, "yaml_syntax");
  if (!check_bytes(file, sink)) return nullptr;
  try {
    std::istringstream in(file.text());
    YAML::Parser parser(in);
    YamlPtr root = next_document(parser, file, true, sink);
    if (root == nullptr) return std::make_shared<YamlNode>();
    if (const YamlPtr rest = next_document(parser, file, false, sink)) {
      sink.error(rest->location, "a second YAML document; a file holds one");
    }
    return root;
  } catch (const GaveUp&) {
    // It was reported.
  }
  return nullptr;
}

}  // namespace tenon::codegen
