#include "codegen/format/layout.h"

#include <algorithm>

namespace tenon::codegen {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n'; }

}  // namespace

Layout::Layout(const SourceFile& file, const YamlNode& entry, Extent region) : file_(file) {
  std::vector<Extent> scalars;
  collect(entry, scalars);
  std::sort(scalars.begin(), scalars.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::vector<size_t> open;
  size_t at = region.begin;
  for (const Extent& scalar : scalars) {
    if (!understood_ || scalar.begin < at || scalar.end > region.end) {
      understood_ = false;  // an alias stands for a scalar elsewhere
      return;
    }
    scan({at, scalar.begin}, open);
    at = scalar.end;
  }
  scan({at, region.end}, open);
  if (!open.empty()) understood_ = false;
}

void Layout::collect(const YamlNode& node, std::vector<Extent>& scalars) {
  if (node.is_scalar()) {
    // An empty text after `|` ends where a comment may begin.
    const bool empty_block =
        node.scalar.text.find_first_not_of(" \n") == std::string::npos && is_block_scalar(node);
    if (node.scalar.segments.empty() || empty_block) {
      understood_ = false;
    } else {
      scalars.push_back(extent(node));
    }
  }
  for (const YamlPtr& item : node.items) collect(*item, scalars);
  for (const auto& [key, value] : node.entries) {
    if (!key->is_scalar()) understood_ = false;
    collect(*key, scalars);
    collect(*value, scalars);
  }
}

void Layout::scan(Extent gap, std::vector<size_t>& open) {
  const std::string& text = file_.text();
  for (size_t i = gap.begin; i < gap.end && understood_; ++i) {
    const char c = text[i];
    if (is_blank(c)) continue;
    if (c == '#') {
      size_t end = std::min(text.find('\n', i), text.size());
      const size_t next = end;
      while (is_blank(text[end - 1])) --end;
      const size_t before = text.find_last_not_of(" \t", i == 0 ? 0 : i - 1);
      const bool own = i == 0 || before == std::string::npos || text[before] == '\n';
      comments_.push_back({{i, end}, own});
      i = next - 1;
    } else if (c == '{' || c == '[') {
      open.push_back(i);
    } else if (c == '}' || c == ']') {
      if (open.empty()) {
        understood_ = false;
        return;
      }
      closing_[open.back()] = i + 1;
      open.pop_back();
    } else if (c == '|' || c == '>') {  // header of a block scalar: |- >2
      while (i + 1 < gap.end && (text[i + 1] == '-' || text[i + 1] == '+' ||
                                 (text[i + 1] >= '0' && text[i + 1] <= '9'))) {
        ++i;
      }
    } else if (c != '-' && c != ':' && c != ',') {
      understood_ = false;
    }
  }
}

size_t Layout::begin_of(const YamlNode& node) const {
  return file_.offset(node.location.line, node.location.column);
}

Extent Layout::extent(const YamlNode& node) const {
  const std::string& text = file_.text();
  const size_t begin = begin_of(node);
  if (node.is_scalar()) {
    const Location last = node.scalar.at(node.scalar.text.size());
    const size_t end = std::max(begin, file_.offset(last.line, last.column));
    const char quote = begin > 0 ? text[begin - 1] : '\0';
    const bool quoted = (quote == '"' || quote == '\'') && end < text.size() && text[end] == quote;
    return quoted && node.quoted ? Extent{begin - 1, end + 1} : Extent{begin, end};
  }
  if (is_flow(node)) return {begin, closing_.at(begin)};
  size_t end = begin;
  for (const YamlPtr& item : node.items) end = std::max(end, extent(*item).end);
  for (const auto& [key, value] : node.entries) {
    end = std::max({end, extent(*key).end, value_extent(*key, *value).end});
  }
  return {begin, end};
}

bool Layout::is_block_scalar(const YamlNode& node) const {
  return node.is_scalar() && node.quoted && extent(node).begin == begin_of(node);
}

bool Layout::is_flow(const YamlNode& node) const {
  return (node.is_map() || node.is_sequence()) && closing_.contains(begin_of(node));
}

Extent Layout::value_extent(const YamlNode& key, const YamlNode& value) const {
  const std::string& text = file_.text();
  size_t begin = text.find(':', extent(key).end);
  begin = begin == std::string::npos ? text.size() : begin + 1;
  if (value.kind == YamlNode::Kind::kNull) return {begin, begin};
  const Extent own = extent(value);
  // The header of a block scalar stands before its text, maybe with a comment.
  while (begin < own.begin && is_blank(text[begin])) ++begin;
  const bool header = begin < own.begin && (text[begin] == '|' || text[begin] == '>');
  return {header ? begin : own.begin, own.end};
}

size_t Layout::column(size_t offset) const { return offset - file_.offset(line(offset), 1); }

}  // namespace tenon::codegen
