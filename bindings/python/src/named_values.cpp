#include "bindings/python/src/named_values.h"

#include <map>
#include <random>
#include <string>
#include <vector>

#include "aten/core/error.h"
#include "bindings/python/src/calls/arguments.h"

namespace tenon::python {
namespace {

/// dtype, layout and memory_format: a number with a name.
struct NamedValue {
  PyObject_HEAD int8_t value;
  const char* name;
};
struct DeviceObject {
  PyObject_HEAD Device device;
};
struct GeneratorObject {
  PyObject_HEAD Generator generator;
};

PyTypeObject* dtype_type;
PyTypeObject* layout_type;
PyTypeObject* memory_format_type;
PyTypeObject* device_type;
PyTypeObject* generator_type;
PyTypeObject* size_type;

PyObject* dtypes[64];
PyObject* layouts[8];
PyObject* memory_formats[8];

struct NamedDtype {
  ScalarType type;
  const char* names[3];  // the first one is printed
};
constexpr NamedDtype kDtypes[] = {
    {kByte, {"uint8"}},
    {kChar, {"int8"}},
    {kShort, {"int16", "short"}},
    {kInt, {"int32", "int"}},
    {kLong, {"int64", "long"}},
    {kHalf, {"float16", "half"}},
    {kFloat, {"float32", "float"}},
    {kDouble, {"float64", "double"}},
    {kComplexHalf, {"complex32", "chalf"}},
    {kComplexFloat, {"complex64", "cfloat"}},
    {kComplexDouble, {"complex128", "cdouble"}},
    {kBool, {"bool"}},
    {kBFloat16, {"bfloat16"}},
    {kFloat8_e5m2, {"float8_e5m2"}},
    {kFloat8_e4m3fn, {"float8_e4m3fn"}},
    {kFloat8_e5m2fnuz, {"float8_e5m2fnuz"}},
    {kFloat8_e4m3fnuz, {"float8_e4m3fnuz"}},
    {kUInt16, {"uint16"}},
    {kUInt32, {"uint32"}},
    {kUInt64, {"uint64"}},
};

const char* name_of(PyObject* self) { return reinterpret_cast<NamedValue*>(self)->name; }

PyObject* named_repr(PyObject* self) { return PyUnicode_FromFormat("tenon.%s", name_of(self)); }
/// Pickled by its name: there is one object for a value.
PyObject* named_reduce(PyObject* self, PyObject*) { return PyUnicode_FromString(name_of(self)); }
PyMethodDef named_methods[] = {{"__reduce__", named_reduce, METH_NOARGS, nullptr}, {}};

ScalarType value_of(PyObject* self) {
  return static_cast<ScalarType>(reinterpret_cast<NamedValue*>(self)->value);
}
PyGetSetDef dtype_attributes[] = {
    {"itemsize",
     [](PyObject* self, void*) { return PyLong_FromSize_t(element_size(value_of(self))); }, nullptr,
     "Bytes of an element.", nullptr},
    {"is_floating_point",
     [](PyObject* self, void*) { return PyBool_FromLong(is_floating_point(value_of(self))); },
     nullptr, nullptr, nullptr},
    {"is_complex",
     [](PyObject* self, void*) { return PyBool_FromLong(is_complex(value_of(self))); }, nullptr,
     nullptr, nullptr},
    {"is_signed",
     [](PyObject* self, void*) {
       const ScalarType t = value_of(self);
       return PyBool_FromLong(t != kByte && t != kBool && !is_wide_unsigned(t));
     },
     nullptr, nullptr, nullptr},
    {},
};
PyObject* dtype_to_real(PyObject* self, PyObject*) { return wrap(to_real(value_of(self))); }
PyObject* dtype_to_complex(PyObject* self, PyObject*) { return wrap(to_complex(value_of(self))); }
PyMethodDef dtype_methods[] = {{"__reduce__", named_reduce, METH_NOARGS, nullptr},
                               {"to_real", dtype_to_real, METH_NOARGS, nullptr},
                               {"to_complex", dtype_to_complex, METH_NOARGS, nullptr},
                               {}};

PyTypeObject* make_named_type(PyObject* module, const char* name, PyMethodDef* methods,
                              PyGetSetDef* attributes) {
  std::vector<PyType_Slot> slots = {{Py_tp_repr, reinterpret_cast<void*>(named_repr)},
                                    {Py_tp_methods, methods}};
  if (attributes) slots.push_back({Py_tp_getset, attributes});
  slots.push_back({0, nullptr});
  PyType_Spec spec = {name, sizeof(NamedValue), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return add_type(module, &spec);
}

PyObject* add_value(PyObject* module, PyTypeObject* type, int value, const char* name) {
  Object object = Object::adopt(type->tp_alloc(type, 0));
  auto* named = reinterpret_cast<NamedValue*>(object.get());
  named->value = static_cast<int8_t>(value);
  named->name = name;
  check(PyModule_AddObjectRef(module, name, object.get()));
  return object.release();
}

// ---- device ----

PyObject* device_repr(PyObject* self) {
  return guarded([&] {
    const Device d = reinterpret_cast<DeviceObject*>(self)->device;
    const std::string text = d.has_index()
                                 ? "device(type='" + std::string(to_string(d.type())) +
                                       "', index=" + std::to_string(d.index()) + ")"
                                 : "device(type='" + std::string(to_string(d.type())) + "')";
    return PyUnicode_FromString(text.c_str());
  });
}
PyObject* device_str(PyObject* self) {
  return guarded([&] {
    return PyUnicode_FromString(reinterpret_cast<DeviceObject*>(self)->device.str().c_str());
  });
}
Py_hash_t device_hash(PyObject* self) {
  const Device d = reinterpret_cast<DeviceObject*>(self)->device;
  return (static_cast<int>(d.type()) << 8) + d.index() + 2;
}
PyObject* device_compare(PyObject* a, PyObject* b, int operation) {
  if ((operation != Py_EQ && operation != Py_NE) || !Py_IS_TYPE(b, device_type)) {
    Py_RETURN_NOTIMPLEMENTED;
  }
  const bool same =
      reinterpret_cast<DeviceObject*>(a)->device == reinterpret_cast<DeviceObject*>(b)->device;
  return PyBool_FromLong(same == (operation == Py_EQ));
}
PyObject* device_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"type", "index", nullptr};
  PyObject* type = nullptr;
  PyObject* number = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:device", const_cast<char**>(names), &type,
                                   &number)) {
    return nullptr;
  }
  return guarded([&]() -> PyObject* {
    TENON_CHECK_TYPE(is_device(type), "device(): argument 'type' must be str, int or device, not ",
                     Py_TYPE(type)->tp_name);
    const Device device = device_of(type);
    if (!number || number == Py_None) return wrap(device);
    TENON_CHECK_TYPE(PyUnicode_Check(type) && PyLong_Check(number),
                     "device(): expected a str and an int, got ", Py_TYPE(type)->tp_name, " and ",
                     Py_TYPE(number)->tp_name);
    TENON_CHECK(
        !device.has_index(),
        "type (string) must not include an index because index was passed explicitly: ", device);
    return wrap(Device(device.type(), device_of(number).index()));
  });
}
/// Devices of this thread's `with device:`, and before them that of set_default_device().
thread_local std::vector<Device> default_devices{kCPU};
thread_local PyObject* current_default = nullptr;

