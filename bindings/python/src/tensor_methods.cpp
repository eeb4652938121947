#include "bindings/python/src/tensor_methods.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "autograd/autograd.h"
#include "autograd/meta.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/operators.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/calls/results.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/docstrings.h"
#include "bindings/python/src/named_values.h"
#include "tenon/ops/imag.h"
#include "tenon/ops/item.h"
#include "tenon/ops/permute.h"
#include "tenon/ops/real.h"
#include "tenon/ops/to.h"
#include "tenon/ops/transpose.h"

namespace tenon::python {
namespace {

void warn(const char* message) {
  if (PyErr_WarnEx(PyExc_UserWarning, message, 1) != 0) throw ErrorIsSet();
}

// The attribute's name is given where it is read as an attribute.
#define TENON_ATTRIBUTE(name, expression)                            \
  PyObject* get_##name(PyObject* self, void* attribute) {            \
    return guarded([&]() -> PyObject* {                              \
      if (attribute && has_override(self)) {                         \
        return get_by_override(static_cast<char*>(attribute), self); \
      }                                                              \
      const Tensor& t = tensor_of(self);                             \
      return expression;                                             \
    });                                                              \
  }
TENON_ATTRIBUTE(shape, wrap_size(t.sizes()))
TENON_ATTRIBUTE(dtype, wrap(t.scalar_type()))
TENON_ATTRIBUTE(device, wrap(t.device()))
TENON_ATTRIBUTE(layout, wrap(t.layout()))
TENON_ATTRIBUTE(ndim, wrap(t.dim()))
TENON_ATTRIBUTE(itemsize, wrap(t.itemsize()))
TENON_ATTRIBUTE(nbytes, wrap(static_cast<int64_t>(t.nbytes())))
TENON_ATTRIBUTE(requires_grad, wrap(t.requires_grad()))
TENON_ATTRIBUTE(is_leaf, wrap(t.is_leaf()))
TENON_ATTRIBUTE(retains_grad, wrap(t.retains_grad()))
/// The gradient that has been accumulated; a warning where none ever will be.
PyObject* gradient_of(const Tensor& t) {
  autograd::AutogradMeta* meta = t.unsafe_impl()->autograd_meta;
  // A backward pass on another thread may be adding to it.
  Tensor grad = meta ? meta->current_grad() : Tensor();
  if (!grad.defined() && !t.is_leaf() && !t.retains_grad()) {
    check(PyErr_WarnEx(PyExc_UserWarning,
                       "The .grad attribute of a Tensor that is not a leaf Tensor is being "
                       "accessed. backward() fills it only if retain_grad() has been called.",
                       1));
  }
  return wrap(std::move(grad));
}
TENON_ATTRIBUTE(grad, gradient_of(t))
TENON_ATTRIBUTE(grad_dtype, autograd::grad_dtype(t) ? wrap(*autograd::grad_dtype(t))
                                                    : Object::share(Py_None).release())
TENON_ATTRIBUTE(version, wrap(t._version()))
TENON_ATTRIBUTE(base, wrap(t._base()))
TENON_ATTRIBUTE(output_nr, wrap(t.output_nr()))
TENON_ATTRIBUTE(data, wrap(t.data()))
TENON_ATTRIBUTE(is_cpu, wrap(t.is_cpu()))
TENON_ATTRIBUTE(is_cuda, wrap(t.is_cuda()))
TENON_ATTRIBUTE(is_meta, wrap(t.is_meta()))
TENON_ATTRIBUTE(is_sparse, wrap(t.is_sparse()))
TENON_ATTRIBUTE(is_sparse_csr, wrap(t.is_sparse_csr()))
TENON_ATTRIBUTE(mT, wrap([&] {
                  TENON_CHECK(
                      t.dim() != 1,
                      "tensor.mT is only supported on matrices or batches of matrices. Got ",
                      t.dim(), "-D tensor.");
                  if (t.dim() == 0) {
                    warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in "
                         "these cases.");
                    return t;
                  }
                  return t.transpose(-2, -1);
                }()))
