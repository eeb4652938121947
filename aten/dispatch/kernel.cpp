#include "aten/dispatch/kernel.h"

#include "codegen/schema/suggest.h"

namespace tenon {
namespace {

constexpr const char* kKeyNames[] = {"CPU",
                                     "CUDA",
                                     "Meta",
                                     "PrivateUse1",
                                     "SparseCPU",
                                     "SparseCsrCPU",
                                     "Unresolved",
                                     "CompositeExplicit",
                                     "CompositeImplicit",
                                     "Python",
                                     "PythonMode",
                                     "Autograd",
                                     "ForwardGrad",
                                     "Autocast",
                                     "Batched",
                                     "Profiler",
                                     "BatchedMode"};
static_assert(std::size(kKeyNames) == static_cast<size_t>(DispatchKey::BatchedMode) + 1);

}  // namespace

const char* to_string(DispatchKey key) { return kKeyNames[static_cast<size_t>(key)]; }

DispatchKey parse_dispatch_key(std::string_view name) {
  for (size_t i = 0; i < std::size(kKeyNames); ++i) {
    if (name == kKeyNames[i]) return static_cast<DispatchKey>(i);
  }
  const std::string near = schema::nearest(name, {std::begin(kKeyNames), std::end(kKeyNames)});
  detail::raise<ValueError>("unknown dispatch key '", name, "'",
                            near.empty() ? "" : "; did you mean '" + near + "'?");
}

DispatchKey dispatch_key_of(DeviceType type) { return static_cast<DispatchKey>(backend_of(type)); }

std::optional<Backend> backend_of(DispatchKey key) {
  if (key > DispatchKey::Unresolved) return std::nullopt;
  return static_cast<Backend>(key);
}

std::optional<DispatchLayer> layer_of(DispatchKey key) {
  if (key < DispatchKey::Python) return std::nullopt;
  return static_cast<DispatchLayer>(static_cast<int>(key) - static_cast<int>(DispatchKey::Python));
}

}  // namespace tenon
