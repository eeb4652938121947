#include "aten/registration/cpu_fallback.h"

#include <cstdio>
#include <mutex>
#include <set>

#include "aten/core/thread_state.h"
#include "aten/dispatch/registration.h"
#include "aten/iterator/element_copy.h"
#include "aten/iterator/host_copy.h"

namespace tenon {
namespace {

struct Warnings {
  std::mutex mutex;
  bool enabled = true;
  std::set<const OperatorEntry*> given;
};

Warnings& warnings() {
  static Warnings* instance = new Warnings;
  return *instance;
}

void warn_once(const OperatorEntry& op, Device device) {
  Warnings& w = warnings();
  const std::lock_guard lock(w.mutex);
  if (!w.enabled || !w.given.insert(&op).second) return;
  std::fprintf(stderr, "tenon: warning: %s runs on the CPU for device %s, with copies\n",
               op.qualified_name().c_str(), to_string(device.type()));
}

/// The device that the results belong on: that of the tensors, of which 0-dim ones may be on the
/// CPU; for operators without tensors, the one asked for.
class ResultDevice {
 public:
  /// `free`: a list of indices, which may be on the CPU.
  void add(const TensorBase& t, bool free) {
    if (!t.defined()) return;
    if (t.is_cpu() && (free || t.dim() == 0)) return;
    if (device_) {
      TENON_CHECK(*device_ == t.device(),
                  "Expected all tensors to be on the same device, but found at least two devices, ",
                  *device_, " and ", t.device(), "!");
    }
    device_ = t.device();
  }
  void add(Device device) {
    if (!device_) device_ = device;
  }
  Device get() const { return device_.value_or(Device(kCPU)); }

 private:
  std::optional<Device> device_;
};

/// A generator of the CPU that draws on from where another device's stands.
Generator cpu_generator_like(const Generator& generator) {
  Generator copy = make_generator(kCPU);
  copy->seed = generator->seed;
  copy->engine = generator->engine;
  copy->next_float_normal = generator->next_float_normal;
  copy->next_double_normal = generator->next_double_normal;
  return copy;
}

/// The arguments on the CPU, and the way back.
class Staged {
 public:
  Staged(const schema::FunctionSchema& schema, const Value* arguments) {
    ResultDevice device;
    for (size_t i = 0; i < schema.args.size(); ++i) {
      const Value& value = arguments[i];
      const bool indices = schema.args[i].type.is_optional_tensor_list();
      if (value.is_tensor()) device.add(value.to_tensor(), false);
      if (!value.is_tensor_list()) continue;
      for (const TensorBase& t : value.to_tensors()) device.add(t, indices);
    }
    for (size_t i = 0; i < schema.args.size(); ++i) {
      if (std::holds_alternative<Device>(arguments[i].variant())) {
        device.add(arguments[i].to_device());
      }
    }
    device_ = device.get();
    for (size_t i = 0; i < schema.args.size(); ++i) {
      stack_.push_back(on_cpu(arguments[i], schema.args[i].is_mutable()));
    }
  }

  Device device() const { return device_; }
  Stack& stack() { return stack_; }

  /// Copies what the operator has written back, and the generators' new states.
  void finish() {
    for (const auto& [original, copy] : written_) {
      if (original.sizes() != copy.sizes()) resize(original, copy.sizes());
      native::copy(original, copy);
      original.unsafe_impl()->bump_version();
    }
    for (auto& [original, copy] : generators_) {
      const std::lock_guard lock(original->mutex);
      original->engine = copy->engine;
      original->next_float_normal = copy->next_float_normal;
      original->next_double_normal = copy->next_double_normal;
    }
  }

  /// A result on the device: the argument itself if it is one that was written.
  Value on_device(const Value& result) const {
    if (result.is_tensor()) return on_device(result.to_tensor());
    if (!result.is_tensor_list()) return result;
    Value::Tensors list;
    for (const TensorBase& t : result.to_tensors()) list.push_back(on_device(t));
    return list;
  }

 private:
  Value on_cpu(const Value& value, bool is_written) {
    if (value.is_tensor()) return on_cpu(value.to_tensor(), is_written);
    if (value.is_tensor_list()) {
      Value::Tensors list;
      for (const TensorBase& t : value.to_tensors()) list.push_back(on_cpu(t, is_written));
      return list;
    }
    if (std::holds_alternative<Device>(value.variant())) return Device(kCPU);
    if (std::holds_alternative<Generator>(value.variant())) {
      Generator generator = value.to_generator();
      if (!generator.defined() || generator.device().is_cpu()) return value;
      const std::lock_guard lock(generator->mutex);
      generators_.emplace_back(generator, cpu_generator_like(generator));
      return generators_.back().second;
    }
    return value;
  }

  TensorBase on_cpu(const TensorBase& t, bool is_written) {
    if (!t.defined()) return t;
    // The same tensor twice stays one.
    for (const auto& [original, copy] : copies_) {
      if (original.is_same(t)) return copy;
    }
    TensorBase copy = native::on_host(t);
    if (copy.is_same(t)) return copy;
    copy.unsafe_impl()->is_wrapped_number = t.is_wrapped_number();
    copies_.emplace_back(t, copy);
    if (is_written) written_.emplace_back(t, copy);
    return copy;
  }

  TensorBase on_device(const TensorBase& t) const {
    if (!t.defined()) return t;
    for (const auto& [original, copy] : copies_) {
      if (copy.is_same(t)) return original;
    }
    if (device_.is_cpu()) return t;
    TensorBase moved =
        empty_strided(t.sizes(), t.is_non_overlapping_and_dense() ? t.strides() : IntArrayRef(),
                      t.scalar_type(), device_);
    native::copy(moved, t);
    return moved;
  }

  Device device_ = kCPU;
  Stack stack_;
  std::vector<std::pair<TensorBase, TensorBase>> copies_, written_;
  std::vector<std::pair<Generator, Generator>> generators_;
};

}  // namespace

void cpu_fallback(const OperatorEntry& op, DispatchKeySet, Stack& stack) {
  const auto schema = schema_of(op);
  for (const schema::Return& result : schema->returns) {
    TENON_CHECK_NOT_IMPLEMENTED(!result.alias || result.is_mutable(), "[", op.qualified_name(),
                                "] its result is a view of an argument, which the CPU cannot give "
                                "for another device; the device needs a kernel of its own");
  }
  const BelowAutograd below;
  const size_t first = stack.size() - schema->args.size();
  Staged staged(*schema, stack.data() + first);
  warn_once(op, staged.device());
  op.call_boxed(staged.stack());
  staged.finish();
  stack.resize(first);
  for (const Value& result : staged.stack()) stack.push_back(staged.on_device(result));
}

void set_fallback_warnings(bool enabled) {
  Warnings& w = warnings();
  const std::lock_guard lock(w.mutex);
  w.enabled = enabled;
  w.given.clear();
}

}  // namespace tenon