TENON_ATTRIBUTE(T, wrap([&] {
                  if (t.dim() != 2 && t.dim() != 0) {
                    warn("The use of `x.T` on tensors of dimension other than 2 to reverse their "
                         "shape is deprecated. Consider `x.mT` to transpose batches of matrices or "
                         "`x.permute(*range(x.ndim - 1, -1, -1))` to reverse the dimensions.");
                  }
                  DimVector dims;
                  for (int64_t d = t.dim() - 1; d >= 0; --d) dims.push_back(d);
                  return t.permute(dims);
                }()))
TENON_ATTRIBUTE(real, wrap(tenon::real(t)))
TENON_ATTRIBUTE(imag, wrap(tenon::imag(t)))
#undef TENON_ATTRIBUTE

int set_requires_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&]() -> int {
        if (has_override(self)) return set_by_override("requires_grad", self, value), 0;
        TENON_CHECK(value && PyBool_Check(value), "requires_grad must be a bool");
        tensor_of(self).set_requires_grad(value == Py_True);
        return 0;
      },
      -1);
}
int set_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&]() -> int {
        if (has_override(self)) return set_by_override("grad", self, value), 0;
        TENON_CHECK_TYPE(!value || value == Py_None || is_tensor(value),
                         "assigned grad expected to be a Tensor or None but got grad of type ",
                         Py_TYPE(value)->tp_name);
        autograd::set_grad(tensor_of(self),
                           value && value != Py_None ? tensor_of(value) : Tensor());
        return 0;
      },
      -1);
}
int set_grad_dtype(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&]() -> int {
        if (has_override(self)) return set_by_override("grad_dtype", self, value), 0;
        TENON_CHECK(value && (value == Py_None || is_dtype(value)),
                    "grad_dtype must be a dtype or None, but got ",
                    value ? Py_TYPE(value)->tp_name : "nothing");
        autograd::set_grad_dtype(tensor_of(self),
                                 value == Py_None ? std::optional<ScalarType>() : dtype_of(value));
        return 0;
      },
      -1);
}
int set_data(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&]() -> int {
        if (has_override(self)) return set_by_override("data", self, value), 0;
        TENON_CHECK(value, "Deleting tensor data is not allowed. Delete tensor instead!");
        TENON_CHECK_TYPE(is_tensor(value), "Variable data has to be a tensor, but got ",
                         Py_TYPE(value)->tp_name);
        tensor_of(self).set_data(tensor_of(value));
        return 0;
      },
      -1);
}

/// Writes the real or the imaginary parts, as `self.real[...] = value` does.
int set_part(PyObject* self, PyObject* value, void* attribute) {
  return guarded(
      [&]() -> int {
        const auto* name = static_cast<const char*>(attribute);
        if (has_override(self)) return set_by_override(name, self, value), 0;
        TENON_CHECK_TYPE(value, "Tensor does not support deleting ", name);
        const Tensor& t = tensor_of(self);
        const bool is_real = std::string_view(name) == "real";
        const Object part = Object::adopt(wrap(is_real ? tenon::real(t) : tenon::imag(t)));
        return tensor_assign(part.get(), Py_Ellipsis, value);
      },
      -1);
}

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "The sizes, as a tenon.Size.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where the elements are.", nullptr},
    {"layout", get_layout, nullptr, nullptr, nullptr},
    {"ndim", get_ndim, nullptr, "The number of dimensions.", nullptr},
    {"itemsize", get_itemsize, nullptr, "Bytes of an element.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"requires_grad", get_requires_grad, set_requires_grad, nullptr, nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operation made it.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, nullptr, nullptr},
    {"grad", get_grad, set_grad, "The gradient that backward() has accumulated, or None.", nullptr},
    {"_grad", get_grad, set_grad, "Another name of grad.", nullptr},
    {"grad_dtype", get_grad_dtype, set_grad_dtype,
     "The dtype that gradients are cast to, by default the tensor's; None: any.", nullptr},
    {"_version", get_version, nullptr, "The number of changes in place.", nullptr},
    {"_base", get_base, nullptr, "The tensor that this one is a view of, or None.", nullptr},
    {"output_nr", get_output_nr, nullptr, nullptr, nullptr},
    {"data", get_data, set_data, "The same elements without history.", nullptr},
    {"is_cpu", get_is_cpu, nullptr, nullptr, nullptr},
    {"is_cuda", get_is_cuda, nullptr, nullptr, nullptr},
    {"is_meta", get_is_meta, nullptr, nullptr, nullptr},
    {"is_sparse", get_is_sparse, nullptr, nullptr, nullptr},
    {"is_sparse_csr", get_is_sparse_csr, nullptr, nullptr, nullptr},
    {"real", get_real, set_part, "A view of the real parts, of a real tensor itself.", nullptr},
    {"imag", get_imag, set_part, "A view of the imaginary parts of a complex tensor.", nullptr},
    {"mT", get_mT, nullptr, "The last two dimensions exchanged.", nullptr},
    {"T", get_T, nullptr, "The dimensions in reverse order.", nullptr},
    {},
};

