#include "bindings/python/src/creation.h"

#include <complex>
#include <cstring>
#include <string_view>

#include "aten/iterator/number_fits.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/dispatch.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/numpy_objects.h"
#include "tenon/ops/clone.h"
#include "tenon/ops/contiguous.h"
#include "tenon/ops/to.h"

namespace tenon::python {
namespace {

constexpr Py_ssize_t kMaxDepth = 128;

/// An array of numpy's without dimensions.
bool is_scalar_array(PyObject* object) {
  if (!is_numpy(object, "ndarray") || PyObject_Length(object) >= 0) return false;
  PyErr_Clear();
  return true;
}

bool is_sequence(PyObject* object) {
  if (PyList_Check(object) || PyTuple_Check(object)) return true;
  if (is_scalar_array(object)) return false;
  if (PyUnicode_Check(object) || PyBytes_Check(object) || is_tensor(object)) return false;
  return PySequence_Check(object) && !is_number(object);
}

[[noreturn]] void bad_element(PyObject* object) {
  TENON_CHECK_TYPE(!PyUnicode_Check(object), "new(): invalid data type 'str'");
  throw Error(detail::concat("Could not infer dtype of ", Py_TYPE(object)->tp_name));
}

/// The dtype that a number has when none is given.
ScalarType dtype_of_number(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object).scalar_type();
  if (PyBool_Check(object)) return kBool;
  const bool is_pythons = PyFloat_CheckExact(object) || PyLong_CheckExact(object);
  // numpy's scalars say what they are, also those that are Python's floats and complex numbers.
  if (!is_pythons && (is_numpy(object, "generic") || is_scalar_array(object)))
    return from_buffer(object, true).scalar_type();
  if (PyFloat_Check(object)) return get_default_dtype();
  if (PyLong_Check(object)) return kLong;
  if (PyComplex_Check(object)) return to_complex(get_default_dtype());
  bad_element(object);
}

/// The dtype in which elements of `type` are stored before they become such.
ScalarType stored_type(ScalarType type) {
  return is_float8(type)          ? kFloat
         : is_wide_unsigned(type) ? kLong
         : type == kComplexHalf   ? kComplexFloat
                                  : type;
}

/// An integer of Python's, which uint64 holds above int64's.
int64_t integer_of(PyObject* object, ScalarType type) {
  const Object number = Object::adopt(PyNumber_Index(object));
  if (type == kUInt64) {
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.get());
    if (PyErr_Occurred()) throw ErrorIsSet();
    return static_cast<int64_t>(value);
  }
  int overflow = 0;
  const int64_t value = PyLong_AsLongLongAndOverflow(number.get(), &overflow);
  TENON_CHECK_VALUE(overflow == 0, "Overflow when unpacking long long");
  return value;
}

/// The number as an element of the type: as Python converts it. Integers must fit, of unsigned ones
/// also as many below zero, which wrap around.
Scalar element_of(PyObject* object, ScalarType type) {
  if (type == kBool) {
    const int value = PyObject_IsTrue(object);
    check(value);
    return value != 0;
  }
  if (is_complex(type)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    if (value.real == -1 && PyErr_Occurred()) throw ErrorIsSet();
    return std::complex<double>(value.real, value.imag);
  }
  const bool is_pythons = PyFloat_Check(object) || PyLong_Check(object);
  const bool is_fraction = PyFloat_Check(object) || (!is_pythons && is_numpy(object, "floating"));
  TENON_CHECK_TYPE(is_pythons || !(PyComplex_Check(object) || is_numpy(object, "complexfloating")),
                   "must be real number, not complex");
  if (is_fraction || is_floating_point(type)) {
    const double value = PyFloat_AsDouble(object);
    if (value == -1 && PyErr_Occurred()) throw ErrorIsSet();
    if (is_floating_point(type)) return value;
    const bool has_no_sign = type == kByte || is_wide_unsigned(type);
    TENON_CHECK(native::number_fits(value, type) && !(has_no_sign && value < 0),
                "value cannot be converted to type ", python_name(type), " without overflow, got ",
                value);
    return type == kUInt64 ? Scalar(static_cast<int64_t>(static_cast<uint64_t>(value)))
                           : Scalar(static_cast<int64_t>(value));
  }
  const bool is_numpys_bool = !is_pythons && is_numpy(object, "bool_");
  const int64_t value = is_numpys_bool ? PyObject_IsTrue(object) : integer_of(object, type);
  TENON_CHECK(type == kUInt64 || native::number_fits(value, type),
              "value cannot be converted to type ", python_name(type), " without overflow, got ",
              value);
  return value;
}

