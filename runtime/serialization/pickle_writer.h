#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aten/core/array_ref.h"

namespace tenon::serialization {

/// Writes a pickle of protocol 2 the way Python's pickler does, memo numbers included.
class PickleWriter {
 public:
  PickleWriter() : out_("\x80\x02", 2) {}

  /// An entry of the memo, to be referred to again.
  using Memo = uint32_t;

  void mark() { out_ += '('; }
  void none() { out_ += 'N'; }
  void boolean(bool value) { out_ += value ? '\x88' : '\x89'; }
  void integer(int64_t value);
  /// A string object of its own.
  Memo string(std::string_view text);
  /// A string that is one object wherever it occurs.
  void shared_string(std::string_view text);
  void global(std::string_view module, std::string_view name);
  void empty_tuple() { out_ += ')'; }
  /// Ends the tuple begun with mark().
  void tuple() { remember('t'); }
  void integers(IntArrayRef values);
  void reduce() { remember('R'); }
  void persistent_id() { out_ += 'Q'; }
  void set_item() { out_ += 's'; }
  void set_items() { out_ += 'u'; }
  void get(Memo memo);
  std::string finish() && {
    out_ += '.';
    return std::move(out_);
  }

 private:
  Memo remember(char opcode);
  Memo put();

  std::string out_;
  uint32_t next_ = 0;
  std::unordered_map<std::string, Memo> strings_;
  std::unordered_map<std::string, Memo> globals_;
};

}  // namespace tenon::serialization
