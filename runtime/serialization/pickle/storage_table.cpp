#include "runtime/serialization/pickle/storage_table.h"

#include <algorithm>
#include <cstring>
#include <unordered_set>

#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/location.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/value_node.h"

namespace tenon::serialization {
namespace {

/// Calls f for each tensor and storage that can be reached.
template <class F>
void visit(const Value& root, F&& f) {
  std::unordered_set<const detail::Node*> seen;
  std::vector<const Value*> pending = {&root};
  while (!pending.empty()) {
    const Value& v = *pending.back();
    pending.pop_back();
    const detail::Node* node = detail::Node::of(v);
    if (!node || !seen.insert(node).second) continue;
    if (v.is_tensor() || v.is(Value::Kind::Storage)) f(v);
    pending.push_back(&v.attributes());
    if (v.is_dict()) {
      for (const auto& [key, value] : v.entries()) {
        pending.push_back(&key);
        pending.push_back(&value);
      }
    } else if (v.is(Value::Kind::Object)) {
      pending.push_back(&v.args());
    } else if (v.is_list() || v.is_tuple() || v.is(Value::Kind::Set) ||
               v.is(Value::Kind::FrozenSet)) {
      for (const Value& item : v.items()) pending.push_back(&item);
    }
  }
}

}  // namespace

void StorageTable::trim_to(const Value& value) {
  visit(value, [this](const Value& v) {
    const bool whole = !v.is_tensor();
    const Tensor t = whole ? Tensor() : v.to_tensor();
    if (!whole && (!t.has_storage() || t.is_meta())) return;
    const Storage storage = whole ? v.to_storage() : t.storage();
    uint64_t begin = 0, end = storage.nbytes();
    if (!whole) {
      const auto offset = static_cast<uint64_t>(t.storage_offset());
      uint64_t last = offset;
      for (int64_t d = 0; d < t.dim() && t.numel() > 0; ++d)
        last += static_cast<uint64_t>((t.size(d) - 1) * t.stride(d));
      begin = t.numel() > 0 ? offset * t.element_size() : 0;
      end = t.numel() > 0 ? (last + 1) * t.element_size() : 0;
    }
    const auto [it, is_new] = used_.emplace(storage.get(), Range{begin, end});
    if (is_new || begin == end) return;
    Range& used = it->second;
    used = used.begin == used.end ? Range{begin, end}
                                  : Range{std::min(used.begin, begin), std::max(used.end, end)};
  });
}

const StorageTable::Record& StorageTable::add(const Storage& storage, ScalarType dtype) {
  Record*& record = index_[storage.get()];
  if (!record) {
    const auto used = used_.find(storage.get());
    const Range range = used != used_.end() ? used->second : Range{0, storage.nbytes()};
    records_.push_back(
        std::make_unique<Record>(Record{std::to_string(records_.size()), location_tag(storage),
                                        storage, dtype, range.begin, range.end}));
    record = records_.back().get();
  }
  TENON_CHECK(record->dtype == dtype || storage.nbytes() == 0,
              "Cannot save multiple tensors or storages that view the same data as different "
              "types: ",
              dtype, " on memory already saved as ", record->dtype);
  return *record;
}

void StorageTable::snapshot() {
  parallel_tasks(records_.size(), [this](size_t i) {
    Record& record = *records_[i];
    Tensor copied;
    const char* from = host_bytes(record, copied);
    const uint64_t bytes = record.bytes();
    const Storage own = make_storage(bytes, kCPU);
    if (bytes > 0) std::memcpy(own.data(), from, bytes);
    record.storage = own;
    record.begin = 0;
    record.end = bytes;
  });
  index_.clear();
}

const char* host_bytes(const StorageTable::Record& record, Tensor& keep) {
  if (!record.storage.device().is_cpu()) {
    keep = Tensor(view_storage(record.storage, kByte)).cpu();
    return static_cast<const char*>(keep.const_data_ptr()) + record.begin;
  }
  return static_cast<const char*>(record.storage.data()) + record.begin;
}

}  // namespace tenon::serialization
