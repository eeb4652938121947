#include "aten/core/device.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "aten/core/device_interface.h"
#include "aten/core/dispatch_key.h"
#include "aten/core/error.h"
#include "aten/core/thread_state.h"

namespace tenon {
namespace {

constexpr DeviceType kTypes[] = {kCPU, kCUDA, kMeta, kPrivateUse1};
constexpr const char* kPrivateUse1Name = "privateuseone";

std::atomic<const char*> private_use_name{kPrivateUse1Name};

}  // namespace

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

const char* to_string(DeviceType type) {
  switch (type) {
  case kCPU: return "cpu";
  case kCUDA: return "cuda";
  case kMeta: return "meta";
  case kPrivateUse1: break;
  }
  return private_use_name;
}

const char* get_privateuse1_backend_name() { return private_use_name; }

void rename_privateuse1_backend(std::string_view name) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (name == private_use_name.load()) return;
  TENON_CHECK_VALUE(private_use_name.load() == kPrivateUse1Name,
                    "[rename_privateuse1_backend] PrivateUse1 is ", private_use_name.load(),
                    " already, so it cannot become ", name);
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  TENON_CHECK_VALUE(
      !name.empty() && std::all_of(name.begin(), name.end(), allowed) &&
          (name[0] < '0' || name[0] > '9'),
      "[rename_privateuse1_backend] expected a name of lower-case letters, digits and "
      "`_`, got '",
      name, "'");
  for (DeviceType type : kTypes) {
    TENON_CHECK_VALUE(name != to_string(type), "[rename_privateuse1_backend] there is a device ",
                      name, " already");
  }
  private_use_name = (new std::string(name))->c_str();  // for the rest of the program
}

const char* to_string(Backend backend) {
  constexpr const char* kNames[] = {"CPU", "CUDA", "Meta", "PrivateUse1"};
  return static_cast<size_t>(backend) < std::size(kNames) ? kNames[static_cast<size_t>(backend)]
                                                          : "unknown";
}

Device::Device(std::string_view text) : type_(kCPU), index_(-1) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  bool known = false;
  for (DeviceType type : kTypes) {
    if (name == to_string(type) || (type == kPrivateUse1 && name == kPrivateUse1Name)) {
      type_ = type;
      known = true;
    }
  }
  TENON_CHECK(known, "expected a device such as cpu, cuda, cuda:1, meta or ",
              to_string(kPrivateUse1), ", got '", text, "'");
  if (colon == std::string_view::npos) return;
  const std::string_view number = text.substr(colon + 1);
  int index = 0;
  for (char c : number) {
    TENON_CHECK(c >= '0' && c <= '9', "expected a device number after ':', got '", text, "'");
    index = index * 10 + (c - '0');
    TENON_CHECK(index < 128, "device number out of range in '", text, "'");
  }
  TENON_CHECK(!number.empty(), "expected a device number after ':', got '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

std::string Device::str() const {
  std::string text = to_string(type_);
  if (has_index()) text.append(":").append(std::to_string(index_));
  return text;
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

}  // namespace tenon
