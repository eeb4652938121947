#include "bindings/python/src/storages.h"

#include <cstring>

#include "bindings/python/src/named_values.h"
#include "runtime/serialization/pickle/storage_view.h"

namespace tenon::python {

using serialization::make_storage;
using serialization::tensor_over;
using serialization::view_storage;

namespace {

Tensor bytes_of(const Storage& storage) {
  return Tensor(view_storage(with_memory(storage), kByte));
}

/// The storage's own if it is there already.
Storage moved_to(const Storage& storage, Device device) {
  if (storage.device() == device) return storage;
  if (storage.nbytes() == 0 || device.is_meta()) return make_storage(storage.nbytes(), device);
  return bytes_of(storage).to(device).storage();
}

Device device_from(nb::handle object) {
  TENON_CHECK_TYPE(is_device(object.ptr()), "expected a device, got ",
                   Py_TYPE(object.ptr())->tp_name);
  return device_of(object.ptr());
}

Storage cloned(const Storage& storage) {
  if (storage.nbytes() == 0 || storage.device().is_meta())
    return make_storage(storage.nbytes(), storage.device());
  return bytes_of(storage).clone().storage();
}

int64_t position(const Storage& storage, int64_t index) {
  const auto size = static_cast<int64_t>(storage.nbytes());
  TENON_CHECK_INDEX(index >= -size && index < size, "index ", index,
                    " out of range for storage of size ", size);
  return index < 0 ? index + size : index;
}

std::vector<int64_t> elements_of(const Storage& storage) {
  const Tensor on_cpu = bytes_of(storage).cpu();
  const auto* data = static_cast<const uint8_t*>(on_cpu.const_data_ptr());
  return {data, data + storage.nbytes()};
}

std::string shown_text(const Storage& storage) {
  return tenon::detail::concat("tenon.UntypedStorage(device=", storage.device(), ") of size ",
                               storage.nbytes());
}

/// Of a device's storage a copy in CPU memory.
nb::bytes to_bytes(const Storage& storage) {
  if (storage.nbytes() == 0) return nb::bytes("", 0);
  const Tensor on_cpu = bytes_of(storage).cpu();
  return nb::bytes(on_cpu.const_data_ptr(), storage.nbytes());
}

Storage from_bytes(const nb::bytes& data, nb::handle device) {
  const Storage storage = make_storage(data.size(), kCPU);
  if (data.size() > 0) std::memcpy(storage.data(), data.data(), data.size());
  return moved_to(storage, device_from(device));
}

}  // namespace

nb::object wrap_storage(const Storage& storage) {
  // Never destroyed: storages may outlive the static ones.
  static nb::object& objects =
      *new nb::object(nb::module_::import_("weakref").attr("WeakValueDictionary")());
  const auto key = nb::int_(reinterpret_cast<uintptr_t>(storage.get()));
  nb::object known = objects.attr("get")(key);
  if (!known.is_none()) return known;
  nb::object made = nb::cast(storage);
  objects[key] = made;
  return made;
}

bool is_storage(nb::handle object) { return nb::isinstance<Storage>(object); }
const Storage& with_memory(const Storage& storage) {
  TENON_CHECK(storage.data() || storage.nbytes() == 0 || storage.device().is_meta(),
              "Attempted to access the data pointer on an invalid python storage.");
  return storage;
}

Storage storage_of(nb::handle object) { return nb::cast<Storage>(object); }

void add_storages(nb::module_& module) {
  nb::class_<Storage>(module, "UntypedStorage", nb::is_weak_referenceable(),
                      "The bytes that tensors are views of: tensor.untyped_storage().")
      .def(nb::new_([](size_t size, nb::object device) {
             return wrap_storage(make_storage(size, device_from(device)));
           }),
           nb::arg("size") = 0, nb::kw_only(), nb::arg("device") = "cpu")
      .def("nbytes", [](const Storage& s) { return s.nbytes(); })
      .def("size", [](const Storage& s) { return s.nbytes(); })
      .def("__len__", [](const Storage& s) { return s.nbytes(); })
      .def("element_size", [](const Storage&) { return 1; })
      .def("data_ptr",
           [](const Storage& s) { return reinterpret_cast<uintptr_t>(with_memory(s).data()); })
      .def("untyped", [](nb::object self) { return self; })
      .def("tolist", &elements_of)
      .def("__getitem__",
           [](const Storage& s, int64_t i) {
             return bytes_of(s).select(0, position(s, i)).item().to<int64_t>();
           })
      .def("__setitem__",
           [](const Storage& s, int64_t i, uint8_t value) {
             bytes_of(s).select(0, position(s, i)).fill_(int64_t{value});
           })
      .def("clone", [](const Storage& s) { return wrap_storage(cloned(s)); })
      .def("__copy__", [](const Storage& s) { return wrap_storage(cloned(s)); })
      .def("__deepcopy__", [](const Storage& s, nb::handle) { return wrap_storage(cloned(s)); })
      .def("cpu", [](const Storage& s) { return wrap_storage(moved_to(s, kCPU)); })
      .def(
          "cuda",
          [](const Storage& s, nb::object device) {
            return wrap_storage(
                moved_to(s, device.is_none() ? Device(kCUDA) : device_from(device)));
          },
          nb::arg("device") = nb::none(), "The storage on a GPU.")
      .def(
          "to",
          [](const Storage& s, nb::object device) {
            return wrap_storage(moved_to(s, device_from(device)));
          },
          nb::kw_only(), nb::arg("device"))
      .def("copy_",
           [](nb::object self, const Storage& from) {
             const Storage to = storage_of(self);
             TENON_CHECK(to.nbytes() == from.nbytes(), "[copy_] storages of one size, got ",
                         to.nbytes(), " and ", from.nbytes(), " bytes");
             bytes_of(to).copy_(bytes_of(from));
             return self;
           })
      .def("fill_",
           [](nb::object self, uint8_t value) {
             bytes_of(storage_of(self)).fill_(int64_t{value});
             return self;
           })
      .def("__eq__", [](const Storage& a,
                        nb::handle b) { return is_storage(b) && a.is_alias_of(storage_of(b)); })
      .def("__hash__", [](const Storage& s) { return std::hash<const void*>()(s.get()); })
      .def("__repr__", &shown_text)
      .def("__reduce__",
           [](const Storage& s) {
             return nb::make_tuple(nb::module_::import_("tenon._tensor").attr("_rebuild_storage"),
                                   nb::make_tuple(to_bytes(s), s.device().str()));
           })
      .def_prop_ro("device", [](const Storage& s) { return nb::steal(wrap(s.device())); })
      .def_prop_ro("is_cuda", [](const Storage& s) { return s.device().is_cuda(); })
      .def_prop_ro("is_cpu", [](const Storage& s) { return s.device().is_cpu(); })
      .def_prop_ro("_cdata", [](const Storage& s) { return reinterpret_cast<uintptr_t>(s.get()); });
  module.def("_storage_from_bytes", [](const nb::bytes& data, nb::handle device) {
    return wrap_storage(from_bytes(data, device));
  });
  module.def("_storage", [](const Tensor& t) {
    const bool is_wrapper = t.key_set().has(DispatchLayer::Python) && t.has_storage();
    if (!is_wrapper) t.data_ptr();  // an error for a batched tensor
    TENON_CHECK(t.has_storage(), "a tensor on ", t.device(), " has no storage");
    return wrap_storage(t.storage());
  });
  module.def("_tensor_over",
             [](nb::handle storage, nb::handle dtype, int64_t offset,
                const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides) {
               TENON_CHECK_TYPE(is_storage(storage) && is_dtype(dtype.ptr()),
                                "expected a storage and a dtype");
               return Tensor(tensor_over(with_memory(storage_of(storage)), dtype_of(dtype.ptr()),
                                         offset, sizes, strides));
             });
}

}  // namespace tenon::python
