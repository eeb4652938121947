#include "bindings/python/src/checkpoint_values.h"

#include <map>

#include "bindings/python/src/named_values.h"
#include "bindings/python/src/storages.h"
#include "runtime/serialization/values/value_node.h"

namespace tenon::python {

using FileValue = serialization::Value;
using ValueKind = FileValue::Kind;

namespace {

constexpr const char* kTensor = "torch Tensor";

/// A class or function of a module of Python: "collections", "OrderedDict".
nb::object member_of(const char* module, const char* name) {
  return nb::module_::import_(module).attr(name);
}

/// Python's side of objects of other classes: tenon/_saved_objects.py.
nb::object helper(const char* name) { return member_of("tenon._saved_objects", name); }

bool is_exactly(nb::handle object, PyTypeObject& type) { return Py_IS_TYPE(object.ptr(), &type); }

/// Strings may hold surrogates, as in Python.
std::string utf8(nb::handle text) {
  const nb::object bytes =
      nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
  if (!bytes) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

nb::object text_of(const std::string& utf8) {
  nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(utf8.data(), static_cast<Py_ssize_t>(utf8.size()), "surrogatepass"));
  if (!text) throw nb::python_error();
  return text;
}

class Packer {
 public:
  FileValue pack(nb::handle object) {
    if (object.is_none()) return FileValue();
    if (PyBool_Check(object.ptr())) return object.ptr() == Py_True;
    if (const auto found = known_.find(object.ptr()); found != known_.end()) return found->second;
    TENON_CHECK_VALUE(++depth_ <= serialization::kMaxDepth,
                      "[save] objects are nested deeper than ", serialization::kMaxDepth);
    const FileValue value = make(object);
    --depth_;
    remember(object, value);
    return value;
  }

 private:
  /// Also before its parts are packed, as it may hold itself.
  void remember(nb::handle object, const FileValue& value) {
    if (known_.emplace(object.ptr(), value).second) alive_.push_back(nb::borrow(object));
  }

  FileValue make(nb::handle o) {
    if (is_exactly(o, PyLong_Type)) return integer(o);
    if (is_exactly(o, PyFloat_Type)) return PyFloat_AS_DOUBLE(o.ptr());
    if (is_exactly(o, PyComplex_Type)) {
      return std::complex<double>(PyComplex_RealAsDouble(o.ptr()), PyComplex_ImagAsDouble(o.ptr()));
    }
    if (is_exactly(o, PyUnicode_Type)) return FileValue(utf8(o));
    if (is_exactly(o, PyBytes_Type)) return FileValue::bytes(bytes_of(o));
    if (is_exactly(o, PyByteArray_Type)) {
      return FileValue::bytearray(
          {PyByteArray_AS_STRING(o.ptr()), static_cast<size_t>(PyByteArray_GET_SIZE(o.ptr()))});
    }
    if (is_tensor(o.ptr())) return make_tensor(o);
    if (is_exactly(o, PyList_Type)) {
      const FileValue list = FileValue::list();
      remember(o, list);
      for (nb::handle item : o) list.append(pack(item));
      return list;
    }
    if (is_exactly(o, PyTuple_Type)) return FileValue::tuple(items_of(o));
    if (is_exactly(o, PyDict_Type)) return fill(o, FileValue::dict());
    if (is_exactly(o, PySet_Type)) return FileValue::set(items_of(o));
    if (is_exactly(o, PyFrozenSet_Type)) return FileValue::frozenset(items_of(o));
    if (is_exactly(o, PySlice_Type)) {
      return FileValue::slice(pack(o.attr("start")), pack(o.attr("stop")), pack(o.attr("step")));
    }
    if (is_exactly(o, PyRange_Type)) {
      return FileValue::range(nb::cast<int64_t>(o.attr("start")), nb::cast<int64_t>(o.attr("stop")),
                              nb::cast<int64_t>(o.attr("step")));
    }
    if (is_layout(o.ptr())) return layout_of(o.ptr());
    if (!PyType_Check(o.ptr()) && is_dtype(o.ptr())) return dtype_of(o.ptr());
    if (is_storage(o)) return FileValue::storage(with_memory(storage_of(o)));
    return make_other(o);
  }

  FileValue make_other(nb::handle o) {
    const nb::handle type = o.type();
    if (type.is(member_of("tenon._C", "device"))) return device_of(o.ptr());
    if (type.is(member_of("tenon._C", "Size"))) {
      std::vector<int64_t> sizes;
      for (nb::handle n : o) sizes.push_back(nb::cast<int64_t>(n));
      return FileValue::size(sizes);
    }
    if (type.is(member_of("tenon.storage", "TypedStorage")))
      return FileValue::storage(with_memory(storage_of(o.attr("untyped")())),
                                dtype_of(o.attr("dtype").ptr()));
    if (type.is(member_of("collections", "Counter"))) return fill(o, FileValue::counter());
    if (type.is(member_of("collections", "OrderedDict"))) {
      const FileValue dict = fill(o, FileValue::ordered_dict());
      const nb::object attributes = nb::borrow(o.attr("__dict__"));
      if (nb::len(attributes) > 0) dict.set_attributes(pack(attributes));
      return dict;
    }
    return make_object(o);
  }

