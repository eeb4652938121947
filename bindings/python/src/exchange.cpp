#include <nanobind/ndarray.h>

#include "bindings/python/src/calls/dispatch.h"
#include "bindings/python/src/named_values.h"
#include "tenon/ops/alias.h"

/// DLPack and numpy: tensors over the memory of other libraries, and the other way round.
namespace tenon::python {
namespace {

namespace dlpack = nb::dlpack;

std::optional<ScalarType> scalar_type_of_dlpack(dlpack::dtype type) {
  if (type.lanes != 1) return std::nullopt;
  const auto code = static_cast<dlpack::dtype_code>(type.code);
  const int bits = type.bits;
  switch (code) {
  case dlpack::dtype_code::Bool: return kBool;
  case dlpack::dtype_code::Int:
    return bits == 8 ? kChar : bits == 16 ? kShort : bits == 32 ? kInt : kLong;
  case dlpack::dtype_code::UInt:
    return bits == 8 ? kByte : bits == 16 ? kUInt16 : bits == 32 ? kUInt32 : kUInt64;
  case dlpack::dtype_code::Float:
    if (bits == 16) return kHalf;
    if (bits == 32) return kFloat;
    if (bits == 64) return kDouble;
    return std::nullopt;
  case dlpack::dtype_code::Bfloat: return kBFloat16;
  case dlpack::dtype_code::Complex:
    if (bits == 32) return kComplexHalf;
    if (bits == 64) return kComplexFloat;
    if (bits == 128) return kComplexDouble;
    return std::nullopt;
  default: return std::nullopt;
  }
}

dlpack::dtype dlpack_type(ScalarType type) {
  dlpack::dtype result;
  result.lanes = 1;
  result.bits = static_cast<uint8_t>(8 * element_size(type));
  const auto code = [&] {
    if (type == kBool) return dlpack::dtype_code::Bool;
    if (type == kBFloat16) return dlpack::dtype_code::Bfloat;
    if (is_complex(type)) return dlpack::dtype_code::Complex;
    TENON_CHECK_TYPE(!is_float8(type), "DLPack has no dtype ", python_name(type));
    if (is_floating_point(type)) return dlpack::dtype_code::Float;
    return type == kByte || is_wide_unsigned(type) ? dlpack::dtype_code::UInt
                                                   : dlpack::dtype_code::Int;
  }();
  result.code = static_cast<uint8_t>(code);
  return result;
}

constexpr int kDlpackCpu = 1, kDlpackCuda = 2;

/// The tensor's memory for another library, which keeps the tensor alive.
template <class Framework>
nb::ndarray<Framework> to_array(const Tensor& t) {
  TENON_CHECK(t.is_cpu() || t.is_cuda(), "a tensor on ", t.device(), " has no memory to share");
  TENON_CHECK(!t.is_conj() && !t.is_neg(),
              "a tensor with a conjugate or negative bit has no memory to share: use "
              "tensor.resolve_conj() and resolve_neg()");
  auto* held = new Tensor(t.detach());
  const nb::capsule owner(held, [](void* p) noexcept { delete static_cast<Tensor*>(p); });
  std::vector<size_t> sizes(t.sizes().begin(), t.sizes().end());
  const int device = t.is_cpu() ? kDlpackCpu : kDlpackCuda;
  const int index = t.is_cpu() ? 0 : std::max<int>(t.device().index(), 0);
  return nb::ndarray<Framework>(t.data_ptr(), sizes.size(), sizes.data(), owner, t.strides().data(),
                                dlpack_type(t.scalar_type()), device, index);
}

Tensor from_array(const nb::ndarray<>& array) {
  const auto type = scalar_type_of_dlpack(array.dtype());
  TENON_CHECK_TYPE(type, "from_dlpack(): there is no dtype for elements of DLPack's code ",
                   static_cast<int>(array.dtype().code), " with ",
                   static_cast<int>(array.dtype().bits), " bits");
  TENON_CHECK(array.device_type() == kDlpackCpu || array.device_type() == kDlpackCuda,
              "from_dlpack(): memory on DLPack's device ", array.device_type(),
              " is not supported");
  const Device device = array.device_type() == kDlpackCpu
                            ? Device(kCPU)
                            : Device(kCUDA, static_cast<DeviceIndex>(array.device_id()));
  DimVector sizes, strides;
  int64_t last = 0, count = 1;
  for (size_t i = 0; i < array.ndim(); ++i) {
    sizes.push_back(static_cast<int64_t>(array.shape(i)));
    strides.push_back(array.stride(i));
    TENON_CHECK_VALUE(strides.back() >= 0, "from_dlpack(): negative strides are not supported");
    last += (sizes.back() - 1) * strides.back();
    count *= sizes.back();
  }
  const size_t bytes = count == 0 ? 0 : static_cast<size_t>(last + 1) * element_size(*type);
  IntrusivePtr<TensorImpl> impl =
      IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(*type, device));
  auto* held = new nb::ndarray<>(array);
  impl->storage = IntrusivePtr<StorageImpl>::adopt(StorageImpl::create(
      array.data(), bytes, device,
      [](void* context, void*, size_t) noexcept {
        if (!Py_IsInitialized()) return;
        const nb::gil_scoped_acquire locked;
        delete static_cast<nb::ndarray<>*>(context);
      },
      held));
  impl->set_sizes_and_strides(sizes, strides);
  impl->refresh_data();
  return Tensor(std::move(impl));
}

PyTypeObject* subclass_of(nb::handle type, const char* function) {
  TENON_CHECK_TYPE(PyType_Check(type.ptr()) &&
                       PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()), tensor_type),
                   "cls must be a type (got ", Py_TYPE(type.ptr())->tp_name, "): ", function,
                   "() expects a subclass of Tensor");
  return reinterpret_cast<PyTypeObject*>(type.ptr());
}

