#include "bindings/python/src/tensor_object.h"

#include <structmember.h>

#include <bit>
#include <memory>
#include <new>
#include <unordered_set>

#include "aten/core/print.h"
#include "bindings/python/src/calls/arguments.h"
#include "bindings/python/src/calls/dispatch.h"
#include "bindings/python/src/calls/operators.h"
#include "bindings/python/src/calls/overrides.h"
#include "bindings/python/src/creation.h"
#include "bindings/python/src/named_values.h"

namespace tenon::python {

PyTypeObject* tensor_type = nullptr;

namespace {

/// The objects of the tensors that have one: open addressing, linear probing, at most half full.
class ObjectTable {
 public:
  PyObject* find(const TensorImpl* impl) const {
    for (size_t i = start(impl); slots_[i].impl; i = next(i)) {
      if (slots_[i].impl == impl) return slots_[i].object;
    }
    return nullptr;
  }
  void insert(const TensorImpl* impl, PyObject* object) {
    if (2 * (count_ + 1) > size()) grow();
    size_t i = start(impl);
    while (slots_[i].impl) i = next(i);
    slots_[i] = {impl, object};
    ++count_;
  }
  void erase(const TensorImpl* impl) {
    size_t hole = start(impl);
    while (slots_[hole].impl != impl) {
      if (!slots_[hole].impl) return;
      hole = next(hole);
    }
    --count_;
    // What follows moves up where a search would otherwise end at the hole.
    for (size_t i = next(hole); slots_[i].impl; i = next(i)) {
      const size_t wanted = start(slots_[i].impl);
      if (((i - wanted) & mask_) < ((i - hole) & mask_)) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole] = {};
  }

 private:
  struct Slot {
    const TensorImpl* impl = nullptr;
    PyObject* object = nullptr;
  };

  size_t size() const { return mask_ + 1; }
  size_t next(size_t i) const { return (i + 1) & mask_; }
  size_t start(const TensorImpl* impl) const {
    const uint64_t spread = std::bit_cast<uint64_t>(impl) * 0x9e3779b97f4a7c15ull;
    return (spread >> 32) & mask_;
  }
  void grow() {
    const size_t old_size = size();
    const auto old = std::move(slots_);
    mask_ = 2 * old_size - 1;
    slots_ = std::make_unique<Slot[]>(size());
    count_ = 0;
    for (size_t i = 0; i < old_size; ++i) {
      if (old[i].impl) insert(old[i].impl, old[i].object);
    }
  }

