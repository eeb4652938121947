#include "aten/core/device.h"

#include "aten/core/dispatch_key.h"
#include "aten/core/error.h"
#include "aten/core/thread_state.h"

namespace tenon {
namespace {

constexpr DeviceType kTypes[] = {kCPU, kCUDA, kMeta, kPrivateUse1};

}  // namespace

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

const char* to_string(DeviceType type) {
  switch (type) {
  case kCPU: return "cpu";
  case kCUDA: return "cuda";
  case kMeta: return "meta";
  case kPrivateUse1: break;
  }
  return "privateuseone";
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
    if (name == to_string(type)) {
      type_ = type;
      known = true;
    }
  }
  TENON_CHECK_VALUE(known, "expected a device such as cpu, cuda, cuda:1 or meta, got '", text, "'");
  if (colon == std::string_view::npos) return;
  const std::string_view number = text.substr(colon + 1);
  int index = 0;
  for (char c : number) {
    TENON_CHECK_VALUE(c >= '0' && c <= '9', "expected a device number after ':', got '", text, "'");
    index = index * 10 + (c - '0');
    TENON_CHECK_VALUE(index < 128, "device number out of range in '", text, "'");
  }
  TENON_CHECK_VALUE(!number.empty(), "expected a device number after ':', got '", text, "'");
  index_ = static_cast<DeviceIndex>(index);
}

std::string Device::str() const {
  std::string text = to_string(type_);
  if (has_index()) text.append(":").append(std::to_string(index_));
  return text;
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }

}  // namespace tenon
