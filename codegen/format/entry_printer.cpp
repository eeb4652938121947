#include "codegen/format/entry_printer.h"

#include <algorithm>

#include "codegen/format/canonical.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen {
namespace {

// A map in brackets that spans lines is joined up to this width.
constexpr size_t kWidth = 100;

std::string spaces(size_t count) { return std::string(count, ' '); }

bool is_printable(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

void append(std::vector<std::string>& lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
}

}  // namespace

std::optional<std::vector<std::string>> EntryPrinter::print(const YamlNode& entry) {
  const bool in_brackets = layout_.is_flow(entry);
  // Within brackets a comment's place is not one that block style has.
  if (entry.entries.empty() || (in_brackets && !layout_.comments().empty())) return std::nullopt;
  const bool in_list = kind_ != FileKind::kBackend;
  const size_t indent = in_list ? 2 : 0;
  std::vector<Chunk> chunks;
  const auto& keys = entry_keys(kind_);
  for (const auto& [key, value] : entry.entries) {
    Chunk chunk = pair(*key, *value, indent, true);
    const KeyInfo* info = find_key(kind_, key->scalar.text);
    // Formulas, and keys that only upstream knows, keep their order after the others.
    chunk.rank = info == nullptr ? keys.size() : static_cast<size_t>(info - keys.data());
    chunks.push_back(std::move(chunk));
  }
  const Lines tail = take_comments(file_.text().size());
  if (failed_) return std::nullopt;
  std::stable_sort(chunks.begin(), chunks.end(),
                   [](const Chunk& a, const Chunk& b) { return a.rank < b.rank; });
  Lines lines = chunks.front().comments;  // above the entry
  chunks.front().comments.clear();
  if (in_list) chunks.front().lines.front().replace(0, 2, "- ");
  for (const Chunk& chunk : chunks) {
    for (const std::string& comment : chunk.comments) lines.push_back(spaces(indent) + comment);
    append(lines, chunk.lines);
  }
  for (const std::string& comment : tail) lines.push_back(spaces(indent) + comment);
  return lines;
}

EntryPrinter::Chunk EntryPrinter::pair(const YamlNode& key, const YamlNode& value, size_t indent,
                                       bool top) {
  Chunk chunk;
  const Extent key_extent = layout_.extent(key);
  const Extent extent = layout_.value_extent(key, value);
  chunk.comments = take_comments(key_extent.begin);
  const KeyInfo* info = top ? find_key(kind_, key.scalar.text) : nullptr;
  std::optional<ValueForm> form;
  if (info != nullptr) form = info->form;
  const std::string head = spaces(indent) + key_text(key, false) + ":";

  const bool nested = (value.is_map() || value.is_sequence()) && !layout_.is_flow(value);
  if (nested) {
    const std::string comment = take_trailing(key_extent.end);
    chunk.lines.push_back(head + comment);
    block(value, indent + 2, form, chunk.lines);
    return chunk;
  }
  const size_t first = next_comment_;
  const Lines inner = take_comments(extent.end);
  std::string comment = take_trailing(extent.end);
  const bool has_inner = next_comment_ - first > (comment.empty() ? 0u : 1u);
  if (value.kind == YamlNode::Kind::kNull) {
    chunk.lines.push_back(head + comment);
    return chunk;
  }
  std::optional<std::string> text;
  const bool comment_between = has_inner && !value.is_scalar();
  if (!comment_between) text = inline_value(value, form, false);
  if (text) {
    // Comments between a key and its value go above; one may stay on the line.
    Lines above = inner;
    if (comment.empty() && !above.empty()) {
      comment = "  " + above.back();
      above.pop_back();
    }
    append(chunk.comments, above);
    chunk.lines.push_back(head + " " + *text + comment);
    return chunk;
  }
  // Comments within the value are part of it; between key and value there is no place for them.
  for (size_t i = first; i < next_comment_; ++i) {
    if (layout_.comments()[i].extent.begin < extent.begin) failed_ = true;
  }
  chunk.lines.push_back(head + " ");
  raw(extent, layout_.column(key_extent.begin), indent, chunk.lines);
  chunk.lines.back() += comment;
  return chunk;
}

void EntryPrinter::block(const YamlNode& value, size_t indent, std::optional<ValueForm> form,
                         Lines& lines) {
  if (value.is_sequence()) {
    sequence(value, indent, form, lines);
    return;
  }
  for (const auto& [key, inner] : value.entries) {
    const Chunk chunk = pair(*key, *inner, indent, false);
    for (const std::string& comment : chunk.comments) lines.push_back(spaces(indent) + comment);
    append(lines, chunk.lines);
  }
  // Comments after the last one that are indented as deep belong here.
  const size_t old_indent = layout_.column(layout_.extent(value).begin);
  const auto& comments = layout_.comments();
  while (next_comment_ < comments.size()) {
    const Comment& comment = comments[next_comment_];
    const size_t end = layout_.extent(value).end;
    const bool follows =
        file_.text().find_first_not_of(" \t\n", end) == comment.extent.begin ||
        (next_comment_ > 0 &&
         file_.text().find_first_not_of(" \t\n", comments[next_comment_ - 1].extent.end) ==
             comment.extent.begin);
    if (!comment.own_line || !follows || layout_.column(comment.extent.begin) < old_indent) break;
    lines.push_back(spaces(indent) + std::string(layout_.text(comment.extent)));
    ++next_comment_;
  }
}

void EntryPrinter::sequence(const YamlNode& value, size_t indent, std::optional<ValueForm> form,
                            Lines& lines) {
  for (const YamlPtr& item : value.items) {
    const Extent extent = layout_.extent(*item);
    for (const std::string& comment : take_comments(extent.begin)) {
      lines.push_back(spaces(indent) + comment);
    }
    const std::optional<std::string> text = inline_value(*item, form, false);
    if (!text) {
      failed_ = true;
      return;
    }
    lines.push_back(spaces(indent) + "- " + *text + take_trailing(extent.end));
  }
}

std::optional<std::string> EntryPrinter::inline_value(const YamlNode& value,
                                                      std::optional<ValueForm> form, bool in_flow) {
  if (value.is_scalar()) return scalar(value, form, in_flow);
  if (!layout_.is_flow(value)) return std::nullopt;
  const Extent extent = layout_.extent(value);
  for (const Comment& comment : layout_.comments()) {
    const size_t at = comment.extent.begin;
    if (at >= extent.begin && at < extent.end) return std::nullopt;
  }
  std::optional<std::string> text = flow(value, form);
  const bool one_line = layout_.line(extent.begin) == layout_.line(extent.end - 1);
  if (text && !one_line && text->size() > kWidth) return std::nullopt;
  return text;
}

std::optional<std::string> EntryPrinter::scalar(const YamlNode& value,
                                                std::optional<ValueForm> form, bool in_flow) {
  const Extent extent = layout_.extent(value);
  const std::string written(layout_.text(extent));
  const std::string wanted = canonical_text(form, detail::trimmed(value.scalar).text);
  const bool one_line = written.find('\n') == std::string::npos && !layout_.is_block_scalar(value);
  // Layout within a text of several lines is its author's.
  if (!one_line && form != ValueForm::kSchema) return std::nullopt;
  if (std::optional<std::string> text = plain_scalar(wanted, in_flow)) return text;
  if (one_line && !value.quoted) return wanted;
  if (one_line && (wanted == value.scalar.text || !is_printable(wanted))) return written;
  if (!is_printable(wanted)) return std::nullopt;
  return quoted_scalar(wanted);
}

std::optional<std::string> EntryPrinter::flow(const YamlNode& value,
                                              std::optional<ValueForm> form) {
  std::string text;
  const auto separate = [&] {
    if (!text.empty()) text += ", ";
  };
  for (const YamlPtr& item : value.items) {
    const std::optional<std::string> one = inline_value(*item, form, true);
    if (!one) return std::nullopt;
    separate();
    text += *one;
  }
  for (const auto& [key, inner] : value.entries) {
    const std::optional<std::string> one = inline_value(*inner, std::nullopt, true);
    if (!one) return std::nullopt;
    separate();
    text += key_text(*key, true) + ": " + *one;
  }
  return value.is_map() ? "{" + text + "}" : "[" + text + "]";
}

std::string EntryPrinter::key_text(const YamlNode& key, bool in_flow) {
  const std::string wanted = canonical_key(key.scalar.text);
  if (std::optional<std::string> text = plain_scalar(wanted, in_flow)) return *text;
  if (wanted.empty() || wanted.find('\n') != std::string::npos) failed_ = true;
  return !key.quoted && wanted == key.scalar.text ? wanted : quoted_scalar(wanted);
}

void EntryPrinter::raw(Extent extent, size_t old_indent, size_t indent, Lines& lines) {
  std::string_view text = layout_.text(extent);
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  size_t begin = 0;
  for (bool first = true; begin <= text.size(); first = false) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line(text.substr(begin, end - begin));
    if (first) {
      lines.back() += line;
    } else {
      const size_t blanks = std::min(line.find_first_not_of(' '), line.size());
      if (indent >= old_indent) {
        if (blanks < line.size()) line.insert(0, indent - old_indent, ' ');
      } else {
        line.erase(0, std::min(blanks, old_indent - indent));
      }
      lines.push_back(std::move(line));
    }
    begin = end + 1;
  }
}

EntryPrinter::Lines EntryPrinter::take_comments(size_t offset) {
  Lines lines;
  const auto& comments = layout_.comments();
  for (; next_comment_ < comments.size() && comments[next_comment_].extent.begin < offset;
       ++next_comment_) {
    lines.emplace_back(layout_.text(comments[next_comment_].extent));
  }
  return lines;
}

std::string EntryPrinter::take_trailing(size_t offset) {
  const auto& comments = layout_.comments();
  if (next_comment_ == comments.size()) return {};
  const Extent& extent = comments[next_comment_].extent;
  const bool own_line = comments[next_comment_].own_line;
  if (own_line || extent.begin < offset || layout_.line(extent.begin) != layout_.line(offset)) {
    return {};
  }
  ++next_comment_;
  return "  " + std::string(layout_.text(extent));
}

}  // namespace tenon::codegen
