#include <thread>

#include "bindings/python/distributed/imports.h"
#include "runtime/distributed/interrupt.h"
#include "runtime/distributed/stores/file_store.h"
#include "runtime/distributed/stores/tcp_store.h"

namespace tenon::python {

using distributed::FileStore;
using distributed::HashStore;
using distributed::Milliseconds;
using distributed::PrefixStore;
using distributed::Store;
using distributed::TCPStore;

namespace {

using Unlocked = nb::gil_scoped_release;
using Keys = std::vector<std::string>;

/// The bytes of a value, given as bytes or as text.
std::string value_of(nb::handle value) {
  if (PyBytes_Check(value.ptr()))
    return {PyBytes_AS_STRING(value.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(value.ptr()))};
  TENON_CHECK_TYPE(PyUnicode_Check(value.ptr()), "[Store] expected a value of str or bytes, got ",
                   Py_TYPE(value.ptr())->tp_name);
  return nb::cast<std::string>(value);
}
std::vector<std::string> values_of(const std::vector<nb::object>& values) {
  std::vector<std::string> all;
  for (const nb::object& value : values) all.push_back(value_of(value));
  return all;
}
nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

/// Counts this process, and at the server waits until all are there.
void wait_for_workers(Store& store, int64_t world_size, bool is_server, Milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  int64_t count = store.add("init/", 1);
  while (is_server && count < world_size) {
    TENON_CHECK_AS(distributed::DistStoreError, std::chrono::steady_clock::now() < deadline,
                   "[TCPStore] timed out after ", timeout.count(),
                   " ms waiting for workers: ", count, " of ", world_size, " are there");
    distributed::detail::check_interrupt();
    std::this_thread::sleep_for(Milliseconds(5));
    count = store.add("init/", 0);
  }
}

void add_store(nb::module_& module) {
  nb::class_<Store>(module, "Store", "Keys and values that several processes share.")
      .def(
          "set",
          [](Store& store, const std::string& key, nb::handle value) {
            const std::string bytes = value_of(value);
            const Unlocked unlocked;
            store.set(key, bytes);
          },
          nb::arg("key"), nb::arg("value"))
      .def(
          "get",
          [](Store& store, const std::string& key) {
            std::string value;
            {
              const Unlocked unlocked;
              value = store.get(key);
            }
            return to_bytes(value);
          },
          nb::arg("key"))
      .def("add", &Store::add, nb::arg("key"), nb::arg("amount"), nb::call_guard<Unlocked>())
      .def(
          "compare_set",
          [](Store& store, const std::string& key, nb::handle expected, nb::handle desired) {
            const std::string before = value_of(expected), after = value_of(desired);
            std::string value;
            {
              const Unlocked unlocked;
              value = store.compare_set(key, before, after);
            }
            return to_bytes(value);
          },
          nb::arg("key"), nb::arg("expected_value"), nb::arg("desired_value"))
      .def(
          "wait",
          [](Store& store, const Keys& keys, std::optional<Milliseconds> timeout) {
            store.wait(keys, timeout.value_or(store.timeout()));
          },
          nb::arg("keys"), nb::arg("timeout") = nb::none(), nb::call_guard<Unlocked>())
      .def("check", &Store::check, nb::arg("keys"), nb::call_guard<Unlocked>())
      .def("delete_key", &Store::delete_key, nb::arg("key"), nb::call_guard<Unlocked>())
      .def("num_keys", &Store::num_keys, nb::call_guard<Unlocked>())
      .def(
          "append",
          [](Store& store, const std::string& key, nb::handle value) {
            const std::string bytes = value_of(value);
            const Unlocked unlocked;
            store.append(key, bytes);
          },
          nb::arg("key"), nb::arg("value"))
      .def(
          "multi_get",
          [](Store& store, const Keys& keys) {
            std::vector<std::string> values;
            {
              const Unlocked unlocked;
              values = store.multi_get(keys);
            }
            nb::list list;
            for (const std::string& value : values) list.append(to_bytes(value));
            return list;
          },
          nb::arg("keys"))
      .def(
          "multi_set",
          [](Store& store, const Keys& keys, const std::vector<nb::object>& values) {
            const std::vector<std::string> bytes = values_of(values);
            const Unlocked unlocked;
            store.multi_set(keys, bytes);
          },
          nb::arg("keys"), nb::arg("values"))
      .def("has_extended_api", [](const Store&) { return true; })
      .def("set_timeout", &Store::set_timeout, nb::arg("timeout"))
      .def_prop_ro("timeout", &Store::timeout);
}

}  // namespace

void add_stores(nb::module_& module) {
  add_store(module);
  nb::class_<TCPStore, Store>(module, "TCPStore", "A store that one process keeps; TCP.")
      .def(
          "__init__",
          [](TCPStore* place, const std::string& host, int port, std::optional<int> world_size,
             bool is_master, Milliseconds timeout, bool wait_for_workers_) {
            const Unlocked unlocked;
            new (place) TCPStore(host, {port, is_master, timeout});
            if (world_size.value_or(-1) <= 0 || !wait_for_workers_) return;
            try {
              wait_for_workers(*place, *world_size, is_master, timeout);
            } catch (...) {
              place->~TCPStore();
              throw;
            }
          },
          nb::arg("host_name"), nb::arg("port"), nb::arg("world_size") = nb::none(),
          nb::arg("is_master") = false, nb::arg("timeout") = Store::kDefaultTimeout,
          nb::arg("wait_for_workers") = true)
      .def_prop_ro("host", &TCPStore::host)
      .def_prop_ro("port", &TCPStore::port)
      .def("__repr__", [](const TCPStore& s) {
        return "TCPStore(" + s.host() + ":" + std::to_string(s.port()) + ")";
      });
  nb::class_<FileStore, Store>(module, "FileStore", "A store in a file.")
      .def(
          "__init__",
          [](FileStore* place, const std::string& path, int world_size) {
            new (place) FileStore(path, std::max(world_size, 0));
          },
          nb::arg("file_name"), nb::arg("world_size") = -1);
  nb::class_<HashStore, Store>(module, "HashStore", "A store of the threads of one process.")
      .def(nb::init<>());
  nb::class_<PrefixStore, Store>(module, "PrefixStore", "Another store's part below a prefix.")
      .def(nb::init<std::string, std::shared_ptr<Store>>(), nb::arg("prefix"), nb::arg("store"));
}

}  // namespace tenon::python