/// One object for each device that has been the default, so that it need not be owned.
PyObject* kept(Device device) {
  static auto& objects = *new std::map<std::pair<DeviceType, DeviceIndex>, PyObject*>;
  PyObject*& object = objects[{device.type(), device.index()}];
  if (!object) object = wrap(device);
  return object;
}
void choose_default() {
  const Device last = default_devices.back();
  const bool none = default_devices.size() == 1 && last == Device(kCPU);
  current_default = none ? nullptr : kept(last);
}
PyObject* device_enter(PyObject* self, PyObject*) {
  return guarded([&] {
    default_devices.push_back(reinterpret_cast<DeviceObject*>(self)->device);
    choose_default();
    return Py_NewRef(self);
  });
}
PyObject* device_exit(PyObject*, PyObject*) {
  return guarded([&] {
    if (default_devices.size() > 1) default_devices.pop_back();
    choose_default();
    return Py_NewRef(Py_None);
  });
}
PyObject* py_set_default_device(PyObject*, PyObject* device) {
  return guarded([&] {
    TENON_CHECK_TYPE(device == Py_None || is_device(device),
                     "set_default_device(): expected a device or None, got ",
                     Py_TYPE(device)->tp_name);
    default_devices.front() = device == Py_None ? Device(kCPU) : device_of(device);
    choose_default();
    return Py_NewRef(Py_None);
  });
}
PyObject* py_get_default_device(PyObject*, PyObject*) {
  return guarded([&] { return wrap(default_devices.back()); });
}
/// None outside of `with device:`.
PyObject* py_default_device(PyObject*, PyObject*) {
  return Py_NewRef(current_default ? current_default : Py_None);
}
PyMethodDef device_functions[] = {
    {"_default_device", py_default_device, METH_NOARGS, nullptr},
    {"set_default_device", py_set_default_device, METH_O,
     "set_default_device(device): where this thread's tensors are made unless a device is given."},
    {"get_default_device", py_get_default_device, METH_NOARGS,
     "Where tensors are made unless a device is given."},
    {}};