/// Nested sequences of numbers.
class Nested {
 public:
  explicit Nested(PyObject* data) { measure(data, 0); }

  const DimVector& sizes() const { return sizes_; }
  ScalarType dtype(PyObject* data) {
    std::optional<ScalarType> type;
    infer(data, 0, type);
    return type.value_or(get_default_dtype());
  }
  /// A new tensor of the elements.
  Tensor store(PyObject* data, ScalarType type) {
    type_ = type;
    stored_ = stored_type(type);
    Tensor result(empty(sizes_, stored_, kCPU));
    to_ = static_cast<char*>(result.mutable_data_ptr());
    store(data, size_t{0});
    return type == stored_ ? result : result.to(type);
  }

 private:
  void measure(PyObject* data, Py_ssize_t depth) {
    // Along the first elements; store() checks that all others agree.
    if (!is_sequence(data)) {
      // A tensor of one element, among others, is a number.
      if (is_tensor(data) && (depth == 0 || tensor_of(data).numel() != 1)) {
        for (int64_t n : tensor_of(data).sizes()) sizes_.push_back(n);
      }
      return;
    }
    TENON_CHECK_VALUE(depth < kMaxDepth, "too many dimensions '", Py_TYPE(data)->tp_name, "'");
    const Py_ssize_t length = PySequence_Size(data);
    check(static_cast<int>(length < 0 ? -1 : 0));
    sizes_.push_back(length);
    if (length == 0) return;
    const Object first = Object::adopt(PySequence_GetItem(data, 0));
    measure(first.get(), depth + 1);
  }

  Object items_of(PyObject* data, size_t depth) {
    Object items = Object::adopt(PySequence_Fast(data, "expected a sequence"));
    TENON_CHECK_VALUE(PySequence_Fast_GET_SIZE(items.get()) == sizes_[depth],
                      "expected sequence of length ", sizes_[depth], " at dim ", depth, " (got ",
                      PySequence_Fast_GET_SIZE(items.get()), ")");
    return items;
  }

  void infer(PyObject* data, size_t depth, std::optional<ScalarType>& type) {
    if (!is_sequence(data)) {
      const ScalarType own = dtype_of_number(data);
      type = type ? promote_types(*type, own) : own;
      return;
    }
    TENON_CHECK_VALUE(depth < sizes_.size(), "expected a number at dim ", depth,
                      ", got a sequence");
    const Object items = items_of(data, depth);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      PyObject* const item = PySequence_Fast_GET_ITEM(items.get(), i);
      TENON_CHECK_TYPE(item != data, "new(): self-referential lists are incompatible");
      infer(item, depth + 1, type);
    }
  }

  void store(PyObject* data, size_t depth) {
    if (depth == sizes_.size()) {
      TENON_CHECK_VALUE(!is_sequence(data), "expected a number at dim ", depth, ", got a sequence");
      Object number = Object::share(data);
      if (is_tensor(data)) {
        number = Object::adopt(wrap(tensor_of(data).item()));
      } else if (is_scalar_array(data)) {
        number = Object::adopt(PyObject_CallMethod(data, "item", nullptr));
      } else if (!is_number(data)) {
        bad_element(data);
      }
      store_number(element_of(number.get(), type_));
      return;
    }
    if (is_tensor(data)) {
      const Tensor rows = tensor_of(data).detach().to(stored_).contiguous().cpu();
      TENON_CHECK_VALUE(rows.sizes() == IntArrayRef(sizes_).slice(depth),
                        "expected tensors of the same sizes");
      std::memcpy(to_, rows.data_ptr(), rows.nbytes());
      to_ += rows.nbytes();
      return;
    }
    TENON_CHECK_TYPE(is_sequence(data), "not a sequence");
    const Object items = items_of(data, depth);
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(items.get()); ++i) {
      store(PySequence_Fast_GET_ITEM(items.get(), i), depth + 1);
    }
  }

  void store_number(const Scalar& number) {
    TENON_DISPATCH_SWITCH(stored_, "tensor", TENON_FORALL_TYPES(TENON_DISPATCH_CASE), {
      const scalar_t value = number.to<scalar_t>();
      std::memcpy(to_, &value, sizeof value);
      to_ += sizeof value;
    });
  }

  DimVector sizes_;
  char* to_ = nullptr;
  ScalarType type_ = kFloat, stored_ = kFloat;
};