PyObject* tensor_dim(PyObject* self, PyObject*) { return get_ndim(self, nullptr); }
PyObject* tensor_is_inference(PyObject* self, PyObject*) {
  return wrap(tensor_of(self).is_inference());
}
PyObject* tensor_numel(PyObject* self, PyObject*) { return wrap(tensor_of(self).numel()); }
PyObject* tensor_element_size(PyObject* self, PyObject*) { return get_itemsize(self, nullptr); }
PyObject* tensor_storage_offset(PyObject* self, PyObject*) {
  return wrap(tensor_of(self).storage_offset());
}
PyObject* tensor_data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    const TensorImpl* impl = tensor_of(self).unsafe_impl();
    // A wrapper has no memory; PyTorch's programs ask by comparing with 0.
    if (!impl->has_memory && impl->key_set.has(DispatchLayer::Python)) return PyLong_FromLong(0);
    return PyLong_FromVoidPtr(tensor_of(self).data_ptr());
  });
}
PyObject* tensor_item(PyObject* self, PyObject*) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    TENON_CHECK(t.numel() == 1, "a Tensor with ", t.numel(),
                " elements cannot be converted to Scalar");
    return is_storage_only(t.scalar_type()) ? to_list(t.view({})) : wrap(t.item());
  });
}
PyObject* tensor_tolist(PyObject* self, PyObject*) {
  return guarded([&] {
    TENON_CHECK(!tensor_of(self).key_set().has(DispatchLayer::Python),
                ".tolist() is not supported for tensor subclasses, got ", Py_TYPE(self)->tp_name);
    return to_list(tensor_of(self));
  });
}
PyObject* tensor_detach(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(tensor_of(self).detach()); });
}
PyObject* tensor_detach_(PyObject* self, PyObject*) {
  return guarded([&] {
    tensor_of(self).detach_();
    return Py_NewRef(self);
  });
}
PyObject* tensor_retain_grad(PyObject* self, PyObject*) {
  return guarded([&] {
    tensor_of(self).retain_grad();
    return none();
  });
}
PyObject* tensor_is_floating_point(PyObject* self, PyObject*) {
  return wrap(tensor_of(self).is_floating_point());
}
PyObject* tensor_is_complex(PyObject* self, PyObject*) {
  return wrap(tensor_of(self).is_complex());
}
PyObject* tensor_is_conj(PyObject* self, PyObject*) { return wrap(tensor_of(self).is_conj()); }
PyObject* tensor_is_neg(PyObject* self, PyObject*) { return wrap(tensor_of(self).is_neg()); }
PyObject* tensor_is_signed(PyObject* self, PyObject*) {
  const ScalarType t = tensor_of(self).scalar_type();
  return wrap(t != kByte && t != kBool && !is_wide_unsigned(t));
}
PyObject* tensor_is_view(PyObject* self, PyObject*) { return wrap(tensor_of(self).is_view()); }
/// Two tensors of one object each, which share memory or not.
PyObject* tensor_is_alias_of(PyObject* self, PyObject* other) {
  return guarded([&] {
    TENON_CHECK_TYPE(is_tensor(other), "expected a Tensor, got ", Py_TYPE(other)->tp_name);
    return wrap(tensor_of(self).is_alias_of(tensor_of(other)));
  });
}
PyObject* tensor_is_same(PyObject* self, PyObject* other) {
  return wrap(is_tensor(other) && tensor_of(self).is_same(tensor_of(other)));
}

/// A name as an argument of a template.
template <size_t N>
struct Text {
  constexpr Text(const char (&text)[N]) { std::copy_n(text, N, value); }
  char value[N];
};