PyObject* device_reduce(PyObject* self, PyObject*) {
  const Object text{Object::adopt(device_str(self))};
  return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(device_type), text.get());
}
PyGetSetDef device_attributes[] = {
    {"type",
     [](PyObject* self, void*) {
       return PyUnicode_FromString(to_string(reinterpret_cast<DeviceObject*>(self)->device.type()));
     },
     nullptr, nullptr, nullptr},
    {"index",
     [](PyObject* self, void*) {
       const Device d = reinterpret_cast<DeviceObject*>(self)->device;
       return d.has_index() ? PyLong_FromLong(d.index()) : Py_NewRef(Py_None);
     },
     nullptr, nullptr, nullptr},
    {},
};
PyMethodDef device_methods[] = {{"__reduce__",
                                 [](PyObject* self, PyObject*) {
                                   return guarded([&] { return device_reduce(self, nullptr); });
                                 },
                                 METH_NOARGS, nullptr},
                                {"__enter__", device_enter, METH_NOARGS, nullptr},
                                {"__exit__", device_exit, METH_VARARGS, nullptr},
                                {}};

// ---- generator ----

GeneratorImpl& state_of(PyObject* self) {
  return *reinterpret_cast<GeneratorObject*>(self)->generator;
}
PyObject* generator_new(PyTypeObject*, PyObject* args, PyObject* keywords) {
  static const char* names[] = {"device", nullptr};
  PyObject* device = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "|O:Generator", const_cast<char**>(names),
                                   &device)) {
    return nullptr;
  }
  return guarded([&] {
    TENON_CHECK_TYPE(!device || is_device(device),
                     "Generator(): argument 'device' must be a device");
    return wrap(make_generator(device ? device_of(device) : Device(kCPU)));
  });
}
void generator_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  reinterpret_cast<GeneratorObject*>(self)->generator.~Generator();
  type->tp_free(self);
  Py_DECREF(type);
}
PyObject* generator_manual_seed(PyObject* self, PyObject* seed) {
  return guarded([&] {
    TENON_CHECK(is_integer(seed), "manual_seed expected a long, but got ", Py_TYPE(seed)->tp_name);
    unsigned long long value = PyLong_AsUnsignedLongLongMask(seed);
    if (PyErr_Occurred()) throw ErrorIsSet();
    GeneratorImpl& state = state_of(self);
    const std::lock_guard lock(state.mutex);
    state.set_seed(value);
    return Py_NewRef(self);
  });
}
PyObject* generator_seed(PyObject* self, PyObject*) {
  return guarded([&] {
    std::random_device source;
    const uint64_t seed = (uint64_t{source()} << 32) | source();
    GeneratorImpl& state = state_of(self);
    const std::lock_guard lock(state.mutex);
    state.set_seed(seed);
    return PyLong_FromUnsignedLongLong(seed);
  });
}
PyObject* generator_initial_seed(PyObject* self, PyObject*) {
  return PyLong_FromUnsignedLongLong(state_of(self).seed);
}
PyMethodDef generator_methods[] = {
    {"manual_seed", generator_manual_seed, METH_O, "Sets the seed; gives the generator."},
    {"seed", generator_seed, METH_NOARGS, "Sets a seed that nobody could foretell, and gives it."},
    {"initial_seed", generator_initial_seed, METH_NOARGS, "The seed that was set last."},
    {}};
PyGetSetDef generator_attributes[] = {
    {"device", [](PyObject* self, void*) { return wrap(state_of(self).device); }, nullptr, nullptr,
     nullptr},
    {}};

// ---- Size ----