  size_t mask_ = 255;
  size_t count_ = 0;
  std::unique_ptr<Slot[]> slots_ = std::make_unique<Slot[]>(256);
};

ObjectTable& objects() {
  // Never destroyed: objects may outlive the static ones.
  static ObjectTable& table = *new ObjectTable;
  return table;
}

/// Memory of Tensor objects that have gone, for the next ones.
constexpr size_t kMaxFree = 64;
TensorObject* free_objects[kMaxFree];
size_t free_count = 0;

TensorObject* allocate(PyTypeObject* type) {
  if (type != tensor_type) {
    auto* object = reinterpret_cast<TensorObject*>(type->tp_alloc(type, 0));
    if (!object) throw ErrorIsSet();
    return object;
  }
  // The collector learns of an object when it gets attributes: before, it refers to nothing.
  if (free_count > 0) {
    TensorObject* object = free_objects[--free_count];
    PyObject_Init(reinterpret_cast<PyObject*>(object), type);
    return object;
  }
  TensorObject* object = PyObject_GC_New(TensorObject, type);
  if (!object) throw ErrorIsSet();
  return object;
}

/// Objects that only their tensor keeps: Python has let go of them, and C++ not of the tensor.
/// What such an object holds, as the parts of a wrapper, is there when the tensor comes back.
std::unordered_set<PyObject*>& kept_by_tensors() {
  static auto& set = *new std::unordered_set<PyObject*>;
  return set;
}

/// The reference of such an object to its tensor, which was given up, is taken again.
void take_back(PyObject* object) {
  kept_by_tensors().erase(object);
  tensor_of(object).unsafe_impl()->refs.retain();
}

destructor plain_subclass_dealloc = nullptr;
PyObject* being_freed = nullptr;
void tensor_dealloc(PyObject* self);

/// Of classes with __torch_dispatch__: keeps the object if C++ still holds the tensor.
void dispatching_dealloc(PyObject* self) {
  if (self == being_freed || Py_TYPE(self)->tp_dealloc != &dispatching_dealloc)
    return tensor_dealloc(self);
  TensorImpl& impl = *tensor_of(self).unsafe_impl();
  if (impl.refs.count() > 1) {
    Py_SET_REFCNT(self, 1);
    kept_by_tensors().insert(self);
    if (!impl.refs.release()) return;
    // Another thread has let go of the tensor meanwhile: the object's reference is the only one.
    kept_by_tensors().erase(self);
    new (&impl.refs) RefCount;
    Py_SET_REFCNT(self, 0);
  }
  PyObject* const outer = std::exchange(being_freed, self);
  plain_subclass_dealloc(self);
  being_freed = outer;
}

/// Puts the tensor of a class with __torch_dispatch__ into the layer.
void add_dispatch_layer(PyTypeObject* type, const Tensor& tensor) {
  register_dispatch();
  if (type->tp_dealloc != &dispatching_dealloc) {
    plain_subclass_dealloc = type->tp_dealloc;  // the same for all classes of Python's
    type->tp_dealloc = &dispatching_dealloc;
    disable_inherited_torch_function(type);
  }
  TensorImpl& impl = *tensor.unsafe_impl();
  impl.key_set = impl.key_set.add(DispatchLayer::Python);
}

PyObject* make_object(PyTypeObject* type, Tensor tensor) {
  if (TENON_UNLIKELY(type != tensor_type) && has_dispatch(type)) add_dispatch_layer(type, tensor);
  TensorObject* object = allocate(type);
  object->dict = nullptr;
  object->weak_references = nullptr;
  const TensorImpl* impl = tensor.unsafe_impl();
  new (&object->tensor) Tensor(std::move(tensor));
  objects().insert(impl, reinterpret_cast<PyObject*>(object));
  return reinterpret_cast<PyObject*>(object);
}

void tensor_dealloc(PyObject* self) {
  auto* object = reinterpret_cast<TensorObject*>(self);
  if (PyObject_GC_IsTracked(self)) PyObject_GC_UnTrack(self);
  objects().erase(object->tensor.unsafe_impl());
  if (object->weak_references) PyObject_ClearWeakRefs(self);
  Py_CLEAR(object->dict);
  PyTypeObject* type = Py_TYPE(self);
  object->tensor.~Tensor();
  if (type == tensor_type && free_count < kMaxFree) {
    free_objects[free_count++] = object;
  } else {
    type->tp_free(self);
  }
  Py_DECREF(type);
}

int tensor_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<TensorObject*>(self)->dict);
  return 0;
}

int tensor_clear(PyObject* self) {
  Py_CLEAR(reinterpret_cast<TensorObject*>(self)->dict);
  return 0;
}

int tensor_setattr(PyObject* self, PyObject* name, PyObject* value) {
  const int status = PyObject_GenericSetAttr(self, name, value);
  if (reinterpret_cast<TensorObject*>(self)->dict && !PyObject_GC_IsTracked(self)) {
    PyObject_GC_Track(self);
  }
  return status;
}

PyObject* get_dict(PyObject* self, void* context) {
  PyObject* dict = PyObject_GenericGetDict(self, context);
  if (dict && !PyObject_GC_IsTracked(self)) PyObject_GC_Track(self);
  return dict;
}

/// Whether it is a Size, which Tensor() takes for sizes; other sequences are data.
bool is_size(PyObject* object) {
  static PyTypeObject* const size_type = Py_TYPE(wrap_size({}));
  return Py_IS_TYPE(object, size_type);
}

/// What Tensor() was given by name: `size`, and `device`, which can be the CPU alone.
PyObject* size_keyword(PyObject* keywords) {
  if (!keywords) return nullptr;
  PyObject* const size = PyDict_GetItemString(keywords, "size");
  PyObject* const device = PyDict_GetItemString(keywords, "device");
  TENON_CHECK_TYPE(PyDict_GET_SIZE(keywords) == (size != nullptr) + (device != nullptr),
                   "Tensor() takes sizes or data; tenon.tensor() takes a dtype and more");
  if (device && device != Py_None) {
    const Device asked = device_of(device);
    TENON_CHECK_TYPE(asked.is_cpu(),
                     "legacy constructor expects device type: cpu but device type: ",
                     to_string(asked.type()), " was passed");
  }
  return size;
}