/// A method without arguments or with one, which a subclass may override.
template <Text name, PyObject* (*method)(PyObject*, PyObject*)>
PyObject* plain(PyObject* self, PyObject* argument) {
  if (!has_override(self)) return method(self, argument);
  return guarded([&] {
    return argument ? call_override(name.value, {self, argument})
                    : call_override(name.value, {self});
  });
}

PyMethodDef plain_methods[] = {
    {"dim", plain<"dim", tensor_dim>, METH_NOARGS, "The number of dimensions."},
    {"ndimension", plain<"ndimension", tensor_dim>, METH_NOARGS, "The number of dimensions."},
    {"is_inference", plain<"is_inference", tensor_is_inference>, METH_NOARGS,
     "Whether it was made in inference mode, and so never takes part in gradients."},
    {"numel", plain<"numel", tensor_numel>, METH_NOARGS, "The number of elements."},
    {"nelement", plain<"nelement", tensor_numel>, METH_NOARGS, "The number of elements."},
    {"element_size", plain<"element_size", tensor_element_size>, METH_NOARGS,
     "Bytes of an element."},
    {"storage_offset", plain<"storage_offset", tensor_storage_offset>, METH_NOARGS, nullptr},
    {"data_ptr", plain<"data_ptr", tensor_data_ptr>, METH_NOARGS,
     "The address of the first element."},
    {"item", plain<"item", tensor_item>, METH_NOARGS, "The only element, as a number of Python's."},
    {"tolist", plain<"tolist", tensor_tolist>, METH_NOARGS,
     "The elements as nested lists, or as a number."},
    {"detach", plain<"detach", tensor_detach>, METH_NOARGS, "The same elements without history."},
    {"detach_", plain<"detach_", tensor_detach_>, METH_NOARGS, nullptr},
    {"retain_grad", plain<"retain_grad", tensor_retain_grad>, METH_NOARGS, nullptr},
    {"is_floating_point", plain<"is_floating_point", tensor_is_floating_point>, METH_NOARGS,
     nullptr},
    {"is_complex", plain<"is_complex", tensor_is_complex>, METH_NOARGS, nullptr},
    {"is_signed", plain<"is_signed", tensor_is_signed>, METH_NOARGS, nullptr},
    {"is_conj", plain<"is_conj", tensor_is_conj>, METH_NOARGS,
     "Whether the elements are the conjugates of those in memory."},
    {"is_neg", plain<"is_neg", tensor_is_neg>, METH_NOARGS,
     "Whether the elements are the negatives of those in memory."},
    {"_is_view", plain<"_is_view", tensor_is_view>, METH_NOARGS, nullptr},
    {"_is_alias_of", plain<"_is_alias_of", tensor_is_alias_of>, METH_O, nullptr},
    {"is_set_to", plain<"is_set_to", tensor_is_same>, METH_O, nullptr},
    {},
};

// ---- methods with arguments ----

constexpr Parameter kDimParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "dim", .kind = Kind::Int, .optional = true, .has_default = true}};
constexpr Overload kSize = {
    "(int? dim=None) -> Size", kDimParameters, 2, 2, 0, [](Arguments& a) -> PyObject* {
      return a.given(1) ? wrap(a.tensor(0).size(a.integer(1))) : wrap_size(a.tensor(0).sizes());
    }};
constexpr Overload kStride = {
    "(int? dim=None) -> tuple of ints", kDimParameters, 2, 2, 0, [](Arguments& a) -> PyObject* {
      if (a.given(1)) return wrap(a.tensor(0).stride(a.integer(1)));
      const Object size = Object::adopt(wrap_size(a.tensor(0).strides()));
      return PyTuple_GetSlice(size.get(), 0, PyTuple_GET_SIZE(size.get()));
    }};

constexpr Parameter kRequiresGradParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "requires_grad", .kind = Kind::Bool, .has_default = true},
};
constexpr Overload kRequiresGrad_ = {
    "(bool requires_grad=True) -> Tensor", kRequiresGradParameters, 2, 2, 0, [](Arguments& a) {
      a.tensor(0).set_requires_grad(a.boolean(1, true));
      return a.again(0);
    }};

constexpr Parameter kContiguousParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "memory_format", .kind = Kind::MemoryFormat, .has_default = true},
};
constexpr Overload kIsContiguous = {
    "(*, memory_format memory_format=contiguous_format) -> bool",
    kContiguousParameters,
    2,
    2,
    0,
    [](Arguments& a) { return wrap(a.tensor(0).is_contiguous(a.memory_format(1))); }};

