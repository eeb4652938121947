#include "runtime/serialization/pickle/globals.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "runtime/serialization/pickle/dtype_name.h"
#include "runtime/serialization/pickle/pickle_text.h"
#include "runtime/serialization/pickle/safe_globals.h"
#include "runtime/serialization/pickle/tensor_builder.h"
#include "runtime/serialization/pickle/unpickler.h"

namespace tenon::serialization {
namespace {

using Kind = Value::Kind;
using Items = Value::Items;
using Function = Value (*)(Unpickler& machine, const Items& args);

void check(Unpickler& machine, bool right, const char* expected) {
  if (!right) machine.fail(std::string("expected ") + expected);
}

void set_items(Unpickler& machine, const Value& dict, const Value::Entries& entries) {
  for (const auto& [key, value] : entries) detail::set_item(dict, key, value, machine.budget());
}

Value ordered_dict(Unpickler& machine, const Items& args) {
  check(machine, args.size() <= 1, "OrderedDict() or OrderedDict(pairs)");
  const Value made = machine.track(Value::ordered_dict());
  if (args.empty()) return made;
  if (args[0].is_dict()) {
    set_items(machine, made, args[0].entries());
  } else {
    for (const Value& pair : args[0].items()) {
      check(machine, (pair.is_tuple() || pair.is_list()) && pair.size() == 2,
            "OrderedDict([(key, value), ...])");
      detail::set_item(made, pair[0], pair[1], machine.budget());
    }
  }
  return made;
}

Value counter(Unpickler& machine, const Items& args) {
  check(machine, args.empty() || (args.size() == 1 && args[0].is_dict()), "Counter(dict)");
  const Value made = machine.track(Value::counter());
  if (!args.empty()) set_items(machine, made, args[0].entries());
  return made;
}

Value set_of(Unpickler& machine, const Items& args, bool frozen) {
  check(machine, args.empty() || (args.size() == 1 && !args[0].is_dict()), "set(list)");
  const Value made = machine.track(frozen ? Value::frozenset() : Value::set());
  if (args.empty()) return made;
  for (const Value& item : args[0].items()) detail::add_item(made, item, machine.budget());
  return made;
}
Value set(Unpickler& machine, const Items& args) { return set_of(machine, args, false); }
Value frozenset(Unpickler& machine, const Items& args) { return set_of(machine, args, true); }

Value complex(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 2, "complex(real, imaginary)");
  return std::complex<double>(args[0].to_double(), args[1].to_double());
}

bool is_latin1(const Value& encoding) {
  if (!encoding.is_string()) return false;
  const std::string& name = encoding.to_string();
  return name == "latin1" || name == "latin-1";
}

/// A text's characters as bytes.
std::string encoded(Unpickler& machine, const Value& text) {
  machine.budget().spend(text.to_string().size());
  const auto data = utf8_to_latin1(text.to_string());
  if (!data) machine.fail("a text that stands for bytes has characters beyond Latin-1");
  return *data;
}

Value encode(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 2 && is_latin1(args[1]), "encode(text, 'latin1')");
  return Value::bytes(encoded(machine, args[0]));
}

Value bytes_of(Unpickler& machine, const Items& args, bool is_array) {
  std::string data;
  if (args.size() == 2) {
    check(machine, is_latin1(args[1]), "bytes(text, 'latin-1')");
    data = encoded(machine, args[0]);
  } else {
    check(machine, args.size() <= 1, "bytes() or bytes(data)");
    if (!args.empty()) data = args[0].to_bytes();
    machine.budget().spend(data.size());
  }
  return is_array ? Value::bytearray(std::move(data)) : Value::bytes(std::move(data));
}
Value bytes(Unpickler& machine, const Items& args) { return bytes_of(machine, args, false); }
Value bytearray(Unpickler& machine, const Items& args) { return bytes_of(machine, args, true); }

