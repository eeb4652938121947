#include "runtime/serialization/serialize.h"

#include <memory>
#include <sstream>

#include "bindings/python/src/checkpoint_values.h"
#include "bindings/python/src/named_values.h"
#include "bindings/python/src/storages.h"
#include "runtime/serialization/io/os_error.h"
#include "runtime/serialization/values/scoped_value.h"

/// tenon.save and tenon.load.
namespace tenon::python {

using serialization::ScopedValue;

namespace {

/// Calls a function of Python's for a storage. Loading and saving run without the interpreter's
/// lock.
serialization::MapLocation::Function map_function(nb::handle function, const char* name) {
  return [kept = keep(function), name](const Storage& storage, const std::string& tag) {
    const nb::gil_scoped_acquire locked;
    const nb::object result = nb::handle(kept.get())(wrap_storage(storage), tag);
    if (result.is_none()) return Storage();
    TENON_CHECK_TYPE(nb::hasattr(result, "untyped"), "[load] ", name,
                     " must give a storage or None, got ", Py_TYPE(result.ptr())->tp_name);
    return storage_of(result.attr("untyped")());
  };
}

serialization::MapLocation map_location(nb::handle where) {
  if (where.is_none()) return {};
  if (PyDict_Check(where.ptr())) {
    serialization::MapLocation::Map map;
    for (const auto& [from, to] : nb::borrow<nb::dict>(where)) {
      map[nb::cast<std::string>(nb::str(from))] = nb::cast<std::string>(nb::str(to));
    }
    return map;
  }
  if (PyUnicode_Check(where.ptr())) return nb::cast<std::string>(where);
  if (is_device(where.ptr())) return device_of(where.ptr());
  TENON_CHECK_TYPE(PyCallable_Check(where.ptr()),
                   "[load] map_location must be a device, its name, a dict of names, a function or "
                   "None, not ",
                   Py_TYPE(where.ptr())->tp_name);
  return map_function(where, "map_location");
}

bool may_make(const std::string& name) {
  const nb::gil_scoped_acquire locked;
  return nb::cast<bool>(nb::module_::import_("tenon._saved_objects").attr("may_make")(name));
}

serialization::LoadOptions load_options(nb::handle where, std::optional<bool> mmap,
                                        bool weights_only, const std::string& encoding) {
  serialization::LoadOptions options;
  options.map_location = map_location(where);
  options.weights_only = weights_only;
  options.allow_global = &may_make;
  options.encoding = encoding;
  if (mmap.value_or(false)) options.mmap = serialization::LoadOptions::Mmap::Private;
  return options;
}

serialization::SaveOptions save_options(bool zip) {
  serialization::SaveOptions options;
  if (!zip) options.format = serialization::SaveOptions::Format::Legacy;
  return options;
}

std::string path_of(const nb::bytes& path) { return {path.c_str(), path.size()}; }

/// An object in a buffer, and where the checkpoint ended.
nb::tuple load_bytes(nb::handle data, const serialization::LoadOptions& options) {
  Py_buffer view;
  if (PyObject_GetBuffer(data.ptr(), &view, PyBUF_SIMPLE) < 0) throw nb::python_error();
  const std::unique_ptr<Py_buffer, void (*)(Py_buffer*)> released(&view, &PyBuffer_Release);
  size_t end = 0;
  const ScopedValue value(
      serialization::load(view.buf, static_cast<size_t>(view.len), options, &end));
  return nb::make_tuple(to_object(value.value), end);
}

/// Files that cannot be read are errors of Python's own class, FileNotFoundError for one.
[[noreturn]] void raise_python(const OSError& error) {
  const std::string_view what = error.what();
  const nb::object text = nb::steal(
      PyUnicode_DecodeUTF8(what.data(), static_cast<Py_ssize_t>(what.size()), "surrogateescape"));
  const nb::object args = nb::make_tuple(error.code(), text);
  PyErr_SetObject(PyExc_OSError, args.ptr());
  throw nb::python_error();
}

}  // namespace

void add_serialization(nb::module_& module) {
  module.def(
      "_save_file",
      [](nb::handle object, const nb::bytes& path, bool zip) {
        const ScopedValue value(to_value(object));
        const nb::gil_scoped_release unlocked;
        serialization::save(value.value, path_of(path), save_options(zip));
      },
      nb::arg("object").none(), nb::arg("path"), nb::arg("zip"));
  module.def(
      "_save_bytes",
      [](nb::handle object, bool zip) {
        const ScopedValue value(to_value(object));
        std::ostringstream out;
        serialization::save(value.value, out, save_options(zip));
        const std::string_view bytes = out.view();
        return nb::bytes(bytes.data(), bytes.size());
      },
      nb::arg("object").none(), nb::arg("zip"));
  module.def(
      "_load_file",
      [](const nb::bytes& path, nb::object where, std::optional<bool> mmap, bool weights_only,
         const std::string& encoding) {
        const auto options = load_options(where, mmap, weights_only, encoding);
        try {
          const ScopedValue value([&] {
            const nb::gil_scoped_release unlocked;
            return serialization::load(path_of(path), options);
          }());
          return to_object(value.value);
        } catch (const OSError& error) {
          raise_python(error);
        }
      },
      nb::arg("path"), nb::arg("map_location").none(), nb::arg("mmap").none(),
      nb::arg("weights_only"), nb::arg("encoding"));
  module.def(
      "_load_bytes",
      [](nb::handle data, nb::object where, bool weights_only, const std::string& encoding) {
        return load_bytes(data, load_options(where, std::nullopt, weights_only, encoding));
      },
      nb::arg("data"), nb::arg("map_location").none(), nb::arg("weights_only"),
      nb::arg("encoding"));
  module.def("_add_safe_globals", [](const std::vector<std::string>& names) {
    serialization::add_safe_globals({names.begin(), names.end()});
  });
  module.def("_clear_safe_globals", &serialization::clear_safe_globals);

  module.def("_register_package", [](int priority, nb::object tagger, nb::object deserializer) {
    serialization::register_package(
        priority,
        [kept = keep(tagger)](const Storage& storage) -> std::optional<std::string> {
          const nb::gil_scoped_acquire locked;
          const nb::object tag = nb::handle(kept.get())(wrap_storage(storage));
          if (tag.is_none()) return std::nullopt;
          return nb::cast<std::string>(tag);
        },
        [map = map_function(deserializer, "a deserializer")](
            const Storage& storage, const std::string& tag) -> std::optional<Storage> {
          const Storage restored = map(storage, tag);
          return restored ? std::optional(restored) : std::nullopt;
        });
  });
  module.def("_location_tag",
             [](nb::handle storage) { return serialization::location_tag(storage_of(storage)); });
  module.def("_restore_location", [](nb::handle storage, const std::string& tag) {
    return wrap_storage(serialization::restore_location(storage_of(storage), tag));
  });
}

}  // namespace tenon::python