/// Tensor(): no elements; Tensor(2, 3), Tensor(Size([2, 3])), Tensor(size=(2, 3)): uninitialised
/// ones; Tensor(data): of the default dtype, over the same memory where that is a tensor.
PyObject* tensor_new(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&] {
    PyObject* const named = size_keyword(keywords);
    const Py_ssize_t given = PyTuple_GET_SIZE(args);
    TENON_CHECK_TYPE(!named || given == 0, "Tensor() takes sizes by place or by name, not both");
    PyObject* const first = given > 0 ? PyTuple_GET_ITEM(args, 0) : nullptr;
    const bool of_size = given == 1 && is_size(first);
    Tensor result;
    if (first && is_tensor(first)) {
      result = tensor_of(first).detach();
    } else if (first && !of_size && !is_integer(first)) {
      TENON_CHECK_TYPE(PySequence_Check(first) && !PyUnicode_Check(first),
                       "new(): data must be a sequence (got ", Py_TYPE(first)->tp_name, ")");
      result = make_tensor(first, get_default_dtype(), {});
    } else {
      const Object listed = Object::adopt(PySequence_Tuple(named ? named : of_size ? first : args));
      DimVector sizes;
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(listed.get()); ++i) {
        PyObject* const item = PyTuple_GET_ITEM(listed.get(), i);
        TENON_CHECK_TYPE(is_integer(item), "Tensor(): sizes must be ints, got ",
                         Py_TYPE(item)->tp_name);
        sizes.push_back(Arguments::read_integer(item));
      }
      if (!named && given == 0) sizes.push_back(0);
      result = Tensor(empty(sizes, get_default_dtype(), kCPU));
    }
    TENON_CHECK_TYPE(given <= 1 || is_integer(first), "Tensor() takes one argument with data, got ",
                     given);
    return type == tensor_type ? wrap(std::move(result)) : wrap_as(type, std::move(result));
  });
}

/// "tensor(...)", a subclass' by its own name.
PyObject* tensor_repr(PyObject* self) {
  return guarded([&] {
    if (has_override(self)) return call_override("__repr__", {self});
    const char* name = is_exact_tensor(self) ? "tensor" : Py_TYPE(self)->tp_name;
    return PyUnicode_FromString(to_string(tensor_of(self), name).c_str());
  });
}

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(TensorObject, dict), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(TensorObject, weak_references), READONLY, nullptr},
    {},
};
PyGetSetDef own_attributes[] = {
    {"__dict__", get_dict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) return Py_NewRef(Py_None);
  // Nobody else refers to a fresh result, so that it has no object, unless the tensor keeps it.
  if (tensor.use_count() > 1 || TENON_UNLIKELY(tensor.key_set().has(DispatchLayer::Python))) {
    if (PyObject* known = objects().find(tensor.unsafe_impl())) {
      if (TENON_LIKELY(!tensor.key_set().has(DispatchLayer::Python)) ||
          !kept_by_tensors().contains(known)) {
        Py_INCREF(known);
        if (TENON_UNLIKELY(result_of_python != nullptr)) keep_result(nullptr);
        return known;
      }
      take_back(known);
      return known;  // with the reference that the tensor had
    }
  }
  return make_object(tensor_type, std::move(tensor));
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  PyObject* const known = objects().find(tensor.unsafe_impl());
  TENON_CHECK(!known, "Creating a new Tensor subclass ", type->tp_name,
              " but the raw Tensor object is already associated to a python object of type ",
              Py_TYPE(known)->tp_name,
              PyType_IsSubtype(Py_TYPE(known), type)
                  ? ""
                  : " which is not a subclass of the requested type");
  return make_object(type, std::move(tensor));
}

PyObject* result_of_python = nullptr;

void keep_result(PyObject* object) { Py_XSETREF(result_of_python, Py_XNewRef(object)); }

bool release_object(TensorImpl* impl) noexcept {
  if (!Py_IsInitialized()) return false;
  const PyGILState_STATE locked = PyGILState_Ensure();
  PyObject* const object = objects().find(impl);
  const bool is_kept = object && kept_by_tensors().erase(object);
  if (is_kept) {
    // The object has the only reference again; the tensor goes if nobody else has the object.
    new (&impl->refs) RefCount;
    Py_DECREF(object);
  }
  PyGILState_Release(locked);
  return is_kept;
}

void add_tensor_type(PyObject* module) {
  static const char kDoc[] =
      "A multi-dimensional array of elements of one dtype. Its methods are the operators; "
      "made by tenon.tensor and the factory functions.";
  std::vector<PyType_Slot> slots = {
      {Py_tp_doc, const_cast<char*>(kDoc)},
      {Py_tp_new, reinterpret_cast<void*>(tensor_new)},
      {Py_tp_dealloc, reinterpret_cast<void*>(tensor_dealloc)},
      {Py_tp_traverse, reinterpret_cast<void*>(tensor_traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(tensor_clear)},
      {Py_tp_setattro, reinterpret_cast<void*>(tensor_setattr)},
      {Py_tp_repr, reinterpret_cast<void*>(tensor_repr)},
      {Py_tp_members, members},
      {Py_tp_getset, own_attributes},
  };
  add_operator_slots(slots);
  add_buffer_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec = {"tenon.Tensor", sizeof(TensorObject), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
  tensor_type = add_type(module, &spec);
}

}  // namespace tenon::python