Value slice(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 3, "slice(start, stop, step)");
  return Value::slice(args[0], args[1], args[2]);
}
Value range(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 3, "range(start, stop, step)");
  return Value::range(args[0].to_int(), args[1].to_int(), args[2].to_int());
}

Value size(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 1 && (args[0].is_tuple() || args[0].is_list()), "Size(tuple)");
  machine.budget().spend(args[0].size() * sizeof(Value));
  const std::vector<int64_t> sizes = args[0].to_ints();
  return Value::size(sizes);
}

Value device(Unpickler& machine, const Items& args) {
  check(machine, args.size() == 1 || args.size() == 2, "device(type) or device(type, index)");
  const Device device(args[0].to_string());
  if (args.size() == 1) return device;
  const int64_t index = args[1].to_int();
  check(machine, index >= 0 && index <= 127, "a device index from 0 to 127");
  return Device(device.type(), static_cast<DeviceIndex>(index));
}

Value get_layout(Unpickler& machine, const Items& args) {
  constexpr std::array kLayouts = {"torch.strided",    "torch.sparse_coo", "torch.sparse_csr",
                                   "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc",
                                   "torch._mkldnn",    "torch.jagged"};
  check(machine, args.size() == 1, "_get_layout(name)");
  const std::string& name = args[0].to_string();
  check(machine, std::find(kLayouts.begin(), kLayouts.end(), name) != kLayouts.end(),
        "the name of a layout");
  return Value::layout(name);
}

/// Called as PyTorch's weights_only allows.
const std::unordered_map<std::string, Function>& functions() {
  static const std::unordered_map<std::string, Function> table = {
      {"collections OrderedDict", ordered_dict},
      {"collections Counter", counter},
      {"builtins set", set},
      {"builtins complex", complex},
      {"builtins bytearray", bytearray},
      {"_codecs encode", encode},
      {"torch Size", size},
      {"torch device", device},
      {"torch.serialization _get_layout", get_layout},
  };
  return table;
}

/// Called only where weights_only is false.
const std::unordered_map<std::string, Function>& plain_types() {
  static const std::unordered_map<std::string, Function> table = {
      {"builtins frozenset", frozenset},
      {"builtins slice", slice},
      {"builtins range", range},
      {"builtins bytes", bytes},
  };
  return table;
}

/// Names that are data, not calls: arguments of the functions above.
bool is_passive(const std::string& module, const std::string& name) {
  constexpr std::array kNames = {"Tensor",
                                 "per_tensor_affine",
                                 "per_tensor_symmetric",
                                 "per_channel_affine",
                                 "per_channel_symmetric",
                                 "per_channel_affine_float_qparams"};
  constexpr std::array kElements = {"Double",        "Float",        "Half",  "BFloat16", "Long",
                                    "Int",           "Short",        "Char",  "Byte",     "Bool",
                                    "ComplexDouble", "ComplexFloat", "QInt8", "QUInt8",   "QInt32",
                                    "QUInt4x2",      "QUInt2x4"};
  if (module == "torch" && std::find(kNames.begin(), kNames.end(), name) != kNames.end())
    return true;
  if (module == "torch.nn.parameter" && name == "Parameter") return true;
  if (module == "torch.storage" && (name == "UntypedStorage" || name == "TypedStorage"))
    return true;
  const bool tensors = module == "torch" || module == "torch.cuda" || module == "torch.sparse" ||
                       module == "torch.cuda.sparse";
  for (const char* element : kElements) {
    if (tensors && name == std::string(element) + "Tensor") return true;
    if ((module == "torch" || module == "torch.cuda") && name == std::string(element) + "Storage")
      return true;
  }
  return module == "torch" && name == "UntypedStorage";
}

/// Modules and names that moved since.
void modernize(std::string& module, std::string& name) {
  if (module == "__builtin__") {
    module = "builtins";
    if (name == "xrange") name = "range";
    if (name == "unicode") name = "str";
    if (name == "long") name = "int";
  }
  if (module == "torch.tensor") module = "torch._tensor";
}

}  // namespace

