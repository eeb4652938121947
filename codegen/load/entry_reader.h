#pragma once

#include <string>
#include <string_view>

#include "codegen/model/operator.h"
#include "codegen/yaml/reader.h"

namespace tenon::codegen::detail {

/// Which of the operators that an entry stands for.
struct Alternative {
  size_t index = 0, count = 1;
};

/// The key of an entry that is meant by one that is none; maybe "".
std::string meant_key(const std::string& key, Dialect dialect);

bool is_name(std::string_view text);

/// Fills one Operator from the keys of its entry; one member function per key.
class EntryReader {
 public:
  EntryReader(Reader& reader, Dialect dialect, Alternative which, Operator& op)
      : reader_(reader), dialect_(dialect), which_(which), op_(op) {}

  void read(const LocatedName& key, const YamlNode& value);
  /// After the last key: decides how the operator is computed. If an entry says it in several ways,
  /// which the checks report, the first of the order in the source counts. `understood`: the
  /// schema was read.
  void finish(bool understood);

 private:
  struct Handlers;

  bool is_left_out(const LocatedName& key, const YamlNode& value);
  void unknown(const LocatedName& key);
  void apply_dtypes();

  void flag(const YamlNode& value, bool& member);
  void one_name(const YamlNode& value, std::optional<LocatedName>& member);
  void backends(const YamlNode& value);

  void variants(const YamlNode& value);
  void dispatch(const YamlNode& value);
  void pointwise(const YamlNode& value);
  void dtypes(const YamlNode& value);
  void over(const YamlNode& value);
  void promote(const YamlNode& value);
  void composite(const YamlNode& value);
  void foreach_expression(const YamlNode& value);
  void structured(const YamlNode& value);

  Rowwise& rows() { return rowwise_ ? *rowwise_ : rowwise_.emplace(); }

  Reader& reader_;
  Dialect dialect_;
  Alternative which_;
  Operator& op_;
  std::string what_;  // the key being read, for messages
  // What has been read so far of each way to be computed.
  std::optional<LocatedName> alias_of_, delegate_;
  std::optional<Pointwise> pointwise_;
  std::optional<Update> update_;
  std::optional<Rowwise> rowwise_;
  std::optional<SourceString> composition_;
  std::optional<CompositeFunction> composite_;
  std::vector<LocatedName> dtypes_;
  bool structured_ = false;
};

}  // namespace tenon::codegen::detail
