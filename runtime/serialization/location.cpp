#include "runtime/serialization/location.h"

#include <algorithm>
#include <charconv>
#include <mutex>
#include <vector>

#include "runtime/serialization/pickle/storage_view.h"
#include "tenon/config.h"
#include "tenon/tensor.h"
#if TENON_HAS_CUDA
#include "aten/cuda/cuda_device.h"
#endif

namespace tenon::serialization {
namespace {

int cuda_device_count() {
#if TENON_HAS_CUDA
  return cuda::device_count();
#else
  return 0;
#endif
}

Storage move_to(const Storage& storage, Device device) {
  if (storage.device() == device) return storage;
  if (storage.nbytes() == 0) return make_storage(0, device);
  return Tensor(view_storage(storage, kByte)).to(device).storage();
}

/// "cuda:3" or "cuda3" as 3, "cuda" as 0; nothing for other tags.
std::optional<int> index_in(const std::string& tag, std::string_view backend) {
  if (!tag.starts_with(backend)) return std::nullopt;
  std::string_view digits = std::string_view(tag).substr(backend.size());
  if (digits.empty()) return 0;
  if (digits.front() == ':') digits.remove_prefix(1);
  int index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return index;
}

std::optional<Storage> to_cuda(const Storage& storage, const std::string& tag) {
  const std::optional<int> index = index_in(tag, "cuda");
  if (!index) return std::nullopt;
  const int count = cuda_device_count();
  TENON_CHECK(count > 0,
              "Attempting to deserialize object on a CUDA device but no CUDA device is available. "
              "If you are running on a CPU-only machine, please load with map_location=\"cpu\" to "
              "map your storages to the CPU.");
  TENON_CHECK(*index < count, "Attempting to deserialize object on CUDA device ", *index,
              " but there are ", count,
              " CUDA devices. Please load with map_location to map your storages to an existing "
              "device.");
  return move_to(storage, Device(kCUDA, static_cast<DeviceIndex>(*index)));
}

std::optional<Storage> to_private_use(const Storage& storage, const std::string& tag) {
  const std::optional<int> index = index_in(tag, "privateuseone");
  if (!index) return std::nullopt;
  return move_to(storage, Device(kPrivateUse1, static_cast<DeviceIndex>(*index)));
}

Tagger tagger_of(DeviceType type) {
  return [type](const Storage& storage) -> std::optional<std::string> {
    if (storage.device().type() != type) return std::nullopt;
    return storage.device().str();
  };
}

constexpr int kCpuPriority = 10;

struct Package {
  int priority;
  Tagger tagger;
  Deserializer deserializer;
};

struct Registry {
  std::mutex mutex;
  std::vector<Package> packages = {
      {kCpuPriority, tagger_of(kCPU),
       [](const Storage& storage, const std::string& tag) {
         return tag == "cpu" ? std::optional(storage) : std::nullopt;
       }},
      {20, tagger_of(kCUDA), to_cuda},
      {22, tagger_of(kMeta),
       [](const Storage& storage, const std::string& tag) {
         return tag == "meta" ? std::optional(make_storage(storage.nbytes(), kMeta)) : std::nullopt;
       }},
      {23, tagger_of(kPrivateUse1), to_private_use},
  };
};

Registry& registry() {
  static Registry r;
  return r;
}

/// A copy, so that a function may register another and none runs under the lock.
std::vector<Package> packages() {
  const std::lock_guard lock(registry().mutex);
  return registry().packages;
}

}  // namespace

void register_package(int priority, Tagger tagger, Deserializer deserializer) {
  TENON_CHECK_VALUE(tagger && deserializer,
                    "[register_package] expected a tagger and a deserializer, got an empty "
                    "function");
  const std::lock_guard lock(registry().mutex);
  auto& all = registry().packages;
  const auto place = std::upper_bound(all.begin(), all.end(), priority,
                                      [](int p, const Package& q) { return p < q.priority; });
  all.insert(place, {priority, std::move(tagger), std::move(deserializer)});
}

std::string location_tag(const Storage& storage) {
  for (const Package& package : packages())
    if (const auto tag = package.tagger(storage); tag && !tag->empty()) return *tag;
  tenon::detail::raise<Error>("don't know how to determine data location of a storage on ",
                              storage.device());
}

Storage restore_location(const Storage& storage, const std::string& tag) {
  for (const Package& package : packages())
    if (const auto restored = package.deserializer(storage, tag); restored && *restored)
      return *restored;
  tenon::detail::raise<Error>(
      "don't know how to restore data location of tenon.UntypedStorage (tagged with ", tag, ")");
}

bool MapLocation::stays_on_cpu(const std::string& tag) const {
  if (std::holds_alternative<Function>(where_) || target(tag) != "cpu") return false;
  // Unless a function was registered that is asked before the built-in one.
  const std::lock_guard lock(registry().mutex);
  return registry().packages.front().priority == kCpuPriority;
}

std::string MapLocation::target(const std::string& tag) const {
  if (const auto* location = std::get_if<std::string>(&where_)) return *location;
  if (const auto* map = std::get_if<Map>(&where_))
    if (const auto it = map->find(tag); it != map->end()) return it->second;
  return tag;
}

Storage MapLocation::operator()(const Storage& storage, const std::string& tag) const {
  if (const auto* f = std::get_if<Function>(&where_))
    if (const Storage mapped = (*f)(storage, tag)) return mapped;
  return restore_location(storage, target(tag));
}

}  // namespace tenon::serialization