  /// Of any size, whatever sys.set_int_max_str_digits() says.
  static FileValue integer(nb::handle o) {
    int overflow = 0;
    const int64_t small = PyLong_AsLongLongAndOverflow(o.ptr(), &overflow);
    if (overflow == 0) return small;
    constexpr size_t kBits = 8;
    // One more for the sign.
    const size_t bytes = nb::cast<size_t>(o.attr("bit_length")()) / kBits + 1;
    return FileValue::int_of_bytes(
        bytes_of(o.attr("to_bytes")(bytes, "little", nb::arg("signed") = true)));
  }

  FileValue make_tensor(nb::handle o) {
    const Tensor& t = tensor_of(o.ptr());
    if (t.key_set().has(DispatchLayer::Python) && !t.unsafe_impl()->has_memory)
      return make_other(o);
    const bool is_plain = is_exactly(o, *tensor_type);
    const PyObject* dict = reinterpret_cast<TensorObject*>(o.ptr())->dict;
    if (is_plain && (!dict || PyDict_GET_SIZE(dict) == 0)) return t;
    const FileValue value = is_plain          ? FileValue(t)
                            : is_parameter(o) ? FileValue::parameter(t)
                                              : FileValue::tensor_of_class(t, name_of(o.type()));
    remember(o, value);
    const nb::object attributes = helper("attributes")(o);
    if (!attributes.is_none()) value.set_attributes(pack(attributes));
    return value;
  }

  /// By its class: a tensor that is one by an attribute is written as what it is.
  static bool is_parameter(nb::handle o) {
    const nb::object cls = helper("Parameter");
    return PyType_IsSubtype(Py_TYPE(o.ptr()), reinterpret_cast<PyTypeObject*>(cls.ptr()));
  }

  static std::string name_of(nb::handle cls) { return utf8(helper("name_of")(cls)); }

  /// Whatever else pickle knows to write.
  FileValue make_object(nb::handle o) {
    const nb::object found = helper("reduce")(o);
    if (PyUnicode_Check(found.ptr())) return FileValue::global(utf8(found));
    const auto parts = nb::cast<nb::tuple>(found);  // name, args, by_new, elements, state
    const FileValue value =
        FileValue::object(utf8(parts[0]), pack(parts[1]), nb::cast<bool>(parts[2]));
    remember(o, value);
    if (!parts[3].is_none()) value.set_elements(pack(parts[3]));
    if (!parts[4].is_none()) value.set_attributes(pack(parts[4]));
    return value;
  }

  FileValue::Items items_of(nb::handle sequence) {
    FileValue::Items items;
    for (nb::handle item : sequence) items.push_back(pack(item));
    return items;
  }
  FileValue fill(nb::handle from, FileValue dict) {
    remember(from, dict);
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(from.ptr(), &position, &key, &value)) dict.set_item(pack(key), pack(value));
    return dict;
  }
  static std::string bytes_of(nb::handle o) {
    return {PyBytes_AS_STRING(o.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(o.ptr()))};
  }

  std::map<PyObject*, FileValue> known_;
  std::vector<nb::object> alive_;  // so that no address is used twice
  int depth_ = 0;
};

class Unpacker {
 public:
  nb::object unpack(const FileValue& value) {
    const auto* node = serialization::detail::Node::of(value);
    if (node) {
      if (const auto found = known_.find(node); found != known_.end()) return found->second;
    }
    nb::object object = make(value);
    if (node) known_.emplace(node, object);
    return object;
  }