Globals::Globals(Mode mode, TensorBuilder& tensors, const LoadOptions& options)
    : mode_(mode), tensors_(tensors), safe_(registered_globals()) {
  if (mode == Mode::PlainTypes) allow_global_ = options.allow_global;
}

bool Globals::allows(const std::string& name) const {
  return registered(name) || (allow_global_ && allow_global_(name));
}

const SafeGlobal* Globals::registered(const std::string& name) const {
  const auto it = safe_->find(name);
  return it == safe_->end() ? nullptr : &it->second;
}

Value Globals::resolve(Unpickler& machine, std::string module, const std::string& given) const {
  std::string name = given;
  modernize(module, name);
  const std::string full = module + " " + name;
  if (inspects()) named_.insert(full);
  if (module == "torch") {
    if (const auto dtype = dtype_of_name(name)) return *dtype;
    if (is_dtype_name(name)) return Value::global(full);
  }
  const bool blocked = is_blocked(module);
  const bool known = functions().contains(full) || TensorBuilder::knows(full) ||
                     is_passive(module, name) ||
                     (mode_ == Mode::PlainTypes && plain_types().contains(full));
  if (!blocked && (known || allows(full))) return Value::global(full);
  if (inspects()) {
    unsafe_.insert(full);
    return Value::global(full);
  }
  const std::string failed = mode_ == Mode::WeightsOnly ? "Weights only load failed. " : "";
  const std::string dotted = (module == "builtins" ? "" : module + ".") + name;
  if (blocked) {
    machine.fail(failed + "Trying to load unsupported GLOBAL " + dotted + " whose module " +
                 module + " is blocked.");
  }
  std::string advice = tenon::detail::concat(" If you trust it, allow it with add_safe_globals({\"",
                                             module, ".", name, "\"}).");
  if (plain_types().contains(full)) advice = " It is read with weights_only = false.";
  machine.fail(failed + "Unsupported global: GLOBAL " + dotted +
               " was not an allowed global by default." + advice);
}

Value Globals::call(Unpickler& machine, const std::string& name, const Value& args,
                    bool by_new) const {
  if (const SafeGlobal* global = registered(name); global && !unsafe_.contains(name)) {
    if (global->construct && !inspects()) {
      machine.gave_to_user();
      return global->construct(args.items());
    }
    return machine.track(Value::object(name, args, by_new));
  }
  if (TensorBuilder::knows(name)) return tensors_.call(machine, *this, name, args);
  if (!by_new || name == "collections OrderedDict") {
    if (const auto it = functions().find(name); it != functions().end())
      return it->second(machine, args.items());
    if (const auto it = plain_types().find(name);
        it != plain_types().end() && (mode_ == Mode::PlainTypes || inspects()))
      return it->second(machine, args.items());
  }
  if (inspects() || allows(name)) return machine.track(Value::object(name, args, by_new));
  if (by_new) {
    machine.fail("Can only create new object for nn.Parameter or classes allowed with "
                 "add_safe_globals, but got " +
                 name);
  }
  machine.fail("Trying to call reduce for unrecognized function " + name);
}

void Globals::build(Unpickler& machine, const Value& object, const Value& state) const {
  if (object.is(Kind::OrderedDict)) {
    if (!state.is_dict() && !inspects())
      machine.fail(std::string("the attributes of an OrderedDict must be a dict, got ") +
                   state.description());
    return object.set_attributes(state);
  }
  if (object.is(Kind::Object)) {
    const SafeGlobal* global = registered(object.name());
    if (global && global->set_state && !inspects()) {
      machine.gave_to_user();
      return global->set_state(object, state);
    }
    return machine.track(object).set_attributes(state);
  }
  if (inspects()) {
    // It may be its own state.
    if (object.is_tensor()) machine.track(object).set_attributes(state);
    return;
  }
  machine.fail(std::string("Can only build OrderedDict or types allowed with add_safe_globals, but "
                           "got ") +
               object.description());
}

}  // namespace tenon::serialization
