#include <memory>

#include "bindings/python/src/calls/operators.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/tensor_object.h"

/// Python's buffer protocol: memoryview(tensor), and all that reads and writes memory.
namespace tenon::python {
namespace {

/// What Py_buffer points to.
struct Exported {
  Tensor tensor;  ///< keeps the memory, and its size
  std::vector<Py_ssize_t> sizes, strides;
};

/// As of the module `struct`; null for what has none.
const char* format_of(ScalarType type) {
  switch (type) {
  case kBool: return "?";
  case kChar: return "b";
  case kByte: return "B";
  case kShort: return "h";
  case kUInt16: return "H";
  case kInt: return "i";
  case kUInt32: return "I";
  case kLong: return "l";
  case kUInt64: return "L";
  case kHalf: return "e";
  case kFloat: return "f";
  case kDouble: return "d";
  case kComplexFloat: return "Zf";
  case kComplexDouble: return "Zd";
  default: return nullptr;
  }
}

int refuse(const std::string& why) {
  PyErr_SetString(PyExc_BufferError, why.c_str());
  return -1;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(
      [&] {
        const Tensor& t = tensor_of(self);
        if (t.requires_grad()) {
          return refuse("a tensor that requires grad has no buffer: use tensor.detach()");
        }
        if (t.is_conj() || t.is_neg()) {
          return refuse(
              "a tensor with a conjugate or negative bit has no buffer: use tensor.resolve_conj() "
              "and resolve_neg()");
        }
        if (!t.is_cpu())
          return refuse("a tensor on " + detail::concat(t.device()) + " has no buffer");
        const char* const format = format_of(t.scalar_type());
        if (!format) return refuse(detail::concat("no buffer's format is ", t.scalar_type()));
        const auto asked = [&](int flag) { return (flags & flag) == flag; };
        auto exported = std::make_unique<Exported>();
        exported->tensor = t.detach();
        exported->sizes.assign(t.sizes().begin(), t.sizes().end());
        const auto item = static_cast<Py_ssize_t>(element_size(t.scalar_type()));
        for (const int64_t s : t.strides()) exported->strides.push_back(s * item);
        view->buf = t.data_ptr();
        view->len = t.numel() * item;
        view->itemsize = item;
        view->readonly = 0;
        view->format = const_cast<char*>(format);
        view->ndim = static_cast<int>(t.dim());
        view->shape = exported->sizes.data();
        view->strides = exported->strides.data();
        view->suboffsets = nullptr;
        const bool rows = PyBuffer_IsContiguous(view, 'C'),
                   columns = PyBuffer_IsContiguous(view, 'F');
        if (!asked(PyBUF_STRIDES) && !rows) return refuse("the tensor is not contiguous");
        if ((asked(PyBUF_C_CONTIGUOUS) && !rows) || (asked(PyBUF_F_CONTIGUOUS) && !columns) ||
            (asked(PyBUF_ANY_CONTIGUOUS) && !rows && !columns)) {
          return refuse("the tensor's elements are not in the order asked for");
        }
        if (!asked(PyBUF_FORMAT)) view->format = nullptr;
        if (!asked(PyBUF_ND)) view->shape = nullptr;
        if (!asked(PyBUF_STRIDES)) view->strides = nullptr;
        view->internal = exported.release();
        view->obj = Py_NewRef(self);
        return 0;
      },
      -1);
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<Exported*>(view->internal); }

}  // namespace

void add_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)});
}

}  // namespace tenon::python