 private:
  nb::object make(const FileValue& v) {
    switch (v.kind()) {
    case ValueKind::None: return nb::none();
    case ValueKind::Bool: return nb::bool_(v.to_bool());
    case ValueKind::Int: {
      const std::string bytes = v.int_bytes();
      return nb::steal(_PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(bytes.data()),
                                             bytes.size(), 1, 1));
    }
    case ValueKind::Float: return nb::float_(v.to_double());
    case ValueKind::Complex:
      return nb::steal(PyComplex_FromDoubles(v.to_complex().real(), v.to_complex().imag()));
    case ValueKind::String: return text_of(v.to_string());
    case ValueKind::Bytes: return nb::bytes(v.to_bytes().data(), v.to_bytes().size());
    case ValueKind::ByteArray:
      return nb::steal(PyByteArray_FromStringAndSize(v.to_bytes().data(),
                                                     static_cast<Py_ssize_t>(v.to_bytes().size())));
    case ValueKind::Size: return nb::steal(wrap_size(v.to_ints()));
    case ValueKind::Dtype: return nb::steal(wrap(v.to_dtype()));
    case ValueKind::Device: return nb::steal(wrap(v.to_device()));
    case ValueKind::Layout: return helper("layout_of")(text_of(v.name()), place());
    case ValueKind::Global: return helper("global_of")(text_of(v.name()), place());
    case ValueKind::Object: return make_object(v);
    case ValueKind::Storage: {
      // As in PyTorch bytes without a dtype come as a storage of uint8.
      const ScalarType dtype = v.to_dtype() == ScalarType::Undefined ? kByte : v.to_dtype();
      return member_of("tenon.storage", "_rebuild")(wrap_storage(v.to_storage()),
                                                    nb::steal(wrap(dtype)));
    }
    case ValueKind::Tensor:
    case ValueKind::Parameter: return make_tensor(v);
    default: return make_container(v);
    }
  }

  nb::object make_container(const FileValue& v) {
    switch (v.kind()) {
    case ValueKind::List: {
      nb::list list;
      remember(v, list);
      for (size_t i = 0; i < v.size(); ++i) list.append(unpack_at(i, v[i]));
      return list;
    }
    case ValueKind::Tuple: return nb::tuple(items_of(v));
    case ValueKind::Dict: return fill(nb::dict(), v);
    case ValueKind::OrderedDict: {
      const nb::object dict = fill(member_of("collections", "OrderedDict")(), v);
      if (!v.attributes().is_none()) {
        dict.attr("__dict__").attr("update")(unpack(v.attributes()));
      }
      return dict;
    }
    case ValueKind::Counter: return fill(member_of("collections", "Counter")(), v);
    case ValueKind::Set: return nb::steal(PySet_New(items_of(v).ptr()));
    case ValueKind::FrozenSet: return nb::steal(PyFrozenSet_New(items_of(v).ptr()));
    case ValueKind::Slice: {
      const auto& parts = v.items();
      return nb::steal(
          PySlice_New(unpack(parts[0]).ptr(), unpack(parts[1]).ptr(), unpack(parts[2]).ptr()));
    }
    case ValueKind::Range: {
      const auto& parts = v.items();
      return nb::handle(reinterpret_cast<PyObject*>(&PyRange_Type))(
          unpack(parts[0]), unpack(parts[1]), unpack(parts[2]));
    }
    default: break;
    }
    throw TypeError("[load] " + place() + v.description() + " has no counterpart in Python");
  }

  nb::object make_tensor(const FileValue& v) {
    const Tensor t = v.to_tensor();
    nb::object object;
    if (v.is(ValueKind::Parameter)) {
      object = helper("Parameter")(t.detach(), t.requires_grad());
    } else {
      object = nb::cast(t);
      if (v.name() != kTensor) object = helper("as_class")(text_of(v.name()), place(), object);
    }
    remember(v, object);
    if (!v.attributes().is_none()) helper("set_attributes")(object, unpack(v.attributes()));
    return object;
  }

  nb::object make_object(const FileValue& v) {
    const nb::object object =
        helper("make")(text_of(v.name()), place(), unpack(v.args()), v.made_by_new());
    remember(v, object);
    if (!v.elements().is_none()) helper("add_elements")(object, unpack(v.elements()));
    if (!v.attributes().is_none()) helper("set_state")(object, unpack(v.attributes()));
    return object;
  }

  /// Before its parts are made, as it may hold itself.
  void remember(const FileValue& v, nb::object object) {
    known_.emplace(serialization::detail::Node::of(v), std::move(object));
  }
  nb::list items_of(const FileValue& v) {
    nb::list list;
    for (size_t i = 0; i < v.items().size(); ++i) list.append(unpack_at(i, v.items()[i]));
    return list;
  }
  nb::object fill(nb::object dict, const FileValue& v) {
    remember(v, dict);
    for (const auto& [key, item] : v.entries()) dict[unpack(key)] = unpack_at(key, item);
    return dict;
  }
  nb::object unpack_at(FileValue key, const FileValue& v) {
    path_.push_back(std::move(key));
    nb::object object = unpack(v);
    path_.pop_back();
    return object;
  }
  /// Where in the file the value is, for errors: "['a'][2]: ", or nothing at its root.
  std::string place() const {
    std::string place;
    for (const FileValue& key : path_) place += tenon::detail::concat("[", key, "]");
    return place.empty() ? place : place + ": ";
  }

  std::vector<FileValue> path_;
  std::map<const serialization::detail::Node*, nb::object> known_;
};

}  // namespace

FileValue to_value(nb::handle object) { return Packer().pack(object); }

nb::object to_object(const FileValue& value) { return Unpacker().unpack(value); }

}  // namespace tenon::python
