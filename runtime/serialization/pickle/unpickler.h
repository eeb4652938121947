#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/serialization/budget.h"
#include "runtime/serialization/load.h"
#include "runtime/serialization/pickle/byte_cursor.h"
#include "runtime/serialization/pickle/opcode.h"
#include "runtime/serialization/values/value_visit.h"

namespace tenon::serialization {

/// A persistent id: which storage a pickle refers to.
struct StorageId {
  /// Of another storage, a part of which this one is, in elements: the oldest legacy files.
  struct View {
    std::string key;
    int64_t offset;
    int64_t numel;
  };

  std::string cls;  ///< "torch FloatStorage"
  std::string key;
  std::string location;
  int64_t numel;
  std::optional<View> view;
};

class Globals;

/// Runs a pickle. It knows containers, numbers, strings and the functions and classes of its
/// Globals, and calls nothing else. Errors give the offset of the opcode.
class Unpickler {
 public:
  /// Gives the Values for persistent ids, each as often as it occurs.
  using LoadStorage = std::function<Value(const StorageId& id)>;

  /// `budget` pays for all that is made. `fill_storages` gives the storages their data, for
  /// functions that compute with them; empty if that cannot be done before the pickle is read.
  Unpickler(ByteCursor& in, const Globals& globals, const LoadOptions& options, Budget& budget,
            LoadStorage load_storage, std::function<void()> fill_storages = {});
  /// Empties what was made if the pickle did not run to its end, circles included.
  ~Unpickler();

  /// The value that the pickle makes.
  Value run();

  // For the functions of Globals:

  Budget& budget() const { return budget_; }
  /// The storage that the pickle named last, for messages: "data/3"; empty for none.
  const std::string& last_storage() const { return last_storage_; }
  /// Has the storages so far filled with their data; false if that cannot be done yet.
  bool fill_storages() const {
    if (fill_storages_) fill_storages_();
    return static_cast<bool>(fill_storages_);
  }
  /// Has `object` emptied if the pickle fails.
  Value track(Value object);
  /// Says that code of the user's was given values, which it may keep.
  void gave_to_user() { gave_to_user_ = true; }
  [[noreturn]] void fail(const std::string& what) const;

 private:
  using Kind = Value::Kind;

  bool step();
  bool step_number(Opcode opcode);
  bool step_text(Opcode opcode);
  bool step_container(Opcode opcode);
  void push(Value value);
  /// The next bytes, which are to be a text or a large number.
  std::string_view take_text(uint64_t bytes);
  std::string_view take_text_line();
  void push_text(std::string_view utf8);
  void push_8bit(std::string_view text);
  void push_decimal(std::string_view digits);
  void push_tuple(size_t count);
  void push_dict(const Value::Items& items);
  void push_frozenset(const Value::Items& items);
  Value pop();
  Value pop(Kind kind);
  Value& top();
  size_t last_mark();
  /// Everything above the last mark, which goes too.
  Value::Items pop_to_mark();
  void append(const Value::Items& items);
  void set_items(const Value::Items& items);
  void add_items(const Value::Items& items);
  void put(uint64_t index);
  void get(uint64_t index);
  void global(std::string module, const std::string& name);
  void reduce();
  void new_object(bool has_keywords);
  void build();
  void persistent_load();
  /// Throws if containers are nested too deep; gives all that can be reached.
  detail::Nodes check_depth(const Value& value) const;
  void drop_circles(const detail::Nodes& reachable);
  /// Empties the tracked objects that are wanted.
  template <class F>
  void empty_all(F&& wanted);

  ByteCursor& in_;
  const Globals& globals_;
  const LoadOptions& options_;
  Budget& budget_;
  LoadStorage load_storage_;
  std::function<void()> fill_storages_;
  uint64_t opcode_at_ = 0;
  bool finished_ = false;
  bool gave_to_user_ = false;
  std::string last_storage_;
  std::vector<Value> stack_;
  std::vector<size_t> marks_;  // sizes of the stack
  // What writers number from 0 on, and what has other numbers. It is looked up without hashing: no
  // choice of numbers makes that slow.
  std::vector<Value> memo_;
  std::map<uint64_t, Value> far_memo_;
  std::vector<Value> tracked_;
};

}  // namespace tenon::serialization
