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

constexpr const char* kPrivateUse1Name = "privateuseone";

/// Kinds of device by PyTorch's numbers. Programs name those that they would use if they were
/// there; nothing here gives memory on any but CPU, CUDA, Meta and PrivateUse1.
constexpr const char* kNames[] = {"cpu", "cuda", "mkldnn",        "opengl", "opencl", "ideep",
                                  "hip", "fpga", "maia",          "xla",    "vulkan", "metal",
                                  "xpu", "mps",  "meta",          "hpu",    "ve",     "lazy",
                                  "ipu", "mtia", kPrivateUse1Name};
static_assert(std::size(kNames) == static_cast<size_t>(kPrivateUse1) + 1);

std::atomic<const char*> private_use_name{kPrivateUse1Name};

}  // namespace

constinit thread_local ThreadState thread_state __attribute__((tls_model("initial-exec")));

const char* to_string(DeviceType type) {
  return type == kPrivateUse1 ? private_use_name.load() : kNames[static_cast<size_t>(type)];
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
  TENON_CHECK_VALUE(std::find(std::begin(kNames), std::end(kNames), name) == std::end(kNames),
                    "[rename_privateuse1_backend] there is a device ", name, " already");
  private_use_name = (new std::string(name))->c_str();  // for the rest of the program
}

const char* to_string(Backend backend) {
  constexpr const char* kBackends[] = {"CPU",       "CUDA",         "Meta",      "PrivateUse1",
                                       "SparseCPU", "SparseCsrCPU", "Unresolved"};
  const auto number = static_cast<size_t>(backend);
  return number < std::size(kBackends) ? kBackends[number] : "unknown";
}

Device::Device(std::string_view text) : type_(kCPU), index_(-1) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto* const known = std::find(std::begin(kNames), std::end(kNames), name);
  const bool renamed = name == to_string(kPrivateUse1);
  TENON_CHECK(renamed || known != std::end(kNames),
              "expected a device such as cpu, cuda, cuda:1, meta or ", to_string(kPrivateUse1),
              ", got '", text, "'");
  type_ = renamed ? kPrivateUse1 : static_cast<DeviceType>(known - std::begin(kNames));
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
