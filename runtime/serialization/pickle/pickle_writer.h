#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "aten/core/array_ref.h"
#include "runtime/serialization/pickle/opcode.h"

namespace tenon::serialization {

/// Writes opcodes of pickle protocol 2 the way Python's pickler does, memo numbers included.
class PickleWriter {
 public:
  PickleWriter() {
    write(Opcode::Proto);
    out_ += '\x02';
  }

  /// An entry of the memo, to be referred to again.
  using Memo = uint32_t;

  void mark() { write(Opcode::Mark); }
  void none() { write(Opcode::None); }
  void boolean(bool value) { write(value ? Opcode::NewTrue : Opcode::NewFalse); }
  void integer(int64_t value);
  /// An integer of any size in two's complement, least significant byte first.
  void long_integer(std::string_view bytes);
  void real(double value);
  /// A string object of its own.
  Memo string(std::string_view text);
  /// A string that is one object wherever it occurs.
  void shared_string(std::string_view text);
  void global(std::string_view module, std::string_view name);
  /// "module name".
  void global(std::string_view text);
  void empty_tuple() { write(Opcode::EmptyTuple); }
  Memo empty_list() { return remember(Opcode::EmptyList); }
  Memo empty_dict() { return remember(Opcode::EmptyDict); }
  /// Begins a tuple of `items` items, which tuple() ends.
  void begin_tuple(size_t items) {
    if (items > 3) mark();
  }
  Memo tuple(size_t items);
  /// Instead of tuple(): the tuple has come to be in the memo while its items were written.
  void drop_tuple(size_t items, Memo memo);
  void integers(IntArrayRef values);
  Memo reduce() { return remember(Opcode::Reduce); }
  Memo new_object() { return remember(Opcode::NewObj); }
  /// Instead of what reduce() remembers: the object has come to be in the memo by its own
  /// arguments.
  void drop_reduced(bool by_new, Memo memo);
  void build() { write(Opcode::Build); }
  void persistent_id() { write(Opcode::BinPersId); }
  void append() { write(Opcode::Append); }
  void appends() { write(Opcode::Appends); }
  void set_item() { write(Opcode::SetItem); }
  void set_items() { write(Opcode::SetItems); }
  void get(Memo memo);
  std::string finish() && {
    write(Opcode::Stop);
    return std::move(out_);
  }

 private:
  void write(Opcode opcode) { out_ += static_cast<char>(opcode); }
  Memo remember(Opcode opcode);
  Memo put();

  std::string out_;
  uint32_t next_ = 0;
  std::unordered_map<std::string, Memo> strings_;
  std::unordered_map<std::string, Memo> globals_;
};

}  // namespace tenon::serialization
