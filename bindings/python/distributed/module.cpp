#include <pthread.h>

#include "bindings/python/distributed/imports.h"
#include "runtime/distributed/interrupt.h"

/// tenon._distributed: what tenon.distributed is made of. A module of its own, so that programs
/// of one process load neither it nor Gloo.
namespace tenon::python {
namespace {

pthread_t main_thread;
PyObject* dist_error = nullptr;
PyObject* backend_error = nullptr;
PyObject* store_error = nullptr;
PyObject* network_error = nullptr;

/// Signals' handlers, that of Ctrl-C above all, run between the instructions of the main thread.
void check_signals() {
  if (!pthread_equal(pthread_self(), main_thread)) return;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() < 0) throw nb::python_error();
}

void add_errors(nb::module_& module) {
  const auto add = [&](const char* name, PyObject* base) {
    const std::string full = std::string("tenon.distributed.") + name;
    PyObject* const type = PyErr_NewException(full.c_str(), base, nullptr);
    check(PyModule_AddObjectRef(module.ptr(), name, type));
    return type;
  };
  dist_error = add("DistError", PyExc_RuntimeError);
  backend_error = add("DistBackendError", dist_error);
  store_error = add("DistStoreError", dist_error);
  network_error = add("DistNetworkError", dist_error);
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const distributed::DistBackendError& what) {
      PyErr_SetString(backend_error, what.what());
    } catch (const distributed::DistStoreError& what) {
      PyErr_SetString(store_error, what.what());
    } catch (const distributed::DistNetworkError& what) {
      PyErr_SetString(network_error, what.what());
    } catch (const distributed::DistError& what) {
      PyErr_SetString(dist_error, what.what());
    }
  });
}

}  // namespace
}  // namespace tenon::python

NB_MODULE(_distributed, module) {
  using namespace tenon::python;
  nanobind::set_leak_warnings(false);  // groups may live until the process ends
  import_tensors();
  main_thread = pthread_self();
  add_errors(module);
  add_stores(module);
  add_groups(module);
  add_data_parallel(module);
  tenon::distributed::detail::set_interrupt_check(&check_signals);
}