PyObject* size_repr(PyObject* self) {
  return guarded([&] {
    const Object list = Object::adopt(PySequence_List(self));
    return PyUnicode_FromFormat("tenon.Size(%R)", list.get());
  });
}
PyObject* size_numel(PyObject* self, PyObject*) {
  return guarded([&] {
    Object product = Object::adopt(PyLong_FromLong(1));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); ++i) {
      product = Object::adopt(PyNumber_Multiply(product.get(), PyTuple_GET_ITEM(self, i)));
    }
    return product.release();
  });
}
PyObject* as_size(PyObject* tuple) {
  const Object owned = Object::adopt(tuple);
  return PyObject_CallOneArg(reinterpret_cast<PyObject*>(size_type), owned.get());
}
PyObject* size_subscript(PyObject* self, PyObject* index) {
  return guarded([&] {
    PyObject* const result = PyTuple_Type.tp_as_mapping->mp_subscript(self, index);
    return result && PyTuple_CheckExact(result) ? as_size(result) : result;
  });
}
/// Of integers alone: what has __index__ becomes one.
PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    Object size = Object::adopt(PyTuple_Type.tp_new(type, args, keywords));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(size.get()); ++i) {
      PyObject* const item = PyTuple_GET_ITEM(size.get(), i);
      if (PyLong_CheckExact(item)) continue;
      TENON_CHECK_TYPE(PyIndex_Check(item), "tenon.Size() takes an iterable of 'int' (item ", i,
                       " is '", Py_TYPE(item)->tp_name, "')");
      const Object index = Object::adopt(PyNumber_Index(item));
      PyTuple_SET_ITEM(size.get(), i, Object::adopt(PyNumber_Long(index.get())).release());
      Py_DECREF(item);
    }
    return size.release();
  });
}
/// Also (1,) + size.
PyObject* size_add(PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    if (!PyTuple_Check(a) || !PyTuple_Check(b)) Py_RETURN_NOTIMPLEMENTED;
    return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
  });
}
PyObject* size_repeat(PyObject* self, Py_ssize_t count) {
  return guarded([&] { return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, count)); });
}
PyObject* size_reduce(PyObject* self, PyObject*) {
  return guarded([&] {
    const Object plain = Object::adopt(PyTuple_GetSlice(self, 0, PyTuple_GET_SIZE(self)));
    const Object list = Object::adopt(PySequence_List(self));
    return Py_BuildValue("O(O)", reinterpret_cast<PyObject*>(size_type), list.get());
  });
}
PyMethodDef size_methods[] = {{"numel", size_numel, METH_NOARGS, "The product of the sizes."},
                              {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                              {}};

}  // namespace

PyObject* wrap(ScalarType type) { return Py_NewRef(dtypes[static_cast<int>(type)]); }
PyObject* wrap(Layout layout) { return Py_NewRef(layouts[static_cast<int>(layout)]); }
PyObject* wrap(MemoryFormat format) { return Py_NewRef(memory_formats[static_cast<int>(format)]); }

PyObject* wrap(Device device) {
  Object object = Object::adopt(device_type->tp_alloc(device_type, 0));
  reinterpret_cast<DeviceObject*>(object.get())->device = device;
  return object.release();
}

PyObject* wrap(const Generator& generator) {
  Object object = Object::adopt(generator_type->tp_alloc(generator_type, 0));
  new (&reinterpret_cast<GeneratorObject*>(object.get())->generator) Generator(generator);
  return object.release();
}

