#include <map>
#include <sstream>

#include "bindings/python/src/caster.h"
#include "bindings/python/src/named_values.h"
#include "runtime/serialization/serialize.h"
#include "runtime/serialization/value_node.h"

/// tenon.save and tenon.load: Python's objects and what they are in a checkpoint.
namespace tenon::python {

using serialization::Value;
using Kind = Value::Kind;

namespace {

/// A class of another module of Python: "collections", "OrderedDict".
nb::object class_of(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}

bool is_exactly(nb::handle object, PyTypeObject& type) { return Py_IS_TYPE(object.ptr(), &type); }

/// Python's objects as Values. An object that occurs twice is one Value.
class Packer {
 public:
  Value pack(nb::handle object) {
    if (object.is_none()) return Value();
    if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
    if (const auto found = known_.find(object.ptr()); found != known_.end()) return found->second;
    TENON_CHECK_VALUE(++depth_ <= serialization::kMaxDepth,
                      "[save] objects are nested deeper than ", serialization::kMaxDepth);
    const Value value = make(object);
    --depth_;
    known_.emplace(object.ptr(), value);
    alive_.push_back(nb::borrow(object));
    return value;
  }

 private:
  Value make(nb::handle o) {
    if (is_exactly(o, PyLong_Type)) return Value::int_of_decimal(nb::cast<std::string>(nb::str(o)));
    if (is_exactly(o, PyFloat_Type)) return PyFloat_AS_DOUBLE(o.ptr());
    if (is_exactly(o, PyComplex_Type)) {
      return std::complex<double>(PyComplex_RealAsDouble(o.ptr()), PyComplex_ImagAsDouble(o.ptr()));
    }
    if (is_exactly(o, PyUnicode_Type)) return Value(nb::cast<std::string>(o));
    if (is_exactly(o, PyBytes_Type)) return Value::bytes(bytes_of(o));
    if (is_exactly(o, PyByteArray_Type)) {
      return Value::bytearray(
          {PyByteArray_AS_STRING(o.ptr()), static_cast<size_t>(PyByteArray_GET_SIZE(o.ptr()))});
    }
    if (is_tensor(o.ptr())) return make_tensor(o);
    if (is_exactly(o, PyList_Type)) {
      const Value list = Value::list();
      known_.emplace(o.ptr(), list);  // it may hold itself
      for (nb::handle item : o) list.append(pack(item));
      return list;
    }
    if (is_exactly(o, PyTuple_Type)) return Value::tuple(items_of(o));
    if (is_exactly(o, PyDict_Type)) return fill(o, Value::dict());
    if (is_exactly(o, PySet_Type)) return Value::set(items_of(o));
    if (is_exactly(o, PyFrozenSet_Type)) return Value::frozenset(items_of(o));
    if (is_exactly(o, PySlice_Type)) {
      return Value::slice(pack(o.attr("start")), pack(o.attr("stop")), pack(o.attr("step")));
    }
    if (is_exactly(o, PyRange_Type)) {
      return Value::range(nb::cast<int64_t>(o.attr("start")), nb::cast<int64_t>(o.attr("stop")),
                          nb::cast<int64_t>(o.attr("step")));
    }
    if (is_layout(o.ptr())) return layout_of(o.ptr());
    if (!PyType_Check(o.ptr()) && is_dtype(o.ptr())) return dtype_of(o.ptr());
    return make_other(o);
  }

  Value make_other(nb::handle o) {
    const nb::handle type = o.type();
    if (type.is(class_of("tenon._C", "device"))) return device_of(o.ptr());
    if (type.is(class_of("tenon._C", "Size"))) {
      std::vector<int64_t> sizes;
      for (nb::handle n : o) sizes.push_back(nb::cast<int64_t>(n));
      return Value::size(sizes);
    }
    if (type.is(class_of("collections", "Counter"))) return fill(o, Value::counter());
    if (type.is(class_of("collections", "OrderedDict"))) {
      const Value dict = fill(o, Value::ordered_dict());
      const nb::object attributes = nb::borrow(o.attr("__dict__"));
      if (nb::len(attributes) > 0) dict.set_attributes(pack(attributes));
      return dict;
    }
    throw TypeError("[save] an object of type '" + nb::cast<std::string>(nb::str(type)) +
                    "' cannot be saved: checkpoints hold tensors, numbers, strings, containers of "
                    "Python, dtypes, devices; save its state_dict() or its attributes");
  }