/// What to() gives: the tensor itself where nothing is to be done.
PyObject* converted(Arguments& a, std::optional<ScalarType> dtype, std::optional<Device> device,
                    bool non_blocking, bool copy, std::optional<MemoryFormat> format) {
  const Tensor& self = a.tensor(0);
  Tensor result = [&] {
    const Unlocked unlocked(a);
    return ops::to_dtype_layout::call(self, dtype, std::nullopt, device, std::nullopt, non_blocking,
                                      copy, format);
  }();
  return result.is_same(self) ? a.again(0) : wrap(std::move(result));
}
constexpr Parameter kToDtypeParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "dtype", .kind = Kind::DType},
    {.name = "non_blocking", .kind = Kind::Bool, .has_default = true},
    {.name = "copy", .kind = Kind::Bool, .has_default = true},
    {.name = "memory_format", .kind = Kind::MemoryFormat, .optional = true, .has_default = true},
};
constexpr Overload kToDtype = {"(dtype dtype, bool non_blocking=False, bool copy=False, *, "
                               "memory_format? memory_format=None) -> Tensor",
                               kToDtypeParameters,
                               5,
                               4,
                               0,
                               [](Arguments& a) {
                                 return converted(a, a.dtype(1), {}, a.boolean(2), a.boolean(3),
                                                  a.optional_memory_format(4));
                               }};
constexpr Parameter kToDeviceParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "device", .kind = Kind::Device, .optional = true, .has_default = true},
    {.name = "dtype", .kind = Kind::DType, .optional = true, .has_default = true},
    {.name = "non_blocking", .kind = Kind::Bool, .has_default = true},
    {.name = "copy", .kind = Kind::Bool, .has_default = true},
    {.name = "memory_format", .kind = Kind::MemoryFormat, .optional = true, .has_default = true},
};
constexpr Overload kToDevice = {"(device? device=None, dtype? dtype=None, bool non_blocking=False, "
                                "bool copy=False, *, memory_format? memory_format=None) -> Tensor",
                                kToDeviceParameters,
                                6,
                                5,
                                0,
                                [](Arguments& a) {
                                  return converted(a, a.optional_dtype(2), a.optional_device(1),
                                                   a.boolean(3), a.boolean(4),
                                                   a.optional_memory_format(5));
                                }};
constexpr Parameter kToOtherParameters[] = {
    {.name = "input", .kind = Kind::Tensor},
    {.name = "other", .kind = Kind::Tensor},
    {.name = "non_blocking", .kind = Kind::Bool, .has_default = true},
    {.name = "copy", .kind = Kind::Bool, .has_default = true},
    {.name = "memory_format", .kind = Kind::MemoryFormat, .optional = true, .has_default = true},
};
constexpr Overload kToOther = {"(Tensor other, bool non_blocking=False, bool copy=False, *, "
                               "memory_format? memory_format=None) -> Tensor",
                               kToOtherParameters,
                               5,
                               4,
                               0,
                               [](Arguments& a) {
                                 return converted(a, a.tensor(1).scalar_type(),
                                                  a.tensor(1).device(), a.boolean(2), a.boolean(3),
                                                  a.optional_memory_format(4));
                               }};

template <const char* name, const Overload&... overloads>
PyObject* method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* names) {
  static constexpr const Overload* kOverloads[] = {&overloads...};
  static constexpr Function kFunction = {name, kOverloads, sizeof...(overloads)};
  return call_function(kFunction, self, args, count, names);
}

constexpr char kNameSize[] = "size", kNameStride[] = "stride", kNameTo[] = "to",
               kNameRequiresGrad_[] = "requires_grad_", kNameIsContiguous[] = "is_contiguous";

template <class F>
PyCFunction as_function(F* f) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(f));
}

