#include "runtime/serialization/pickle/tensor_builder.h"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>

#include "aten/conjugate/unresolved.h"
#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/sparse_parts.h"
#include "runtime/serialization/pickle/storage_view.h"
#include "runtime/serialization/pickle/unpickler.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;
using Items = Value::Items;

constexpr std::string_view kUtils = "torch._utils ";

DimVector numbers(Unpickler& machine, const Value& value, const char* what) {
  if (!value.is_tuple() && !value.is_list() && !value.is(Kind::Size))
    machine.fail(std::string(what) + " must be a tuple, got " + value.description());
  if (value.size() > kMaxDims)
    machine.fail("a tensor of " + std::to_string(value.size()) + " dimensions, at most " +
                 std::to_string(kMaxDims) + " are supported");
  DimVector all;
  for (const Value& v : value.items()) all.push_back(v.to_int());
  return all;
}

void set_requires_grad(const TensorBase& t, const Value& wanted) {
  if (wanted.to_bool()) Tensor(t).requires_grad_(true);
}

/// Pays for the bytes of a copy: a view may repeat few elements many times.
void count_elements(Unpickler& machine, const TensorBase& view, ScalarType dtype) {
  uint64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(static_cast<uint64_t>(view.numel()), element_size(dtype), &bytes);
  machine.budget().spend(overflows ? UINT64_MAX : bytes);
}

bool is_set(const Value& metadata, const char* key) {
  const Value* bit = metadata.find(Value(key));
  return bit && bit->to_bool();
}

}  // namespace

bool TensorBuilder::knows(const std::string& function) {
  constexpr std::array kNames = {"_rebuild_tensor",
                                 "_rebuild_tensor_v2",
                                 "_rebuild_tensor_v3",
                                 "_rebuild_parameter",
                                 "_rebuild_parameter_with_state",
                                 "_rebuild_meta_tensor_no_storage",
                                 "_rebuild_device_tensor_from_cpu_tensor",
                                 "_rebuild_device_tensor_from_numpy",
                                 "_rebuild_sparse_tensor",
                                 "_rebuild_sparse_csr_tensor",
                                 "_rebuild_qtensor",
                                 "_rebuild_wrapper_subclass",
                                 "_rebuild_nested_tensor"};
  if (function == "torch._tensor _rebuild_from_type_v2") return true;
  if (function == "torch.nn.parameter Parameter") return true;
  return function.starts_with(kUtils) &&
         std::find(kNames.begin(), kNames.end(), function.substr(kUtils.size())) != kNames.end();
}

Value TensorBuilder::call(Unpickler& machine, const Globals& globals, const std::string& function,
                          const Value& args) {
  const std::string name = function.substr(function.find(' ') + 1);
  if (name.starts_with("_rebuild_tensor")) {
    // A dtype or storage that the library has not is told by a Global in place of the real thing.
    const auto& items = args.items();
    const bool known =
        !items.empty() && items[0].is(Kind::Storage) &&
        (name != "_rebuild_tensor_v3" || items.size() < 7 || items[6].is(Kind::Dtype));
    return known ? tensor(machine, name, items) : unsupported(machine, name, args);
  }
  if (name == "_rebuild_from_type_v2") return from_type(machine, globals, args.items());
  if (name == "_rebuild_meta_tensor_no_storage") {
    const auto& items = args.items();
    if (!items.empty() && items[0].is(Kind::Global)) return unsupported(machine, name, args);
    return meta_tensor(machine, items);
  }
  if (name == "_rebuild_device_tensor_from_cpu_tensor") return device_tensor(machine, args.items());
  const bool of_sparse = name == "_rebuild_sparse_tensor" || name == "_rebuild_sparse_csr_tensor";
  if (of_sparse && !inspects_) return sparse_tensor(machine, args);
  const bool of_tensor = args.size() > 0 && args[0].is_tensor();
  if ((name.starts_with("_rebuild_parameter") || name == "Parameter") && of_tensor)
    return parameter(machine, args.items());
  return unsupported(machine, name, args);
}

Value TensorBuilder::unsupported(Unpickler& machine, const std::string& name,
                                 const Value& args) const {
  if (inspects_) return Value::object("torch._utils " + name, args);
  std::string kind = name + " with these arguments";
  if (name == "_rebuild_qtensor") {
    kind = "quantized tensors";
  } else if (name == "_rebuild_nested_tensor") {
    kind = "nested tensors";
  } else if (name == "_rebuild_wrapper_subclass") {
    kind = "tensor subclasses without storage";
  } else if (name == "_rebuild_device_tensor_from_numpy") {
    kind = "tensors saved as NumPy arrays";
  } else if (args.size() >= 7 && args[6].is(Kind::Global)) {
    kind = "tensors of dtype " + args[6].name();
  } else if (args.size() > 0 && args[0].is(Kind::Global)) {
    kind = "tensors of dtype " + args[0].name();
  }
  const std::string record = machine.last_storage();
  machine.fail(kind + " are not supported" +
               (record.empty() ? "" : "; the last storage before it is " + record));
}

