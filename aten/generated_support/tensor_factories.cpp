#include "aten/generated_support/tensor_factories.h"

namespace tenon {

TensorData::TensorData(std::initializer_list<TensorData> items) : dtype_(get_default_dtype()) {
  sizes_.push_back(static_cast<int64_t>(items.size()));
  if (items.size() == 0) return;
  const TensorData& first = *items.begin();
  dtype_ = first.dtype_;
  sizes_.append(first.sizes_.begin(), first.sizes_.end());
  for (const TensorData& item : items) {
    TENON_CHECK_VALUE(item.sizes_ == first.sizes_, "[tensor] expected all sub-lists to have sizes ",
                      first.sizes_, ", got ", item.sizes_);
    TENON_CHECK_TYPE(item.dtype_ == first.dtype_, "[tensor] expected all elements to be of type ",
                     first.dtype_, ", got ", item.dtype_);
    bytes_.insert(bytes_.end(), item.bytes_.begin(), item.bytes_.end());
  }
}

namespace {

/// Complex numbers become no real ones.
void check_real_wanted(ScalarType stored, ScalarType wanted) {
  TENON_CHECK_TYPE(!is_complex(stored) || is_complex(wanted), "value cannot be converted to type ",
                   wanted == kFloat ? "float" : to_string(wanted), " without overflow");
}

}  // namespace

Tensor detail::tensor_of(const void* data, ScalarType stored, IntArrayRef sizes, ScalarType natural,
                         const TensorOptions& options) {
  Tensor made = tenon::empty(sizes, stored, kCPU);
  if (made.nbytes() > 0) std::memcpy(made.data_ptr(), data, made.nbytes());
  const ScalarType wanted = options.dtype_opt().value_or(natural);
  if (sizes.empty()) check_real_wanted(stored, wanted);
  TENON_CHECK_TYPE(
      !is_complex(stored) || is_complex(wanted) || made.numel() == 0,
      "can not do torch::tensor(complex, dtype=non-complex) because complex can not be "
      "casted to real number without loss of information");
  Tensor result = wanted == stored && options.device().is_cpu()
                      ? made
                      : ops::to_device::call(made, options.device(), wanted, /*non_blocking=*/false,
                                             /*copy=*/false, std::nullopt);
  return options.requires_grad() ? result.requires_grad_(true) : result;
}

Tensor tensor(std::initializer_list<TensorData> values, const TensorOptions& options) {
  const TensorData data(values);
  check_real_wanted(data.dtype(), options.dtype_opt().value_or(data.dtype()));
  const ScalarType natural = data.dtype() == kDouble          ? get_default_dtype()
                             : data.dtype() == kComplexDouble ? to_complex(get_default_dtype())
                                                              : data.dtype();
  return detail::tensor_of(data.bytes(), data.dtype(), data.sizes(), natural, options);
}

Tensor from_blob(void* data, IntArrayRef sizes, IntArrayRef strides,
                 std::function<void(void*)> deleter, const TensorOptions& options) {
  const ScalarType dtype = options.dtype();
  const DimVector steps = strides.empty() ? contiguous_strides(sizes) : DimVector(strides);
  TENON_CHECK_VALUE(steps.size() == sizes.size(), "[from_blob] sizes ", sizes, " and strides ",
                    strides, " differ in length");
  int64_t extent = numel_of(sizes) == 0 ? 0 : 1;
  for (size_t i = 0; extent > 0 && i < sizes.size(); ++i) {
    TENON_CHECK_VALUE(steps[i] >= 0, "[from_blob] strides must not be negative, got ", steps);
    extent += (sizes[i] - 1) * steps[i];
  }
  struct Owner {
    std::function<void(void*)> deleter;
  };
  auto* storage = StorageImpl::create(
      data, static_cast<size_t>(extent) * element_size(dtype), options.device(),
      [](void* context, void* memory, size_t) noexcept {
        auto* owner = static_cast<Owner*>(context);
        if (owner->deleter) owner->deleter(memory);
        delete owner;
      },
      new Owner{std::move(deleter)});
  auto impl = IntrusivePtr<TensorImpl>::adopt(TensorImpl::create(dtype, options.device()));
  impl->storage = IntrusivePtr<StorageImpl>::adopt(storage);
  impl->data = data;
  impl->set_sizes_and_strides(sizes, steps);
  Tensor result{TensorBase(std::move(impl))};
  return options.requires_grad() ? result.requires_grad_(true) : result;
}

}  // namespace tenon
