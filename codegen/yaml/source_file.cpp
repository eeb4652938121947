#include "codegen/yaml/source_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace tenon::codegen {

namespace {

// CRLF and lone CR become LF, and a byte order mark goes, so that nothing downstream sees them.
// Neither moves a line or a column.
std::string normalized(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  const size_t begin = text.starts_with("\xEF\xBB\xBF") ? 3 : 0;
  for (size_t i = begin; i < text.size(); ++i) {
    if (text[i] != '\r') {
      out += text[i];
    } else if (i + 1 >= text.size() || text[i + 1] != '\n') {
      out += '\n';
    }
  }
  return out;
}

}  // namespace

size_t utf8_length(std::string_view text, size_t i) {
  const auto lead = static_cast<unsigned char>(text[i]);
  const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (length > 1 && (lead < 0xC2 || lead > 0xF4)) return 0;
  for (size_t k = 1; k < length; ++k) {
    if (i + k >= text.size() || (static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

SourceFile::SourceFile(std::string path, std::string text)
    : path_(std::move(path)), text_(normalized(text)) {
  line_starts_.push_back(0);
  for (size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
}

std::string_view SourceFile::line(uint32_t number) const {
  if (number == 0 || number > line_starts_.size()) return {};
  const size_t begin = line_starts_[number - 1];
  const size_t end = number < line_starts_.size() ? line_starts_[number] - 1 : text_.size();
  return std::string_view(text_).substr(begin, end - begin);
}

size_t SourceFile::offset(uint32_t line, uint32_t column) const {
  if (line == 0 || line > line_starts_.size()) return text_.size();
  return std::min(text_.size(), line_starts_[line - 1] + std::max(column, 1u) - 1);
}

uint32_t SourceFile::line_of(size_t offset) const {
  const auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  return static_cast<uint32_t>(after - line_starts_.begin());
}

std::string Location::to_string() const {
  if (!valid()) return {};
  return file->path() + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::string Location::file_name() const {
  if (!valid()) return {};
  return file->path().substr(file->path().rfind('/') + 1);
}

Location SourceString::at(size_t offset) const {
  if (!location.valid()) return location;
  const auto after = std::upper_bound(
      segments.begin(), segments.end(), offset,
      [](size_t wanted, const Segment& segment) { return wanted < segment.offset; });
  Location result = location;
  if (after == segments.begin()) {
    result.column += static_cast<uint32_t>(std::min(offset, text.size()));
    return result;
  }
  const Segment& segment = *(after - 1);
  result.line = segment.line;
  result.column = segment.column + static_cast<uint32_t>(offset - segment.offset);
  return result;
}

Location SourceString::end_at(size_t offset) const {
  if (offset == 0) return at(0);
  Location result = at(offset - 1);
  ++result.column;
  return result;
}

const SourceFile* SourceManager::open(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return nullptr;
  std::ifstream in(path, std::ios::binary);
  if (!in) return nullptr;
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) return nullptr;
  return add(path, text.str());
}

const SourceFile* SourceManager::add(std::string path, std::string text) {
  files_.push_back(std::make_unique<SourceFile>(std::move(path), std::move(text)));
  return files_.back().get();
}

}  // namespace tenon::codegen
