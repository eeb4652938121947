#include "codegen/format/formatter.h"

#include <algorithm>
#include <cctype>

#include "codegen/format/entry_printer.h"
#include "codegen/format/same_data.h"
#include "codegen/format/shorten.h"
#include "codegen/load/load_backend.h"
#include "codegen/load/loader.h"
#include "codegen/schema/parser.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen {
namespace {

using Lines = std::vector<std::string>;

std::string_view without_trailing_blanks(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t") + 1);
}

bool is_comment(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '#';
}

/// Lines of a file between and around its entries.
class FileFormatter {
 public:
  FileFormatter(const SourceFile& file, const YamlNode& root, FileKind kind)
      : file_(file), root_(root), kind_(kind) {}

  std::string format() {
    uint32_t next = 1;  // first line that was not written
    if (root_.is_map()) {
      const uint32_t first = root_.entries.front().first->location.line;
      between(next, first, false);
      next = end_of_entry(first, static_cast<uint32_t>(file_.num_lines()) + 1);
      entry(root_, first, next);
    }
    for (size_t i = 0; i < root_.items.size(); ++i) {
      const uint32_t first = dash_line(*root_.items[i]);
      between(next, first, i > 0);
      const uint32_t limit = i + 1 < root_.items.size()
                                 ? dash_line(*root_.items[i + 1])
                                 : static_cast<uint32_t>(file_.num_lines()) + 1;
      next = end_of_entry(first, limit);
      entry(*root_.items[i], first, next);
    }
    between(next, static_cast<uint32_t>(file_.num_lines()) + 1, false);
    while (!lines_.empty() && lines_.back().empty()) lines_.pop_back();
    std::string text;
    for (const std::string& line : lines_) text += line + "\n";
    return text;
  }

 private:
  uint32_t dash_line(const YamlNode& item) const {
    const size_t begin = file_.offset(item.location.line, item.location.column);
    const size_t dash = begin == 0 ? std::string::npos : file_.text().rfind('-', begin - 1);
    return file_.line_of(dash == std::string::npos ? begin : dash);
  }

  size_t dash_column(uint32_t line) const {
    const size_t column = file_.line(line).find('-');
    return column == std::string_view::npos ? 0 : column;
  }

  /// One past the last line of the entry: comments at the margin and empty lines below it are not
  /// its own.
  uint32_t end_of_entry(uint32_t first, uint32_t limit) const {
    const size_t margin = dash_column(first);
    while (limit > first + 1) {
      const std::string_view line = file_.line(limit - 1);
      const bool outside = is_comment(line) && line.find('#') <= margin;
      if (!outside && !without_trailing_blanks(line).empty()) break;
      --limit;
    }
    return limit;
  }

  /// Comments and empty lines; no two of the latter in a row, one before an entry or its comments.
  void between(uint32_t first, uint32_t limit, bool after_entry) {
    Lines gap;
    bool has_blank = false;
    for (uint32_t line = first; line < limit; ++line) {
      std::string_view text = without_trailing_blanks(file_.line(line));
      text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
      has_blank = has_blank || text.empty();
      const bool repeated = text.empty() && (gap.empty() ? lines_.empty() : gap.back().empty());
      if (!repeated) gap.emplace_back(text);
    }
    if (after_entry && !has_blank) gap.insert(gap.begin(), "");
    lines_.insert(lines_.end(), gap.begin(), gap.end());
  }

  void entry(const YamlNode& node, uint32_t first, uint32_t limit) {
    const Extent region = {file_.offset(first, 1), file_.offset(limit, 1)};
    const Layout layout(file_, node, region);
    std::optional<Lines> printed;
    if (layout.understood() && node.is_map()) {
      printed = EntryPrinter(file_, layout, kind_).print(node);
    }
    if (printed) {
      lines_.insert(lines_.end(), printed->begin(), printed->end());
      return;
    }
    // As written, moved to the margin.
    const size_t margin = dash_column(first);
    for (uint32_t line = first; line < limit; ++line) {
      std::string_view text = file_.line(line);
      text.remove_prefix(std::min({text.find_first_not_of(' '), text.size(), margin}));
      lines_.emplace_back(text);
    }
  }

  const SourceFile& file_;
  const YamlNode& root_;
  FileKind kind_;
  Lines lines_;
};

bool is_word(std::string_view text, std::string_view marks) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || marks.find(c) != std::string_view::npos;
  });
}