Value TensorBuilder::tensor(Unpickler& machine, const std::string& function, const Items& args) {
  const bool v3 = function == "_rebuild_tensor_v3";
  const bool shortest = function == "_rebuild_tensor";
  const size_t required = v3 ? 7 : shortest ? 4 : 6;
  if (args.size() < required || args.size() > required + (shortest ? 0 : 1)) {
    machine.fail(function + " expected (storage, offset, size, stride" +
                 (shortest ? ")"
                  : v3     ? ", requires_grad, hooks, dtype)"
                           : ", requires_grad, hooks)") +
                 ", got " + std::to_string(args.size()) + " arguments");
  }
  ScalarType dtype = v3 ? args[6].to_dtype() : args[0].to_dtype();
  if (dtype == ScalarType::Undefined) dtype = kByte;
  TensorBase t;
  try {
    t = tensor_over(args[0].to_storage(), dtype, args[1].to_int(),
                    numbers(machine, args[2], "size"), numbers(machine, args[3], "stride"));
  } catch (const ValueError& error) {
    machine.fail(machine.last_storage() + ": " + error.what());
  }
  if (on_untyped_ && args[0].to_dtype() == ScalarType::Undefined)
    on_untyped_(args[0].to_storage(), dtype);
  if (args.size() > required && !args[required].is_none())
    t = with_bits(machine, t, args[required]);
  if (!shortest) set_requires_grad(t, args[4]);
  return t;
}

TensorBase TensorBuilder::with_bits(Unpickler& machine, const TensorBase& t,
                                    const Value& metadata) {
  if (!metadata.is_dict())
    machine.fail(std::string("a tensor's metadata must be a dict, got ") + metadata.description());
  const bool conjugate = is_set(metadata, "conj"), negative = is_set(metadata, "neg");
  if (conjugate && !t.is_complex())
    machine.fail("a conjugate view of a tensor that is not complex");
  if (negative && t.dtype() == kBool)
    machine.fail("a negative view of a tensor of dtype torch." + dtype_name(t.dtype()));
  if (conjugate || negative) unresolved::register_kernels();
  t.unsafe_impl()->set_unresolved(conjugate, negative);
  return t;
}

void TensorBuilder::finish() {
  try {
    for (const Tensor& t : sparse_) check_sparse(t);
  } catch (const Error& error) {
    tenon::detail::raise<Error>("[load] a sparse tensor: ", error.what());
  }
  sparse_.clear();
}

Value TensorBuilder::sparse_tensor(Unpickler& machine, const Value& args) {
  try {
    sparse_.push_back(sparse_of_arguments(args));
  } catch (const Error& error) {
    machine.fail(error.what());
  }
  return Value(sparse_.back());
}

Value TensorBuilder::parameter(Unpickler& machine, const Items& args) {
  if (args.empty() || args.size() > 4) machine.fail("_rebuild_parameter got wrong arguments");
  const Tensor t = args[0].to_tensor().detach();
  const Value made = Value::parameter(t);
  if (args.size() < 2 || args[1].to_bool()) set_requires_grad(t, true);
  if (args.size() == 4) made.set_attributes(args[3]);
  return made;
}

Value TensorBuilder::meta_tensor(Unpickler& machine, const Items& args) {
  if (args.size() != 4)
    machine.fail("_rebuild_meta_tensor_no_storage expected (dtype, size, stride, requires_grad)");
  const DimVector sizes = numbers(machine, args[1], "size");
  const DimVector strides = numbers(machine, args[2], "stride");
  if (sizes.size() != strides.size()) machine.fail("a tensor's sizes and strides differ in number");
  const TensorBase t = empty_strided(sizes, strides, args[0].to_dtype(), kMeta);
  set_requires_grad(t, args[3]);
  return t;
}

Value TensorBuilder::device_tensor(Unpickler& machine, const Items& args) {
  if (args.size() != 4 || !args[0].is_tensor())
    machine.fail("_rebuild_device_tensor_from_cpu_tensor expected (tensor, dtype, device, "
                 "requires_grad)");
  const Tensor from = args[0].to_tensor();
  const std::string& device = args[2].to_string();
  if (inspects_) return from.detach().to(args[1].to_dtype());
  if (!machine.fill_storages())
    machine.fail("a tensor on device " + device + " in a legacy file is not supported");
  count_elements(machine, from, args[1].to_dtype());
  const Tensor t = from.to(args[1].to_dtype()).to(Device(map_location_.target(device)));
  set_requires_grad(t, args[3]);
  return t;
}

Value TensorBuilder::from_type(Unpickler& machine, const Globals& globals, const Items& args) {
  if (args.size() != 4 || !args[0].is(Kind::Global) || !args[1].is(Kind::Global) ||
      !args[2].is_tuple())
    machine.fail("_rebuild_from_type_v2 expected (function, class, arguments, state)");
  const std::string& cls = args[1].name();
  const bool plain = cls == "torch Tensor" || cls == "torch.nn.parameter Parameter";
  if (!plain && !inspects_ && !globals.allows(cls))
    machine.fail("tensors of class " + cls + " are not supported");
  if (!knows(args[0].name())) machine.fail("_rebuild_from_type_v2 cannot call " + args[0].name());
  if (args[0].name() == "torch._tensor _rebuild_from_type_v2")
    machine.fail("_rebuild_from_type_v2 calls itself");
  Value made = call(machine, globals, args[0].name(), args[2]);
  if (made.is(Kind::Tensor) && !plain) made = Value::tensor_of_class(made.to_tensor(), cls);
  if (made.is_tensor() && !args[3].is_none()) made.set_attributes(args[3]);
  return made;
}

}  // namespace tenon::serialization