void warn_of_arrays(PyObject* data) {
  if (!PyList_Check(data) || PyList_GET_SIZE(data) == 0) return;
  PyObject* const first = PyList_GET_ITEM(data, 0);
  if (!PyObject_CheckBuffer(first) || !is_numpy(first, "ndarray")) return;
  check(PyErr_WarnEx(PyExc_UserWarning,
                     "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please "
                     "consider converting the list to a single numpy.ndarray with numpy.array() "
                     "before converting to a tensor.",
                     1));
}

/// The element type that a format of the struct module names.
std::optional<ScalarType> dtype_of_format(std::string_view format, Py_ssize_t itemsize) {
  if (!format.empty() && (format[0] == '@' || format[0] == '=' || format[0] == '<')) {
    format.remove_prefix(1);
  }
  if (format == "Zf") return kComplexFloat;
  if (format == "Zd") return kComplexDouble;
  if (format.size() != 1) return std::nullopt;
  switch (format[0]) {
  case '?': return kBool;
  case 'e': return kHalf;
  case 'f': return kFloat;
  case 'd': return kDouble;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q': return itemsize == 1 ? kChar : itemsize == 2 ? kShort : itemsize == 4 ? kInt : kLong;
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return itemsize == 1 ? kByte : itemsize == 2 ? kUInt16 : itemsize == 4 ? kUInt32 : kUInt64;
  default: return std::nullopt;
  }
}

/// Keeps the exporter of a buffer alive for a storage.
void release_buffer(void* context, void*, size_t) noexcept {
  auto* view = static_cast<Py_buffer*>(context);
  const PyGILState_STATE state = PyGILState_Ensure();
  PyBuffer_Release(view);
  PyGILState_Release(state);
  delete view;
}

Tensor elements_to_list_source(const Tensor& t) {
  return t.detach().cpu().resolve_conj().resolve_neg().contiguous();
}

template <class T>
PyObject* unsigned_number(const char*& from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  from += sizeof value;
  return PyLong_FromUnsignedLongLong(value);
}

PyObject* list_of(const char*& from, ScalarType type, IntArrayRef sizes) {
  if (sizes.empty()) {
    if (type == kUInt16) return unsigned_number<uint16_t>(from);
    if (type == kUInt32) return unsigned_number<uint32_t>(from);
    if (type == kUInt64) return unsigned_number<uint64_t>(from);
    return TENON_DISPATCH_SWITCH(type, "tolist", TENON_FORALL_TYPES(TENON_DISPATCH_CASE), {
      scalar_t value;
      std::memcpy(&value, from, sizeof value);
      from += sizeof value;
      return wrap(Scalar(value));
    });
  }
  Object list = Object::adopt(PyList_New(sizes[0]));
  for (int64_t i = 0; i < sizes[0]; ++i) {
    PyObject* const one = list_of(from, type, sizes.slice(1));
    if (!one) throw ErrorIsSet();
    PyList_SET_ITEM(list.get(), i, one);
  }
  return list.release();
}

// ---- tenon.tensor and its kin ----

constexpr Parameter kTensorParameters[] = {
    {.name = "dtype", .kind = Kind::DType, .optional = true, .has_default = true},
    {.name = "device", .kind = Kind::Device, .optional = true, .has_default = true},
    {.name = "requires_grad", .kind = Kind::Bool, .has_default = true},
    {.name = "pin_memory", .kind = Kind::Bool, .has_default = true},
};

constexpr Overload kTensorOptions = {
    "(data, *, dtype dtype=None, device device=None, bool requires_grad=False, bool "
    "pin_memory=False) -> Tensor",
    kTensorParameters,
    4,
    0,
    -1,
    [](Arguments& a) -> PyObject* {
      PyObject* const data = static_cast<PyObject*>(const_cast<void*>(a.context));
      Tensor t = make_tensor(data, a.optional_dtype(0), a.optional_device(1));
      TENON_CHECK(!a.boolean(3), "[tensor] memory is pinned where there is a GPU alone");
      if (a.boolean(2)) t.set_requires_grad(true);
      return wrap(std::move(t));
    }};
