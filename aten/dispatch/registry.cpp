#include "aten/dispatch/registry.h"

#include <algorithm>

#include "aten/dispatch/registration.h"

namespace tenon::detail {
namespace {

constexpr DispatchLayer kLayers[] = {DispatchLayer::Python,   DispatchLayer::PythonMode,
                                     DispatchLayer::Autograd, DispatchLayer::ForwardGrad,
                                     DispatchLayer::Autocast, DispatchLayer::Batched,
                                     DispatchLayer::Profiler, DispatchLayer::BatchedMode};

DispatchKey key_of(DispatchLayer layer) {
  return static_cast<DispatchKey>(static_cast<int>(DispatchKey::Python) + static_cast<int>(layer));
}

template <class T>
void store(T& place, T value) {
  __atomic_store_n(&place, value, __ATOMIC_RELEASE);
}

}  // namespace

Registry& registry() {
  static Registry* instance = new Registry;  // libraries unregister during static clean-up
  return *instance;
}

Registry::Registry() { trace_if_asked(*this); }

OperatorRecord& Registry::record(OperatorEntry& op) {
  const auto [found, fresh] = records.try_emplace(&op);
  OperatorRecord& record = found->second;
  if (fresh) {
    record.entry = &op;
    std::copy_n(op.kernels(), OperatorEntry::kNumKernels, record.original);
    record.original_layers = op.layer_mask;
  }
  return record;
}

const Registration* Registry::fallback(DispatchKey key) const {
  const auto found = fallbacks.find(key);
  return found == fallbacks.end() ? nullptr : &found->second;
}

bool Registry::has_layer_fallback() const {
  return std::any_of(fallbacks.begin(), fallbacks.end(),
                     [](const auto& one) { return layer_of(one.first).has_value(); });
}

const Registration* OperatorRecord::find(DispatchKey key) const {
  for (const Registration& one : kernels) {
    if (one.key == key) return &one;
  }
  return nullptr;
}

const Registration* OperatorRecord::backend_kernel(int slot) const {
  if (slot >= 1 && slot <= static_cast<int>(DispatchKey::Unresolved) + 1) {
    if (const auto* own = find(static_cast<DispatchKey>(slot - 1))) return own;
  }
  if (original[slot]) return nullptr;
  // A function that may read memory gets copies of tensors with a conjugate or negative bit.
  const bool takes_composite =
      slot != static_cast<int>(DispatchKey::Unresolved) + 1 || (schema && schema->is_view());
  const auto* composite = find(DispatchKey::CompositeExplicit);
  if (composite && takes_composite) return composite;
  return find(DispatchKey::CompositeImplicit);
}

bool OperatorRecord::has_generated_layer(DispatchLayer layer) const {
  return (original_layers >> static_cast<int>(layer)) & 1;
}

Kernel OperatorRecord::layer_kernel(DispatchLayer layer) const {
  if (const auto* own = find(key_of(layer))) return own->kernel;
  if (has_generated_layer(layer)) return {};
  // An operator without a derivative of its own is made of operators, which have tangents
  // themselves, or gives results that have none.
  if (layer == DispatchLayer::ForwardGrad && !has_generated_layer(DispatchLayer::Autograd) &&
      !layer_kernel(DispatchLayer::Autograd).direct && !layer_kernel(DispatchLayer::Autograd).boxed)
    return {};
  Kernel kernel;
  const Registration* fallback = registry().fallback(key_of(layer));
  if (fallback && (!fallback->serves || fallback->serves(*entry))) kernel = fallback->kernel;
  if (!runtime) return kernel;
  const bool explicit_kernel =
      std::any_of(kernels.begin(), kernels.end(), [](const Registration& one) {
        return one.key <= DispatchKey::CompositeExplicit;
      });
  if (layer == DispatchLayer::Autograd && explicit_kernel)
    kernel.boxed = registry().autograd_of_runtime_operators;
  if (layer == DispatchLayer::Batched && !explicit_kernel) return {};  // its operators are batched
  return kernel;
}

void OperatorRecord::update_table() {
  AnyFunction* table = entry->kernels();
  if (trapped) {
    store(entry->layer_mask, uint64_t{0});
    for (int slot = 0; slot < OperatorEntry::kFirstLayer; ++slot) {
      store(table[slot], AnyFunction{nullptr});
    }
    return;
  }
  for (int slot = 0; slot < OperatorEntry::kFirstLayer; ++slot) {
    // A boxed kernel leaves its slot empty: such calls go through the entry's `boxing`.
    const Registration* own = backend_kernel(slot);
    store(table[slot], own ? own->kernel.direct : original[slot]);
  }
  uint64_t layers = original_layers;
  for (const DispatchLayer layer : kLayers) {
    const int slot = OperatorEntry::kFirstLayer + static_cast<int>(layer);
    const Kernel kernel = layer_kernel(layer);
    if (kernel.direct || kernel.boxed) {
      const AnyFunction boxing = table[OperatorEntry::kNumKernels];
      store(table[slot], kernel.direct ? kernel.direct : boxing);
      layers |= uint64_t{1} << static_cast<int>(layer);
    } else if (has_generated_layer(layer)) {
      store(table[slot], original[slot]);
    }
    // Else the slot keeps what it holds: a call that has read the old mask may still follow it.
  }
  store(entry->layer_mask, layers);
}

}  // namespace tenon::detail
