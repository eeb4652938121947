#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::codegen {

/// Length of the UTF-8 sequence at byte `i` of `text`, or 0 when there is none.
size_t utf8_length(std::string_view text, size_t i);

/// A file that was read: its name as given on the command line and its text.
class SourceFile {
 public:
  SourceFile(std::string path, std::string text);

  const std::string& path() const { return path_; }
  const std::string& text() const { return text_; }
  size_t num_lines() const { return line_starts_.size(); }
  /// Line `number` (1-based) without its line break, CR included; "" when out of range.
  std::string_view line(uint32_t number) const;
  /// Byte offset of a 1-based line and column; clamped to the text.
  size_t offset(uint32_t line, uint32_t column) const;
  /// 1-based number of the line that holds byte `offset`.
  uint32_t line_of(size_t offset) const;

 private:
  std::string path_;
  std::string text_;
  std::vector<size_t> line_starts_;
};

/// A place in a file. Lines and columns are 1-based; columns count bytes.
struct Location {
  const SourceFile* file = nullptr;
  uint32_t line = 0;
  uint32_t column = 0;

  bool valid() const { return file != nullptr && line > 0; }
  /// "native_functions.yaml:12:9", or "" when not valid.
  std::string to_string() const;
  /// "native_functions.yaml", or "" when not valid.
  std::string file_name() const;
};

/// The decoded text of a YAML scalar which knows where each of its bytes came from, whatever the
/// scalar's style: plain, quoted, literal, folded, over one line or many.
struct SourceString {
  std::string text;
  Location location;  // first byte of the text (after a quote or a block's indentation)

  /// Byte `offset` of `text` lies at line and column; so do the following ones, one column each,
  /// up to the next segment.
  struct Segment {
    uint32_t offset, line, column;
  };
  std::vector<Segment> segments;  // empty: everything on one line from `location`

  bool empty() const { return text.empty(); }
  /// Place of byte `offset`; one past the end is allowed.
  Location at(size_t offset) const;
  /// Place just past a span of the text that ends at `offset`, on the line of its last byte.
  Location end_at(size_t offset) const;
};

/// A name with its place.
struct LocatedName {
  std::string text;
  Location location;
};

/// Owns the files that locations point into.
class SourceManager {
 public:
  /// Reads `path`; null when it cannot be read. The same path twice gives two files.
  const SourceFile* open(const std::string& path);
  const SourceFile* add(std::string path, std::string text);
  const std::vector<std::unique_ptr<SourceFile>>& files() const { return files_; }

 private:
  std::vector<std::unique_ptr<SourceFile>> files_;
};

}  // namespace tenon::codegen
