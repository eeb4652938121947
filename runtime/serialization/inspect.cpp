#include "runtime/serialization/inspect.h"

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "runtime/serialization/legacy_checkpoint.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/sniff.h"
#include "runtime/serialization/values/value_names.h"
#include "runtime/serialization/zip/zip_checkpoint.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;

constexpr std::string_view kRebuild = "torch._utils _rebuild_";

/// "torch._utils f" as "torch._utils.f".
std::string dotted(std::string name) {
  std::replace(name.begin(), name.end(), ' ', '.');
  return name;
}

/// "torch QInt8Storage" as "QInt8Storage".
std::string class_name(const std::string& global) { return global.substr(global.find(' ') + 1); }

/// What PyTorch calls the elements of a quantized storage: "qint8".
std::string quantized_name(const std::string& cls) {
  std::string name = cls;
  name.resize(name.size() - std::min(name.size(), std::string_view("Storage").size()));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

/// Describes what a reader has loaded onto the meta device.
class Inspector {
 public:
  explicit Inspector(const ByteSource& source) : source_(source) { options_.map_location = kMeta; }

  CheckpointInfo run() {
    info_.is_legacy = sniff(source_) == FileFormat::Legacy;
    try {
      if (info_.is_legacy) {
        LegacyCheckpoint checkpoint(source_, options_, Globals::Mode::Inspect);
        info_.byteorder = "little";
        describe(checkpoint);
      } else {
        ZipCheckpoint checkpoint(source_, nullptr, options_, Globals::Mode::Inspect);
        info_.archive = checkpoint.zip().archive();
        info_.version = checkpoint.version();
        info_.byteorder = checkpoint.is_big_endian() ? "big" : "little";
        describe(checkpoint);
      }
    } catch (...) {
      dispose(info_.value);
      throw;
    }
    return std::move(info_);
  }

 private:
  template <class Checkpoint>
  void describe(Checkpoint& checkpoint) {
    info_.value = checkpoint.load();
    info_.pickle_bytes = checkpoint.pickle_bytes();
    for (const std::string& name : checkpoint.globals().named())
      info_.globals.push_back(dotted(name));
    for (const std::string& name : checkpoint.globals().unsafe())
      info_.unsafe_globals.push_back(dotted(name));
    for (const StoredStorage& stored : checkpoint.storages()) {
      const size_t at = info_.storages.size();
      info_.storages.push_back(stored.info);
      info_.storages.back().cls = class_name(stored.info.cls);
      keys_.emplace(stored.storage.get(), at);
      for (const auto& [key, part] : stored.views) keys_.emplace(part.get(), at);
    }
    try {
      budget_ = &checkpoint.budget();
      add_tensors();
    } catch (const Error& error) {
      tenon::detail::raise<Error>("[load] ", source_.name(), ": names of tensors: ", error.what());
    }
  }

  void add_tensors() {
    walk_names(info_.value, Repeats::First, *budget_,
               [&](const std::string& name, const Value& v) -> unsigned {
                 if (v.is_tensor() || is_foreign_tensor(v)) {
                   budget_->spend(name.size());
                   v.is_tensor() ? add_tensor(v, name) : add_foreign_tensor(v, name);
                   return kNothing;
                 }
                 return kItems | kArguments | kAttributes;
               });
  }

  /// Says that a tensor lies in the storage.
  void place(TensorInfo& info, const Storage& storage) {
    const auto it = keys_.find(storage.get());
    if (it == keys_.end()) return;
    budget_->spend(Budget::kValue + info.name.size());
    StorageInfo& in = info_.storages[it->second];
    info.storages.push_back(in.key);
    in.tensors.push_back(info.name);
  }

  void add_tensor(const Value& v, const std::string& name) {
    const Tensor t = v.to_tensor();
    TensorInfo info;
    info.name = name;
    info.value = v;
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
    budget_->spend(Budget::kValue);
    if (v.is(Kind::Storage)) place(info, v.to_storage());
    if (v.is_tensor()) place(info, v.to_tensor().storage());
    if (v.is_tuple() && depth < 4)
      for (const Value& item : v.items()) place_all(info, item, depth + 1);
  }

  std::string storage_class_of(const Value& storage) const {
    return info_.storages[keys_.at(storage.to_storage().get())].cls;
  }

  /// Whether it stands for a tensor of a kind that the library has not.
  static bool is_foreign_tensor(const Value& v) {
    return v.is(Kind::Object) && v.name().starts_with(kRebuild);
  }

  void add_foreign_tensor(const Value& v, const std::string& name) {
    budget_->spend(v.name().size());
    const std::string function = v.name().substr(kRebuild.size());
    const auto& args = v.args().items();
    TensorInfo info;
    info.name = name;
    info.value = v;
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
      if (args[0].is(Kind::Storage)) info.dtype = quantized_name(storage_class_of(args[0]));
    } else if (function == "nested_tensor") {
      info.kind = "nested";
    } else if (function.starts_with("tensor_v3") && args.size() >= 7 && args[6].is(Kind::Global)) {
      info.kind = "dense";
      info.dtype = class_name(args[6].name());
      size = &args[2];
    } else {
      info.kind = "unknown: " + function;
    }
    if (size && (size->is_tuple() || size->is(Kind::Size)) && size->size() <= kMaxDims)
      for (const Value& n : size->items()) info.sizes.push_back(n.fits_int64() ? n.to_int() : -1);
    info_.tensors.push_back(std::move(info));
  }

  const ByteSource& source_;
  LoadOptions options_;
  Budget* budget_ = nullptr;  // the reader's
  CheckpointInfo info_;
  std::unordered_map<const void*, size_t> keys_;  // memory to position in info_.storages
};

CheckpointInfo inspect_source(const ByteSource& source) {
  return within_memory(source.name(), [&] { return Inspector(source).run(); });
}

}  // namespace

CheckpointInfo inspect(const std::string& path) { return inspect_source(FileSource(path)); }

CheckpointInfo inspect(std::istream& in) { return inspect_source(StreamSource(in)); }

CheckpointInfo inspect(const void* data, size_t bytes) {
  return inspect_source(MemorySource({static_cast<const char*>(data), bytes}));
}

std::vector<std::string> get_unsafe_globals(const std::string& path) {
  CheckpointInfo info = inspect(path);
  dispose(info.value);
  return std::move(info.unsafe_globals);
}

}  // namespace tenon::serialization
