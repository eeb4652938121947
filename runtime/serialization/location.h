#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "aten/core/storage.h"

namespace tenon::serialization {

/// The tag that a file gives a storage's place, "cpu", "cuda:1", "meta"; nothing for a storage that
/// is not the function's business.
using Tagger = std::function<std::optional<std::string>(const Storage& storage)>;
/// Moves a storage, read into CPU memory, to where the tag says; nothing for a tag that is not the
/// function's business.
using Deserializer =
    std::function<std::optional<Storage>(const Storage& storage, const std::string& tag)>;

/// Adds functions for a kind of place. They are asked in ascending order of priority, those of one
/// priority in the order of registration, and the first answer counts. Built in: cpu 10, cuda 20,
/// meta 22, privateuseone 23. May be called from any thread.
TENON_API void register_package(int priority, Tagger tagger, Deserializer deserializer);

/// The tag of a storage. Error "don't know how to determine data location of a storage on ...".
TENON_API std::string location_tag(const Storage& storage);
/// The storage at its tag's place. Error "don't know how to restore data location of
/// tenon.UntypedStorage (tagged with foo)", or what keeps it from going to a GPU.
TENON_API Storage restore_location(const Storage& storage, const std::string& tag);

/// Where loaded storages go. Asked once per storage.
class MapLocation {
 public:
  using Map = std::map<std::string, std::string>;
  /// Gets a storage in CPU memory and its tag; an answer without a storage means "as the tag says".
  using Function = std::function<Storage(const Storage& storage, const std::string& tag)>;

  MapLocation() = default;  ///< as the tags in the file say
  MapLocation(std::nullptr_t) {}
  MapLocation(Device device) : where_(device.str()) {}
  MapLocation(DeviceType type) : MapLocation(Device(type)) {}
  MapLocation(std::string location) : where_(std::move(location)) {}
  MapLocation(const char* location) : where_(std::string(location)) {}
  /// Tags that are keys are taken as their values.
  MapLocation(Map map) : where_(std::move(map)) {}
  template <class F>
  requires std::is_invocable_r_v<Storage, F, const Storage&, const std::string&> MapLocation(F f)
      : where_(Function(std::move(f))) {}

  /// Whether all storages go to the meta device, so that no data need be read.
  bool is_meta() const {
    const auto* location = std::get_if<std::string>(&where_);
    return location && *location == "meta";
  }
  /// Whether a storage with this tag surely stays what and where it is, in CPU memory.
  bool stays_on_cpu(const std::string& tag) const;
  /// A fixed place of all storages, else the tag that `tag` is mapped to.
  std::string target(const std::string& tag) const;
  TENON_API Storage operator()(const Storage& storage, const std::string& tag) const;

 private:
  std::variant<std::monostate, std::string, Map, Function> where_;
};

}  // namespace tenon::serialization