/// A tensor of this geometry whose storage has no memory. Its class computes all that is asked.
Tensor without_memory(IntArrayRef sizes, const std::optional<std::vector<int64_t>>& strides,
                      int64_t offset, ScalarType dtype, Device device, int64_t bytes) {
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, device));
  numel_of(sizes);  // an error for sizes that are none
  if (strides) {
    TENON_CHECK_VALUE(strides->size() == sizes.size(), "[_make_wrapper_subclass] expected ",
                      sizes.size(), " strides, got ", strides->size());
    impl->set_sizes_and_strides(sizes, *strides);
  } else {
    impl->set_sizes_contiguous(sizes);
  }
  impl->has_memory = false;
  impl->storage_offset = offset;
  if (bytes < 0) {
    bytes = (impl->numel + offset) * static_cast<int64_t>(element_size(dtype));
  }
  impl->storage = IntrusivePtr<StorageImpl>::adopt(StorageImpl::create(
      nullptr, static_cast<size_t>(bytes), device, [](void*, void*, size_t) noexcept {}, nullptr));
  return Tensor(std::move(impl));
}

}  // namespace

void add_exchange(nb::module_& module) {
  module.def("_to_dlpack", [](const Tensor& t) { return to_array<nb::no_framework>(t); });
  module.def("_to_numpy", [](const Tensor& t) {
    TENON_CHECK(!t.key_set().has(DispatchLayer::Python),
                ".numpy() is not supported for tensor subclasses.");
    TENON_CHECK_TYPE(t.scalar_type() != kBFloat16 && t.scalar_type() != kComplexHalf &&
                         !is_float8(t.scalar_type()),
                     "Got unsupported ScalarType ", t.scalar_type());
    TENON_CHECK_TYPE(t.is_cpu(), "can't convert ", t.device(),
                     " device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
                     "memory first.");
    return to_array<nb::numpy>(t);
  });
  module.def("_from_dlpack", [](const nb::ndarray<>& array) { return from_array(array); });
  module.def("_make_subclass", [](nb::handle type, const Tensor& t, bool requires_grad) {
    PyTypeObject* const subclass = subclass_of(type, "_make_subclass");
    const ExcludeLayers exclude(DispatchLayer::PythonMode);
    Tensor own = t.detach();
    if (requires_grad) own.set_requires_grad(true);
    return nb::steal(wrap_as(subclass, std::move(own)));
  });
  module.def("_as_subclass", [](nb::handle type, const Tensor& t) {
    return nb::steal(wrap_as(subclass_of(type, "as_subclass"), ops::alias::call(t)));
  });
  module.def(
      "_make_wrapper_subclass",
      [](nb::handle type, const std::vector<int64_t>& sizes,
         const std::optional<std::vector<int64_t>>& strides, int64_t offset, nb::handle dtype,
         nb::handle device, int64_t bytes, bool requires_grad) {
        PyTypeObject* const subclass = subclass_of(type, "_make_wrapper_subclass");
        TENON_CHECK_TYPE(has_dispatch(subclass), subclass->tp_name,
                         " must define __torch_dispatch__");
        Tensor wrapper = without_memory(sizes, strides, offset, dtype_of(dtype.ptr()),
                                        device_of(device.ptr()), bytes);
        if (requires_grad) wrapper.set_requires_grad(true);
        return nb::steal(wrap_as(subclass, std::move(wrapper)));
      },
      nb::arg("cls"), nb::arg("size"), nb::arg("strides").none(), nb::arg("storage_offset"),
      nb::arg("dtype"), nb::arg("device"), nb::arg("bytes"), nb::arg("requires_grad"));
}

}  // namespace tenon::python
