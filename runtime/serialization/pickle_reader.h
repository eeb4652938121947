#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/core/tensor_base.h"

namespace tenon::serialization {

/// A value of a pickle. Values refer to each other freely, in circles too, and live as long as
/// their machine.
struct PickleValue {
  enum class Kind : uint8_t {
    Mark,
    None,
    Bool,
    Int,
    Float,
    String,
    Tuple,
    List,
    Dict,
    Global,
    Storage,
    Tensor
  };
  using Pair = std::pair<const PickleValue*, const PickleValue*>;

  Kind kind = Kind::None;
  int64_t integer = 0;                    ///< Int; Bool: 0 or 1; Storage: number of elements
  double number = 0;                      ///< Float
  std::string text;                       ///< String; Global: "module name"; Storage: its key
  std::vector<const PickleValue*> items;  ///< Tuple, List
  std::vector<Pair> pairs;                ///< Dict, in order
  TensorBase tensor;                      ///< Tensor; Storage: all of it, one-dimensional

  /// "a string", "a tuple", ...: for messages.
  const char* description() const;
};

/// Runs a pickle of protocols 2 to 4. It knows containers, numbers, strings and tensors, and calls
/// nothing else: a pickle that names any other function or class is an error. Errors give the
/// offset of the opcode.
class PickleReader {
 public:
  /// Gives the one-dimensional tensor that is storage `key` of `numel` elements.
  using LoadStorage =
      std::function<TensorBase(const std::string& key, ScalarType dtype, int64_t numel)>;

  /// `name` is what errors call the pickle.
  PickleReader(std::string_view pickle, std::string name, LoadStorage load_storage)
      : pickle_(pickle), name_(std::move(name)), load_storage_(std::move(load_storage)) {}

  /// The value that the pickle makes.
  const PickleValue& run();

 private:
  using Kind = PickleValue::Kind;
  using Ref = PickleValue*;

  bool step();
  Ref make(Kind kind);
  void push(Ref value) { stack_.push_back(value); }
  void push_int(int64_t value);
  void push_string(std::string_view text);
  void push_long(std::string_view bytes);
  void push_tuple(size_t count);
  Ref pop();
  Ref pop(Kind kind);
  Ref& top();
  /// Everything above the last mark, which goes too.
  std::vector<const PickleValue*> pop_to_mark();
  void append(std::vector<const PickleValue*> values);
  void set_items(const std::vector<const PickleValue*>& values);
  void put(uint64_t index);
  void get(uint64_t index);
  void global(std::string module, std::string name);
  void reduce();
  void build();
  void persistent_load();
  Ref rebuild_tensor(const std::vector<const PickleValue*>& arguments);

  std::string_view take(uint64_t bytes);
  template <class T>
  T take_number();
  std::string_view take_line();
  template <class... Parts>
  [[noreturn]] void fail(const Parts&... parts) const;

  std::string_view pickle_;
  std::string name_;
  LoadStorage load_storage_;
  size_t at_ = 0;
  size_t opcode_at_ = 0;
  std::deque<PickleValue> values_;
  std::vector<Ref> stack_;
  std::unordered_map<uint64_t, Ref> memo_;
  std::unordered_map<std::string, Ref> storages_;
};

/// Sizes and strides over a storage, as the pickle gives them; throws for geometry that leaves the
/// storage.
TensorBase tensor_over(const TensorBase& storage, int64_t offset, IntArrayRef sizes,
                       IntArrayRef strides);

}  // namespace tenon::serialization