/// Mistakes of form; what the entries mean is for `tenonc check`.
void check_form(const SourceFile& file, const YamlNode& root, FileKind kind, Dialect dialect,
                DiagnosticSink& sink) {
  Sources sources;
  switch (kind) {
  case FileKind::kOperators:
    sources.native = {&file};
    load(sources, dialect, sink);
    return;
  case FileKind::kTags:
    sources.tags = &file;
    load(sources, dialect, sink);
    return;
  case FileKind::kDerivatives: {
    // Their operators are declared elsewhere.
    detail::Reader reader(sink);
    for (const YamlPtr& entry : root.items) {
      if (!entry->is_map()) {
        reader.wrong_kind(*entry, "an entry", "a map with the key `name`");
        continue;
      }
      reader.map(*entry, [&](const LocatedName& key, const YamlNode&, const YamlNode& value) {
        const RuleScope scope(sink, "derivative_form");
        if (key.text != "name") {
          for (const LocatedName& name : detail::split_names({key.text, key.location, {}})) {
            if (is_word(name.text, "_")) continue;
            sink.error(key.location, "`" + name.text + "` names no argument or output");
          }
          return;
        }
        const std::optional<SourceString> text = reader.text(value, "`name`");
        if (!text) return;
        if (text->text.find('(') != std::string::npos) {
          sink.report(*text, schema::parse_schema(text->text).errors);
        } else if (!is_word(text->text, "_.:")) {
          sink.error(text->location, "`" + text->text + "` names no operator");
        }
      });
    }
    return;
  }
  case FileKind::kBackend: check_backend_form(root, sink); return;
  case FileKind::kUnknown: {
    const RuleScope scope(sink, "value_form");
    sink.error(
        {&file, 1, 1},
        "the file must be a list of entries with the key `func`, `name` or `tag`, or a map with "
        "the key `backend`");
  }
  }
}

/// All comments, in any order: those of a key move with it.
std::vector<std::string> comments_of(const SourceFile& file, const YamlNode& root) {
  const Layout layout(file, root, {0, file.text().size()});
  std::vector<std::string> result;
  for (const Comment& comment : layout.comments()) {
    result.emplace_back(layout.text(comment.extent));
  }
  std::sort(result.begin(), result.end());
  return result;
}

bool reads_back(const SourceFile& file, const YamlNode& root, FileKind kind,
                const std::string& text) {
  DiagnosticSink sink;
  const SourceFile* formatted = sink.sources().add(file.path(), text);
  const YamlPtr again = parse_yaml(*formatted, sink);
  return again != nullptr && !sink.has_errors() && same_data(root, *again, kind) &&
         comments_of(file, root) == comments_of(*formatted, *again);
}

Model load_operators(const SourceFile& file, DiagnosticSink& sink) {
  Sources sources;
  sources.native = {&file};
  return load(sources, Dialect::kTenon, sink);
}

/// The keys that shorten() wrote at their places.
std::string in_order(const std::string& text) {
  DiagnosticSink sink;
  const SourceFile* file = sink.sources().add("", text);
  const YamlPtr root = parse_yaml(*file, sink);
  return root == nullptr || sink.has_errors()
             ? text
             : FileFormatter(*file, *root, FileKind::kOperators).format();
}

/// Other words for the same operators, with the same comments.
bool means_the_same(const SourceFile& file, const YamlNode& root, const std::string& text) {
  DiagnosticSink sink, known;
  const SourceFile* shortened = sink.sources().add(file.path(), text);
  const YamlPtr again = parse_yaml(*shortened, sink);
  return again != nullptr && !sink.has_errors() &&
         same_operators(load_operators(file, known), load_operators(*shortened, sink)) &&
         !sink.has_errors() && comments_of(file, root) == comments_of(*shortened, *again);
}

}  // namespace

std::optional<std::string> format_yaml(const SourceFile& file, Dialect dialect,
                                       DiagnosticSink& sink) {
  const YamlPtr root = parse_yaml(file, sink);
  if (root == nullptr || sink.has_errors()) return std::nullopt;
  const FileKind kind = file_kind(*root);
  check_form(file, *root, kind, dialect, sink);
  if (sink.has_errors()) return std::nullopt;
  std::string text = FileFormatter(file, *root, kind).format();
  bool understood = reads_back(file, *root, kind, text);
  if (understood && kind == FileKind::kOperators && dialect == Dialect::kTenon) {
    const std::string shorter = in_order(shorten(text));
    understood = means_the_same(file, *root, shorter);
    text = shorter;
  }
  if (!understood) {
    const RuleScope scope(sink, "value_form");
    sink.error({&file, 1, 1}, "the file has a form that is not understood well enough to be "
                              "formatted; it is left as it is");
    return std::nullopt;
  }
  return text;
}

}  // namespace tenon::codegen
