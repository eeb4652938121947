#pragma once

#include <map>
#include <string_view>
#include <vector>

#include "codegen/yaml/source_file.h"
#include "codegen/yaml/yaml.h"

namespace tenon::codegen {

/// Half-open byte range of a file.
struct Extent {
  size_t begin = 0, end = 0;
};

struct Comment {
  Extent extent;  // from `#`, without white space at the end
  bool own_line = false;
};

/// Where the parts of an entry lie in its file: what a YAML tree does not tell.
class Layout {
 public:
  /// `entry` lies within `region`. Not understood() where it has anchors, aliases, tags or a scalar
  /// whose place is not known.
  Layout(const SourceFile& file, const YamlNode& entry, Extent region);

  bool understood() const { return understood_; }
  const std::vector<Comment>& comments() const { return comments_; }
  std::string_view text(Extent extent) const {
    return std::string_view(file_.text()).substr(extent.begin, extent.end - extent.begin);
  }

  /// Of a scalar with its quotes, of a list or map in brackets with those; of a list or map in
  /// block style from its first to its last item.
  Extent extent(const YamlNode& node) const;
  /// A scalar after `|` or `>`.
  bool is_block_scalar(const YamlNode& node) const;
  /// `{...}` or `[...]`.
  bool is_flow(const YamlNode& node) const;
  /// The value of `key: value` from its first character on, `|` and `>` included.
  Extent value_extent(const YamlNode& key, const YamlNode& value) const;
  uint32_t line(size_t offset) const { return file_.line_of(offset); }
  /// Bytes before `offset` on its line.
  size_t column(size_t offset) const;

 private:
  void collect(const YamlNode& node, std::vector<Extent>& scalars);
  void scan(Extent gap, std::vector<size_t>& open);
  size_t begin_of(const YamlNode& node) const;

  const SourceFile& file_;
  bool understood_ = true;
  std::vector<Comment> comments_;
  std::map<size_t, size_t> closing_;  // from an opening bracket to past the closing one
};

}  // namespace tenon::codegen