  Value make_tensor(nb::handle o) {
    const nb::object parameter = class_of("tenon._C", "_parameter_type")();
    if (!parameter.is_none() && PyObject_IsInstance(o.ptr(), parameter.ptr()) == 1) {
      return Value::parameter(tensor_of(o.ptr()));
    }
    return Value(tensor_of(o.ptr()));
  }

  Value::Items items_of(nb::handle sequence) {
    Value::Items items;
    for (nb::handle item : sequence) items.push_back(pack(item));
    return items;
  }
  Value fill(nb::handle from, Value dict) {
    known_.emplace(from.ptr(), dict);
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(from.ptr(), &position, &key, &value)) dict.set_item(pack(key), pack(value));
    return dict;
  }
  static std::string bytes_of(nb::handle o) {
    return {PyBytes_AS_STRING(o.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(o.ptr()))};
  }

  std::map<PyObject*, Value> known_;
  std::vector<nb::object> alive_;  // so that no address is used twice
  int depth_ = 0;
};

/// Values as Python's objects.
class Unpacker {
 public:
  nb::object unpack(const Value& value) {
    const auto* node = serialization::detail::Node::of(value);
    if (node) {
      if (const auto found = known_.find(node); found != known_.end()) return found->second;
    }
    nb::object object = make(value);
    if (node) known_.emplace(node, object);
    return object;
  }

 private:
  nb::object make(const Value& v) {
    switch (v.kind()) {
    case Kind::None: return nb::none();
    case Kind::Bool: return nb::bool_(v.to_bool());
    case Kind::Int: {
      const std::string bytes = v.int_bytes();
      return nb::steal(_PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(bytes.data()),
                                             bytes.size(), 1, 1));
    }
    case Kind::Float: return nb::float_(v.to_double());
    case Kind::Complex:
      return nb::steal(PyComplex_FromDoubles(v.to_complex().real(), v.to_complex().imag()));
    case Kind::String: return nb::str(v.to_string().data(), v.to_string().size());
    case Kind::Bytes: return nb::bytes(v.to_bytes().data(), v.to_bytes().size());
    case Kind::ByteArray:
      return nb::steal(PyByteArray_FromStringAndSize(v.to_bytes().data(),
                                                     static_cast<Py_ssize_t>(v.to_bytes().size())));
    case Kind::List: {
      nb::list list;
      known_.emplace(serialization::detail::Node::of(v), list);
      for (const Value& item : v.items()) list.append(unpack(item));
      return list;
    }
    case Kind::Tuple: return nb::tuple(items_of(v));
    case Kind::Dict: return fill(nb::dict(), v);
    case Kind::OrderedDict: {
      const nb::object dict = fill(class_of("collections", "OrderedDict")(), v);
      if (!v.attributes().is_none()) {
        dict.attr("__dict__").attr("update")(unpack(v.attributes()));
      }
      return dict;
    }
    case Kind::Counter: return fill(class_of("collections", "Counter")(), v);
    case Kind::Set: return nb::steal(PySet_New(items_of(v).ptr()));
    case Kind::FrozenSet: return nb::steal(PyFrozenSet_New(items_of(v).ptr()));
    case Kind::Size: return nb::steal(wrap_size(v.to_ints()));
    case Kind::Dtype: return nb::steal(wrap(v.to_dtype()));
    case Kind::Device: return nb::steal(wrap(v.to_device()));
    case Kind::Slice: {
      const auto& parts = v.items();
      return nb::steal(
          PySlice_New(unpack(parts[0]).ptr(), unpack(parts[1]).ptr(), unpack(parts[2]).ptr()));
    }
    case Kind::Range: {
      const auto& parts = v.items();
      return nb::handle(reinterpret_cast<PyObject*>(&PyRange_Type))(
          unpack(parts[0]), unpack(parts[1]), unpack(parts[2]));
    }
    case Kind::Tensor: return with_attributes(nb::cast(v.to_tensor()), v);
    case Kind::Parameter: {
      const nb::object parameter = class_of("tenon._C", "_parameter_type")();
      const Tensor t = v.to_tensor();
      if (parameter.is_none()) return with_attributes(nb::cast(t), v);
      return with_attributes(parameter(t.detach(), t.requires_grad()), v);
    }
    default: break;
    }
    throw TypeError(std::string("[load] ") + v.description() +
                    " in the file has no counterpart in Python that is safe to make");
  }

