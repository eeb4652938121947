#include "runtime/serialization/pickle/storage_table.h"

#include <algorithm>
#include <cstring>

#include "runtime/serialization/io/parallel_tasks.h"
#include "runtime/serialization/location.h"
#include "runtime/serialization/pickle/sparse_parts.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/values/value_visit.h"

namespace tenon::serialization {
namespace {

/// What is saved in vain is told from here on, and if it is more than half of the storage.
constexpr uint64_t kWasteBytes = 1 << 20;

bool is_waste(uint64_t used, uint64_t saved) {
  return saved - used >= kWasteBytes && used < saved / 2;
}

/// The bytes of its storage between a tensor's first and last element.
StorageTable::Range extent(const Tensor& t) {
  if (t.numel() == 0) return {};
  const auto offset = static_cast<uint64_t>(t.storage_offset());
  uint64_t last = offset;
  for (int64_t d = 0; d < t.dim(); ++d)
    last += static_cast<uint64_t>((t.size(d) - 1) * t.stride(d));
  return {offset * t.element_size(), (last + 1) * t.element_size()};
}

}  // namespace

void StorageTable::Range::add(const Range& other) {
  if (other.bytes() == 0) return;
  *this = bytes() == 0 ? other : Range{std::min(begin, other.begin), std::max(end, other.end)};
}

void StorageTable::trim_to(const Value& value) {
  detail::each_reachable(value, [this](const Value& v, int) {
    if (v.is(Value::Kind::Storage)) {
      const Storage storage = v.to_storage();
      return used_[storage.get()].add({0, storage.nbytes()});
    }
    if (!v.is_tensor()) return;
    const Tensor t = v.to_tensor();
    if (t.defined() && t.layout() != kStrided) {
      for (const Tensor& part : parts_of_sparse(t)) used_[part.storage().get()].add(extent(part));
      return;
    }
    if (t.defined()) t.data_ptr();  // an error for a batched tensor
    if (t.has_storage() && !t.is_meta()) used_[t.storage().get()].add(extent(t));
  });
}

void StorageTable::note_use(const Tensor& t, const std::function<std::string()>& place) {
  Record& record = *index_.at(t.storage().get());
  const Range used = extent(t);
  record.used.add(used);
  if (!record.part && is_waste(used.bytes(), record.bytes()))
    record.part.emplace(place(), used.bytes());
}

void StorageTable::note_use(const Storage& storage) {
  index_.at(storage.get())->used = {0, storage.nbytes()};
}

std::string StorageTable::waste() const {
  const Record* first = nullptr;
  size_t count = 0;
  for (const auto& record : records_) {
    if (!is_waste(record->used.bytes(), record->bytes())) continue;
    if (++count == 1) first = record.get();
  }
  if (!first) return "";
  const std::string more =
      count > 1 ? tenon::detail::concat(", the first of ", count, " such storages") : "";
  return tenon::detail::concat(first->part->first, "a tensor of ", first->part->second,
                               " bytes is saved with all ", first->bytes(), " bytes of its storage",
                               more, "; save its clone(), or with SaveOptions::compact");
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