PyMethodDef argument_methods[] = {
    {kNameSize, as_function(method<kNameSize, kSize>), METH_FASTCALL | METH_KEYWORDS,
     "size(dim=None): the sizes, or that of one dimension."},
    {kNameStride, as_function(method<kNameStride, kStride>), METH_FASTCALL | METH_KEYWORDS,
     "stride(dim=None): the strides in elements, or that of one dimension."},
    {kNameTo, as_function(method<kNameTo, kToDtype, kToDevice, kToOther>),
     METH_FASTCALL | METH_KEYWORDS,
     "to(dtype), to(device, dtype=None), to(other): the tensor with another dtype or on another "
     "device; itself if it has both already and no copy is asked for."},
    {kNameRequiresGrad_, as_function(method<kNameRequiresGrad_, kRequiresGrad_>),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {kNameIsContiguous, as_function(method<kNameIsContiguous, kIsContiguous>),
     METH_FASTCALL | METH_KEYWORDS, nullptr},
    {},
};

// ---- generated ones ----

const char* shapes_of_pointwise(const FunctionEntry& entry) {
  for (size_t i = 0; i < entry.function->count; ++i) {
    const Overload& form = *entry.function->overloads[i];
    const auto tensors = std::count_if(form.parameters, form.parameters + form.count,
                                       [](const Parameter& p) { return p.kind == Kind::Tensor; });
    if (tensors > 1) {
      return "for each element. The tensors' shapes broadcast together; RuntimeError where they do "
             "not.";
    }
  }
  return "for each element: the result has input's shape.";
}

/// The sources' comment on the operator, or on that of which this is the form in place.
const char* said_of(std::string_view name) {
  for (;;) {
    const auto found = std::lower_bound(
        kDocstrings.begin(), kDocstrings.end(), name,
        [](const Docstring& one, std::string_view wanted) { return one.name < wanted; });
    if (found != kDocstrings.end() && found->name == name) return found->text;
    if (!name.ends_with('_')) return nullptr;
    name.remove_suffix(1);
  }
}

/// "add(Tensor input, Tensor other, *, Number alpha=1) -> Tensor", one line for each form; then
/// what it computes, and of which shapes.
const char* document(const FunctionEntry& entry) {
  auto& text = *new std::string;
  for (size_t i = 0; i < entry.function->count; ++i) {
    text += std::string(entry.name) + entry.function->overloads[i]->signature + "\n";
  }
  if (*entry.expression) {
    text +=
        std::string("\nComputes ") + entry.expression + "\n" + shapes_of_pointwise(entry) + "\n";
  }
  if (const char* said = said_of(entry.name)) text += std::string("\n") + said + "\n";
  return text.c_str();
}

PyMethodDef* make_definition(const FunctionEntry& entry) {
  return new PyMethodDef{entry.name, as_function(entry.call), METH_FASTCALL | METH_KEYWORDS,
                         document(entry)};
}

void set_method(PyMethodDef* definition) {
  const Object descriptor = Object::adopt(PyDescr_NewMethod(tensor_type, definition));
  check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), definition->ml_name,
                               descriptor.get()));
}

}  // namespace

void add_tensor_methods() {
  for (const FunctionEntry* const* list = kGeneratedMethods; *list; ++list) {
    for (const FunctionEntry* entry = *list; entry->name; ++entry) {
      set_method(make_definition(*entry));
    }
  }
  for (PyMethodDef* list : {plain_methods, argument_methods}) {
    for (PyMethodDef* one = list; one->ml_name; ++one) set_method(one);
  }
  for (PyGetSetDef* one = attributes; one->name; ++one) {
    one->closure = const_cast<char*>(one->name);
    const Object descriptor = Object::adopt(PyDescr_NewGetSet(tensor_type, one));
    check(PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), one->name,
                                 descriptor.get()));
  }
}

void add_functions(PyObject* module) {
  std::map<std::string, Object> modules;
  for (const FunctionEntry* const* list = kGeneratedFunctions; *list; ++list) {
    for (const FunctionEntry* entry = *list; entry->name; ++entry) {
      Object& target = modules[entry->module];
      if (!target && !*entry->module) target = Object::share(module);
      if (!target) {
        const std::string name = std::string("_") + entry->module;
        target = Object::adopt(PyModule_New(("tenon._C." + name).c_str()));
        check(PyModule_AddObjectRef(module, name.c_str(), target.get()));
      }
      PyMethodDef definitions[] = {*make_definition(*entry), {}};
      // The function refers to its definition.
      auto* kept = new PyMethodDef[2]{definitions[0], {}};
      check(PyModule_AddFunctions(target.get(), kept));
    }
  }
}

}  // namespace tenon::python