  nb::object with_attributes(nb::object object, const Value& v) {
    if (v.attributes().is_dict()) object.attr("__dict__").attr("update")(unpack(v.attributes()));
    return object;
  }
  nb::list items_of(const Value& v) {
    nb::list list;
    for (const Value& item : v.items()) list.append(unpack(item));
    return list;
  }
  nb::object fill(nb::object dict, const Value& v) {
    known_.emplace(serialization::detail::Node::of(v), dict);
    for (const auto& [key, item] : v.entries()) dict[unpack(key)] = unpack(item);
    return dict;
  }

  std::map<const serialization::detail::Node*, nb::object> known_;
};

serialization::MapLocation map_location(nb::handle where) {
  if (where.is_none()) return {};
  if (PyDict_Check(where.ptr())) {
    serialization::MapLocation::Map map;
    for (const auto& [from, to] : nb::borrow<nb::dict>(where)) {
      map[nb::cast<std::string>(nb::str(from))] = nb::cast<std::string>(nb::str(to));
    }
    return map;
  }
  TENON_CHECK_TYPE(is_device(where.ptr()),
                   "[load] map_location must be a device, its name, a dict of names or None, not ",
                   Py_TYPE(where.ptr())->tp_name);
  return device_of(where.ptr());
}

serialization::LoadOptions load_options(nb::handle where, std::optional<bool> mmap,
                                        bool weights_only, const std::string& encoding) {
  serialization::LoadOptions options;
  options.map_location = map_location(where);
  options.weights_only = weights_only;
  options.encoding = encoding;
  if (mmap.value_or(false)) options.mmap = serialization::LoadOptions::Mmap::Private;
  return options;
}

nb::object& parameter_type() {
  static auto& type = *new nb::object(nb::none());
  return type;
}

}  // namespace

void add_serialization(nb::module_& module) {
  module.def("_parameter_type", [] { return parameter_type(); });
  module.def("_set_parameter_type", [](nb::object type) { parameter_type() = std::move(type); });
  module.def("_save_file", [](nb::handle object, const std::string& path, bool zip) {
    const Value value = Packer().pack(object);
    serialization::SaveOptions options;
    if (!zip) options.format = serialization::SaveOptions::Format::Legacy;
    const nb::gil_scoped_release unlocked;
    serialization::save(value, path, options);
  });
  module.def("_save_bytes", [](nb::handle object, bool zip) {
    const Value value = Packer().pack(object);
    serialization::SaveOptions options;
    if (!zip) options.format = serialization::SaveOptions::Format::Legacy;
    std::ostringstream out;
    serialization::save(value, out, options);
    const std::string bytes = std::move(out).str();
    return nb::bytes(bytes.data(), bytes.size());
  });
  module.def(
      "_load_file",
      [](const std::string& path, nb::object where, std::optional<bool> mmap, bool weights_only,
         const std::string& encoding) {
        const auto options = load_options(where, mmap, weights_only, encoding);
        const Value value = [&] {
          const nb::gil_scoped_release unlocked;
          return serialization::load(path, options);
        }();
        return Unpacker().unpack(value);
      },
      nb::arg("path"), nb::arg("map_location").none(), nb::arg("mmap").none(),
      nb::arg("weights_only"), nb::arg("encoding"));
  module.def(
      "_load_bytes",
      [](const nb::bytes& data, nb::object where, bool weights_only, const std::string& encoding) {
        const auto options = load_options(where, std::nullopt, weights_only, encoding);
        return Unpacker().unpack(serialization::load(data.c_str(), data.size(), options));
      },
      nb::arg("data"), nb::arg("map_location").none(), nb::arg("weights_only"),
      nb::arg("encoding"));
  module.def("add_safe_globals", [](const std::vector<std::string>& names) {
    serialization::add_safe_globals({names.begin(), names.end()});
  });
  module.def("get_safe_globals", &serialization::get_safe_globals);
  module.def("clear_safe_globals", &serialization::clear_safe_globals);
}

}  // namespace tenon::python