constexpr const Overload* kTensorOverloads[] = {&kTensorOptions};
constexpr Function kTensorFunction = {"tensor", kTensorOverloads, 1};

PyObject* py_tensor(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  if (count == 1 && !names && !default_device()) {
    return guarded([&] { return wrap(make_tensor(args[0], {}, {})); });
  }
  if (count < 1) {
    // The one parameter that may have any type.
    if (names && PyTuple_GET_SIZE(names) > 0 &&
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "data") == 0) {
      const Py_ssize_t others = PyTuple_GET_SIZE(names) - 1;
      return guarded([&] {
        const Object rest = Object::adopt(PyTuple_GetSlice(names, 1, others + 1));
        return call_function(kTensorFunction, args[0], nullptr, args + 1, 0, rest.get());
      });
    }
    PyErr_SetString(PyExc_TypeError, "tensor(): argument 'data' is missing");
    return nullptr;
  }
  return call_function(kTensorFunction, args[0], nullptr, args + 1, count - 1, names);
}

PyObject* py_from_numpy(PyObject*, PyObject* array) {
  return guarded([&] { return wrap(from_buffer(array)); });
}

/// A tensor of `dtype`, over the memory of a contiguous buffer of bytes.
PyObject* py_from_bytes(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return guarded([&] {
    TENON_CHECK_TYPE(count == 2 && is_dtype(args[1]), "expected a buffer and a dtype");
    const Tensor bytes = from_buffer(args[0]);
    const ScalarType type = dtype_of(args[1]);
    const auto size = static_cast<int64_t>(element_size(type));
    TENON_CHECK_VALUE(bytes.itemsize() == 1 && bytes.is_contiguous() && bytes.numel() % size == 0,
                      "expected contiguous bytes, a multiple of ", size);
    IntrusivePtr<TensorImpl> impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(type, kCPU));
    impl->storage = bytes.unsafe_impl()->storage;
    impl->set_sizes_contiguous(bytes.numel() / size);
    impl->refresh_data();
    return wrap(Tensor(std::move(impl)));
  });
}

PyMethodDef functions[] = {
    {"_from_bytes", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(py_from_bytes)),
     METH_FASTCALL, nullptr},
    {"tensor", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(py_tensor)),
     METH_FASTCALL | METH_KEYWORDS,
     "tensor(data, *, dtype=None, device=None, requires_grad=False)\n\n"
     "A tensor of the values of `data`, copied: a number, nested sequences of numbers, a numpy "
     "array."},
    {"from_numpy", py_from_numpy, METH_O,
     "A tensor that shares its memory with a numpy array, or with whatever has a buffer."},
    {},
};

/// The tensor, of which modes have not seen how it is made.
Tensor make_without_modes(PyObject* data, std::optional<ScalarType> dtype,
                          std::optional<Device> device) {
  const ExcludeLayers exclude(DispatchLayer::PythonMode);
  return make_tensor(data, dtype, device);
}

}  // namespace

Tensor make_tensor(PyObject* data, std::optional<ScalarType> dtype, std::optional<Device> device) {
  if (!is_tensor(data) && TENON_UNLIKELY(modes_take_calls())) {
    return lift_fresh(make_without_modes(data, dtype, device));
  }
  Tensor result;
  if (is_tensor(data)) {
    result = tensor_of(data).detach().clone();
    if (dtype) result = result.to(*dtype);
  } else if (PyObject_CheckBuffer(data) && is_numpy(data, "ndarray")) {
    result = from_buffer(data, true).clone();
    if (dtype) result = result.to(*dtype);
  } else {
    Nested nested(data);
    if (!is_sequence(data) && !is_number(data)) bad_element(data);
    warn_of_arrays(data);
    result = nested.store(data, dtype ? *dtype : nested.dtype(data));
  }
  if (device && !(device->is_cpu() && result.is_cpu())) {
    result = result.to(*device, result.scalar_type());
  }
  return result;
}