PyObject* wrap_size(ArrayRef<int64_t> sizes) {
  Object size =
      Object::adopt(size_type->tp_alloc(size_type, static_cast<Py_ssize_t>(sizes.size())));
  for (size_t i = 0; i < sizes.size(); ++i) {
    PyTuple_SET_ITEM(size.get(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(sizes[i]));
  }
  return size.release();
}

bool is_dtype(PyObject* object) {
  return Py_IS_TYPE(object, dtype_type) || object == reinterpret_cast<PyObject*>(&PyFloat_Type) ||
         object == reinterpret_cast<PyObject*>(&PyLong_Type) ||
         object == reinterpret_cast<PyObject*>(&PyBool_Type) ||
         object == reinterpret_cast<PyObject*>(&PyComplex_Type);
}
bool is_layout(PyObject* object) { return Py_IS_TYPE(object, layout_type); }
bool is_memory_format(PyObject* object) { return Py_IS_TYPE(object, memory_format_type); }
bool is_device(PyObject* object) {
  return Py_IS_TYPE(object, device_type) || PyUnicode_Check(object) ||
         (PyLong_Check(object) && !PyBool_Check(object));
}
bool is_generator(PyObject* object) { return Py_IS_TYPE(object, generator_type); }

ScalarType dtype_of(PyObject* object) {
  if (Py_IS_TYPE(object, dtype_type)) return value_of(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kDouble;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kLong;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  return kComplexDouble;
}
Layout layout_of(PyObject* object) {
  return static_cast<Layout>(reinterpret_cast<NamedValue*>(object)->value);
}
MemoryFormat memory_format_of(PyObject* object) {
  return static_cast<MemoryFormat>(reinterpret_cast<NamedValue*>(object)->value);
}
Device device_of(PyObject* object) {
  if (Py_IS_TYPE(object, device_type)) return reinterpret_cast<DeviceObject*>(object)->device;
  if (PyUnicode_Check(object)) {
    const char* text = PyUnicode_AsUTF8(object);
    if (!text) throw ErrorIsSet();
    return Device(std::string_view(text));
  }
  const long index = PyLong_AsLong(object);
  if (index == -1 && PyErr_Occurred()) throw ErrorIsSet();
  TENON_CHECK(index >= 0, "Device index must not be negative, got ", index);
  TENON_CHECK_VALUE(index < 128, "a device's number is from 0 to 127, got ", index);
  return Device(kCUDA, static_cast<DeviceIndex>(index));
}
const Generator& generator_of(PyObject* object) {
  return reinterpret_cast<GeneratorObject*>(object)->generator;
}

PyObject* default_device() { return current_default; }

const char* python_name(ScalarType type) {
  PyObject* const object = dtypes[static_cast<int>(type)];
  return object ? name_of(object) : "undefined";
}

void add_named_values(PyObject* module) {
  dtype_type = make_named_type(module, "tenon.dtype", dtype_methods, dtype_attributes);
  layout_type = make_named_type(module, "tenon.layout", named_methods, nullptr);
  memory_format_type = make_named_type(module, "tenon.memory_format", named_methods, nullptr);
  for (const NamedDtype& dtype : kDtypes) {
    PyObject* const object =
        add_value(module, dtype_type, static_cast<int>(dtype.type), dtype.names[0]);
    dtypes[static_cast<int>(dtype.type)] = object;
    for (const char* name : {dtype.names[1], dtype.names[2]}) {
      if (name) check(PyModule_AddObjectRef(module, name, object));
    }
  }
  const std::pair<Layout, const char*> kLayouts[] = {
      {Layout::Strided, "strided"},      {Layout::Sparse, "sparse_coo"},
      {Layout::SparseCsr, "sparse_csr"}, {Layout::SparseCsc, "sparse_csc"},
      {Layout::SparseBsr, "sparse_bsr"}, {Layout::SparseBsc, "sparse_bsc"}};
  for (const auto& [layout, name] : kLayouts) {
    layouts[static_cast<int>(layout)] =
        add_value(module, layout_type, static_cast<int>(layout), name);
  }
  const std::pair<MemoryFormat, const char*> kFormats[] = {
      {MemoryFormat::Contiguous, "contiguous_format"},
      {MemoryFormat::Preserve, "preserve_format"},
      {MemoryFormat::ChannelsLast, "channels_last"},
      {MemoryFormat::ChannelsLast3d, "channels_last_3d"}};
  for (const auto& [format, name] : kFormats) {
    memory_formats[static_cast<int>(format)] =
        add_value(module, memory_format_type, static_cast<int>(format), name);
  }

  PyType_Slot device_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(device_repr)},
                                {Py_tp_str, reinterpret_cast<void*>(device_str)},
                                {Py_tp_hash, reinterpret_cast<void*>(device_hash)},
                                {Py_tp_richcompare, reinterpret_cast<void*>(device_compare)},
                                {Py_tp_new, reinterpret_cast<void*>(device_new)},
                                {Py_tp_getset, device_attributes},
                                {Py_tp_methods, device_methods},
                                {0, nullptr}};
  PyType_Spec device_spec = {"tenon.device", sizeof(DeviceObject), 0, Py_TPFLAGS_DEFAULT,
                             device_slots};
  device_type = add_type(module, &device_spec);
  check(PyModule_AddFunctions(module, device_functions));

  PyType_Slot generator_slots[] = {{Py_tp_new, reinterpret_cast<void*>(generator_new)},
                                   {Py_tp_dealloc, reinterpret_cast<void*>(generator_dealloc)},
                                   {Py_tp_methods, generator_methods},
                                   {Py_tp_getset, generator_attributes},
                                   {0, nullptr}};
  PyType_Spec generator_spec = {"tenon.Generator", sizeof(GeneratorObject), 0, Py_TPFLAGS_DEFAULT,
                                generator_slots};
  generator_type = add_type(module, &generator_spec);

  PyType_Slot size_slots[] = {{Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                              {Py_mp_subscript, reinterpret_cast<void*>(size_subscript)},
                              {Py_tp_new, reinterpret_cast<void*>(size_new)},
                              {Py_nb_add, reinterpret_cast<void*>(size_add)},
                              {Py_sq_repeat, reinterpret_cast<void*>(size_repeat)},
                              {Py_tp_methods, size_methods},
                              {0, nullptr}};
  PyType_Spec size_spec = {"tenon.Size", 0, 0, Py_TPFLAGS_DEFAULT, size_slots};
  size_type = add_type(module, &size_spec, reinterpret_cast<PyObject*>(&PyTuple_Type));
}

}  // namespace tenon::python
