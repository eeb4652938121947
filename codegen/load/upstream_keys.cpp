// Keys of entries that PyTorch's generator alone acts on.

#include "codegen/load/upstream_keys.h"

namespace tenon::codegen::detail {

namespace {

class UpstreamReader {
 public:
  UpstreamReader(Reader& reader, UpstreamKeys& keys, std::string what)
      : reader_(reader), keys_(keys), what_(std::move(what)) {}

  void device_check(const YamlNode& value) {
    const std::optional<LocatedName> name = reader_.name(value, what_);
    if (!name) return;
    if (std::optional<size_t> word = reader_.word(*name, {"ExactSame", "NoCheck"}, what_)) {
      keys_.device_check = static_cast<DeviceCheck>(*word);
    }
  }

  void precomputed(const YamlNode& value) {
    if (!value.is_sequence()) {
      reader_.wrong_kind(value, what_, "a list");
      return;
    }
    for (const YamlPtr& item : value.items) {
      if (std::optional<SourceString> line = reader_.text(*item, "each line of `precomputed`")) {
        keys_.precomputed.push_back(std::move(*line));
      }
    }
  }

  void ufunc_inner_loop(const YamlNode& value) {
    if (!value.is_map()) {
      if (std::optional<SourceString> text = reader_.text(value, what_)) {
        keys_.ufunc_inner_loop.push_back({"Generic", std::move(*text), value.location});
      }
      return;
    }
    reader_.map(value, [&](const LocatedName& key, const YamlNode&, const YamlNode& loop) {
      if (std::optional<SourceString> text = reader_.text(loop, what_)) {
        keys_.ufunc_inner_loop.push_back({key.text, std::move(*text), key.location});
      }
    });
  }

  void flag(const YamlNode& value, bool& member) {
    if (const std::optional<bool> read = reader_.boolean(value, what_)) member = *read;
  }

  void name(const YamlNode& value, std::optional<LocatedName>& member) {
    if (const std::optional<LocatedName> read = reader_.name(value, what_)) member = *read;
  }

 private:
  Reader& reader_;
  UpstreamKeys& keys_;
  std::string what_;
};

}  // namespace

bool read_upstream_key(const std::string& key, const YamlNode& value, Reader& reader,
                       UpstreamKeys& keys) {
  UpstreamReader r(reader, keys, "`" + key + "`");
  if (key == "structured_inherits") {
    r.name(value, keys.structured_inherits);
  } else if (key == "precomputed") {
    r.precomputed(value);
  } else if (key == "ufunc_inner_loop") {
    r.ufunc_inner_loop(value);
  } else if (key == "category_override") {
    r.name(value, keys.category_override);
  } else if (key == "device_check") {
    r.device_check(value);
  } else if (key == "device_guard") {
    r.flag(value, keys.device_guard);
  } else if (key == "manual_kernel_registration") {
    r.flag(value, keys.manual_kernel_registration);
  } else if (key == "use_const_ref_for_mutable_tensors") {
    r.flag(value, keys.use_const_ref_for_mutable_tensors);
  } else {
    return false;
  }
  return true;
}

}  // namespace tenon::codegen::detail