namespace {

/// The error for an array, or another buffer, whose elements no dtype holds.
[[noreturn]] void raise_unsupported(PyObject* object, const std::string& format) {
  TENON_CHECK_VALUE(!format.starts_with('>') && !format.starts_with('!'),
                    "given numpy array has byte order different from the native byte order. "
                    "Conversion between byte orders is currently not supported.");
  TENON_CHECK_TYPE(PyObject_HasAttrString(object, "dtype"), "can't convert a buffer of format '",
                   format, "': there is no such dtype");
  const Object dtype = Object::adopt(PyObject_GetAttrString(object, "dtype"));
  const Object type = Object::adopt(PyObject_GetAttrString(dtype.get(), "type"));
  detail::raise<TypeError>(
      "can't convert np.ndarray of type ",
      reinterpret_cast<const PyTypeObject*>(type.get())->tp_name,
      ". The only supported types are: float64, float32, float16, complex64, complex128, int64, "
      "int32, int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

}  // namespace

Tensor from_buffer(PyObject* object, bool only_read) {
  TENON_CHECK_TYPE(PyObject_CheckBuffer(object) && !is_tensor(object), "expected np.ndarray (got ",
                   Py_TYPE(object)->tp_name, ")");
  auto view = std::make_unique<Py_buffer>();
  bool writable = true;
  if (PyObject_GetBuffer(object, view.get(), PyBUF_RECORDS) != 0) {
    PyErr_Clear();
    writable = false;
    if (PyObject_GetBuffer(object, view.get(), PyBUF_RECORDS_RO) != 0) {
      // numpy exports no buffer of some dtypes, of dates for one.
      if (!PyErr_ExceptionMatches(PyExc_ValueError) || !PyObject_HasAttrString(object, "dtype"))
        throw ErrorIsSet();
      PyErr_Clear();
      raise_unsupported(object, "");
    }
  }
  const auto fail = [&](const std::string& message) {
    PyBuffer_Release(view.get());
    throw TypeError(message);
  };
  const std::string format = view->format ? view->format : "B";
  const auto type = dtype_of_format(format, view->itemsize);
  if (!type) {
    PyBuffer_Release(view.get());
    raise_unsupported(object, format);
  }
  if (static_cast<size_t>(view->itemsize) != element_size(*type))
    fail("unexpected size of elements");
  DimVector sizes, strides;
  for (int i = 0; i < view->ndim; ++i) {
    sizes.push_back(view->shape[i]);
    const Py_ssize_t stride = view->strides ? view->strides[i] : 0;
    if (stride < 0 || stride % view->itemsize != 0) {
      PyBuffer_Release(view.get());
      throw ValueError(
          "At least one of the strides in the given numpy array is negative, or no multiple of the "
          "element's size, and tensors with such strides are not supported. (You can probably work "
          "around this by making a copy of your array with array.copy().)");
    }
    strides.push_back(stride / view->itemsize);
  }
  if (!view->strides) strides = contiguous_strides(sizes);
  int64_t count = 1, last = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    count *= sizes[i];
    last += (sizes[i] - 1) * strides[i];
  }
  if (!writable && !only_read &&
      PyErr_WarnEx(
          PyExc_UserWarning,
          PyObject_HasAttrString(object, "dtype")
              ? "The given NumPy array is not writable, and tensors cannot say that they are "
                "not: writing to this tensor will result in undefined behavior. Copy the array "
                "first, or make it writable."
              : "The given buffer is not writable, and tensors cannot say that they are not: "
                "writing to this tensor will result in undefined behavior. Copy the buffer "
                "first, or make it writable.",
          1) != 0) {
    PyBuffer_Release(view.get());
    throw ErrorIsSet();
  }
  const size_t bytes = count == 0 ? 0 : (static_cast<size_t>(last) + 1) * element_size(*type);
  IntrusivePtr<TensorImpl> impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(*type, kCPU));
  void* const start = view->buf;
  impl->storage = IntrusivePtr<StorageImpl>::adopt(
      StorageImpl::create(start, bytes, kCPU, release_buffer, view.release()));
  impl->set_sizes_and_strides(sizes, strides);
  impl->refresh_data();
  return Tensor(std::move(impl));
}

PyObject* to_list(const Tensor& tensor) {
  const ExcludeLayers exclude(
      DispatchLayer::PythonMode);  // what is read is no operator of anyone's
  const ScalarType type = tensor.scalar_type();
  const bool as_floats = is_float8(type) || type == kComplexHalf;
  const Tensor source = elements_to_list_source(
      as_floats ? tensor.to(is_complex(type) ? kComplexFloat : kFloat) : tensor);
  const char* from = static_cast<const char*>(source.data_ptr());
  return list_of(from, source.scalar_type(), source.sizes());
}

void add_creation(PyObject* module) { check(PyModule_AddFunctions(module, functions)); }

}  // namespace tenon::python
