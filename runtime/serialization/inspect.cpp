#include "runtime/serialization/inspect.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>
#include <unordered_set>

#include "runtime/serialization/checkpoint_reader.h"
#include "runtime/serialization/legacy_format.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/sniff.h"
#include "runtime/serialization/value_node.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;

/// "torch._utils f" as "torch._utils.f".
std::string dotted(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '.');
  return name;
}

/// "torch QInt8Storage" as "QInt8Storage".
std::string class_name(const std::string& global) { return global.substr(global.find(' ') + 1); }

uint64_t bytes_per_element(const std::string& cls) {
  if (const auto dtype = storage_dtype(cls))
    return *dtype == ScalarType::Undefined ? 1 : element_size(*dtype);
  return cls == "torch QInt32Storage" ? 4 : 1;  // the others that PyTorch has hold bytes
}

/// What PyTorch calls the elements of a quantized storage: "qint8".
std::string quantized_name(const std::string& cls) {
  std::string name = class_name(cls);
  name.resize(name.size() - std::min(name.size(), std::string_view("Storage").size()));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Collects what a pickle refers to.
class Inspector {
 public:
  explicit Inspector(const ByteSource& source) : source_(source) {
    info_.is_legacy = sniff(source) == FileFormat::Legacy;
  }

  CheckpointInfo run() {
    try {
      info_.is_legacy ? run_legacy() : run_zip();
    } catch (...) {
      dispose(info_.value);
      throw;
    }
    for (const std::string& name : globals_.named()) info_.globals.push_back(dotted(name));
    for (const std::string& name : globals_.unsafe()) info_.unsafe_globals.push_back(dotted(name));
    walk(info_.value, "");
    return std::move(info_);
  }

 private:
  void run_zip() {
    const ZipCheckpoint checkpoint(source_, nullptr, options_);
    info_.archive = checkpoint.zip().archive();
    info_.version = checkpoint.version();
    info_.byteorder = checkpoint.is_big_endian() ? "big" : "little";
    const std::string pickle = checkpoint.zip().read("data.pkl");
    ByteCursor in(pickle, source_.name() + ": data.pkl");
    info_.value = run_pickle(in, &checkpoint.zip());
  }

  void run_legacy() {
    ByteCursor in(source_, 0, source_.name());
    const Passing head(run_pickle(in, nullptr));
    const Value& magic = head.value;
    if (!magic.is_int() || magic.int_bytes() != legacy::kMagic)
      fail("Invalid magic number; corrupt file?");
    for (int skipped = 0; skipped < 2; ++skipped) Passing(run_pickle(in, nullptr));
    info_.byteorder = "little";
    info_.value = run_pickle(in, nullptr);
    const Passing last(run_pickle(in, nullptr));
    const Value& keys = last.value;
    for (const Value& key : keys.items()) {
      const auto it = index_.find(key.is_string() ? key.to_string() : "");
      if (it == index_.end()) fail("a storage key is not in the pickle");
      in.skip(sizeof(uint64_t));
      info_.storages[it->second].offset = in.position();
      in.skip(info_.storages[it->second].bytes);
    }
  }

  [[noreturn]] void fail(const std::string& what) const {
    tenon::detail::raise<Error>("[load] ", source_.name(), ": ", what);
  }

  Value run_pickle(ByteCursor& in, const ZipReader* zip) {
    Unpickler machine(in, globals_, options_,
                      [&](const StorageId& id) { return storage(id, zip); });
    return machine.run();
  }

  Value storage(const StorageId& id, const ZipReader* zip) {
    const uint64_t size = bytes_per_element(id.cls);
    const uint64_t limit = zip ? zip->size("data/" + id.key) : source_.size();
    const auto numel = static_cast<uint64_t>(id.numel);
    if (numel > limit / size || (zip && numel * size != limit)) {
      fail("storage " + id.key + ": record size (" + std::to_string(limit) +
           " bytes) does not match expected size (" + std::to_string(numel) + " elements of " +
           std::to_string(size) + " bytes)");
    }
    const auto [it, is_new] = index_.emplace(id.key, info_.storages.size());
    if (is_new) {
      StorageInfo info;
      info.key = id.key;
      info.cls = class_name(id.cls);
      info.location = id.location;
      info.bytes = numel * size;
      info.offset = zip ? zip->offset("data/" + id.key) : 0;
      info_.storages.push_back(std::move(info));
      memory_.push_back(make_storage(numel * size, kMeta));
      keys_.emplace(memory_.back().get(), it->second);
    }
    return Value::storage(memory_[it->second],
                          storage_dtype(id.cls).value_or(ScalarType::Undefined));
  }

  // ---- names of tensors ----------------------------------------------------------------------

  static std::string joined(const std::string& name, const Value& key) {
    const std::string part = key.is_string() ? key.to_string() : tenon::detail::concat(key);
    return name.empty() ? part : name + "." + part;
  }

  void walk(const Value& root, const std::string& root_name) {
    std::unordered_set<const detail::Node*> seen;
    std::vector<std::pair<Value, std::string>> pending = {{root, root_name}};
    while (!pending.empty()) {
      const auto [v, name] = std::move(pending.back());
      pending.pop_back();
      if (v.is_tensor()) {
        add_tensor(v, name);
        continue;
      }
      if (v.is(Kind::Object) && add_object(v, name)) continue;
      if (detail::Node::of(v) && !seen.insert(detail::Node::of(v)).second) continue;
      const size_t first = pending.size();
      if (v.is_dict()) {
        for (const auto& [key, item] : v.entries()) pending.emplace_back(item, joined(name, key));
      } else if (v.is(Kind::Object)) {
        pending.emplace_back(v.args(), name);
      } else if (v.is_list() || v.is_tuple() || v.is(Kind::Set)) {
        for (size_t i = 0; i < v.size(); ++i) pending.emplace_back(v[i], joined(name, Value(i)));
      }
      if (!v.attributes().is_none()) pending.emplace_back(v.attributes(), name);
      std::reverse(pending.begin() + static_cast<std::ptrdiff_t>(first), pending.end());
    }
  }

  /// Says that a tensor lies in the storage.
  void place(TensorInfo& info, const Storage& storage) {
    const auto it = keys_.find(storage.get());
    if (it == keys_.end()) return;
    StorageInfo& in = info_.storages[it->second];
    info.storages.push_back(in.key);
    in.tensors.push_back(info.name);
  }

  void add_tensor(const Value& v, const std::string& name) {
    const Tensor t = v.to_tensor();
    TensorInfo info;
    info.name = name;
    info.dtype = dtype_name(t.dtype());
    info.sizes = t.sizes().vec();
    info.strides = t.strides().vec();
    info.offset = t.storage_offset();
    info.requires_grad = t.requires_grad();
    place(info, t.storage());
    info.kind = info.storages.empty() ? "meta" : v.is(Kind::Parameter) ? "parameter" : "dense";
    info_.tensors.push_back(std::move(info));
  }

  /// Storages and dense tensors among arguments.
  void place_all(TensorInfo& info, const Value& v, int depth = 0) {
    if (v.is(Kind::Storage)) place(info, v.to_storage());
    if (v.is_tensor()) place(info, v.to_tensor().storage());
    if (v.is_tuple() && depth < 4)
      for (const Value& item : v.items()) place_all(info, item, depth + 1);
  }

  /// A tensor of a kind that the library has not; false for any other object.
  bool add_object(const Value& v, const std::string& name) {
    if (!v.name().starts_with("torch._utils _rebuild_")) return false;
    const std::string function = v.name().substr(std::string_view("torch._utils _rebuild_").size());
    const auto& args = v.args().items();
    TensorInfo info;
    info.name = name;
    place_all(info, v.args());
    const Value* size = nullptr;
    if (function == "sparse_tensor" && args.size() == 2 && args[0].is(Kind::Layout) &&
        args[1].is_tuple() && args[1].size() >= 3) {
      const Value& data = args[1];
      info.kind = args[0].name().substr(std::string_view("torch.").size());
      const bool coo = info.kind == "sparse_coo";
      size = data.size() > (coo ? 2u : 3u) ? &data[coo ? 2 : 3] : nullptr;
      const Value& values = data[coo ? 1 : 2];
      if (values.is_tensor()) info.dtype = dtype_name(values.to_tensor().dtype());
    } else if (function == "qtensor" && args.size() >= 4) {
      info.kind = "quantized";
      size = &args[2];
      if (!info.storages.empty())
        info.dtype = quantized_name("torch " + info_.storages[index_.at(info.storages[0])].cls);
    } else if (function == "nested_tensor") {
      info.kind = "nested";
    } else if (function.starts_with("tensor_v3") && args.size() >= 7 && args[6].is(Kind::Global)) {
      info.kind = "dense";
      info.dtype = class_name(args[6].name());
      size = &args[2];
    } else {
      info.kind = "unknown: " + function;
    }
    if (size && (size->is_tuple() || size->is(Kind::Size)))
      for (const Value& n : size->items()) info.sizes.push_back(n.fits_int64() ? n.to_int() : -1);
    info_.tensors.push_back(std::move(info));
    return true;
  }

  const ByteSource& source_;
  LoadOptions options_;
  TensorBuilder tensors_{options_.map_location, true};
  Globals globals_{Globals::Mode::Inspect, tensors_};
  CheckpointInfo info_;
  std::vector<Storage> memory_;
  std::unordered_map<std::string, size_t> index_;  // key to position
  std::unordered_map<const void*, size_t> keys_;   // memory to position
};

}  // namespace

CheckpointInfo inspect(const std::string& path) { return Inspector(FileSource(path)).run(); }

CheckpointInfo inspect(std::istream& in) { return Inspector(StreamSource(in)).run(); }

CheckpointInfo inspect(const void* data, size_t bytes) {
  return Inspector(MemorySource({static_cast<const char*>(data), bytes})).run();
}

std::vector<std::string> get_unsafe_globals(const std::string& path) {
  return inspect(path).unsafe_globals;
}

}  // namespace tenon::serialization
