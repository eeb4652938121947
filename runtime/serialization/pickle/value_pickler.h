#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/serialization/pickle/pickle_writer.h"
#include "runtime/serialization/pickle/storage_table.h"
#include "runtime/serialization/save.h"

namespace tenon::serialization {

/// Writes a Value as torch.save's pickler does: the same opcodes in the same order.
class ValuePickler {
 public:
  ValuePickler(StorageTable& storages, const SaveOptions& options)
      : storages_(storages), options_(options) {}

  /// The pickle of `value`. Errors name the place of what cannot be saved: "[save] ['a'][2]: ...".
  std::string run(const Value& value);

 private:
  using Memo = PickleWriter::Memo;

  void save(const Value& v);
  void save_node(const Value& v);
  void save_at(const Value& key, const Value& v);
  void text(const Value& v);
  void bytes(const Value& v);
  void plain_bytes(const std::string& data);
  void list(const Value& v);
  void tuple(const Value& v);
  void dict(const Value& v);
  void ordered_dict(const Value& v);
  void elements(const Value& v);
  void called(const char* module, const char* name, const Value& v);
  void object(const Value& v);
  void storage(const Value& v);
  void tensor(const Value& v);
  void parameter(const Value& v);
  void dense_tensor(const Tensor& t, std::string_view cls = {});
  void storage_id(const Storage& storage, ScalarType dtype);
  void empty_ordered_dict();
  /// The metadata of a tensor with such bits.
  void bits(bool conj, bool neg);
  /// Remembers the object that a REDUCE just made.
  void reduced(const Value& v, bool by_new = false);
  const Value& keep(Value v) { return kept_.emplace_back(std::move(v)); }
  const Memo* memo_of(const Value& v) const;
  void memoize(const Value& v, Memo memo);
  /// Where in the value the pickler is: "['a'][2]: ", or nothing at its root.
  std::string place() const;
  [[noreturn]] void fail(const std::string& what) const;

  StorageTable& storages_;
  const SaveOptions& options_;
  PickleWriter out_;
  std::unordered_map<const void*, Memo> memo_;
  std::unordered_map<std::string, Memo> keys_;  // of storages
  std::map<std::string, Memo> layouts_;
  std::map<std::string, Memo> bytes_;
  std::vector<const Value*> path_;
  std::deque<Value> kept_;  // what the memo knows by address alone must live as long
  int depth_ = 0;
};

}  // namespace tenon::serialization
