#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "runtime/hub/hub.h"
#include "tenon/config.h"

/// tenon._hub: what tenon/hub.py is made of. A module of its own, as libcurl, which it loads, costs
/// a start milliseconds.
namespace nb = nanobind;
using namespace tenon::hub;

namespace {

TrustRepo trust_of(const std::string& name) {
  if (name == "yes") return TrustRepo::Yes;
  return name == "no" ? TrustRepo::No : TrustRepo::Check;
}

PyObject* hub_error = nullptr;
PyObject* transport_error = nullptr;
PyObject* http_error_type = nullptr;

PyObject* add_error(nb::module_& module, const char* name, PyObject* base) {
  const std::string qualified = std::string("tenon.hub.") + name;
  PyObject* const error = PyErr_NewException(qualified.c_str(), base, nullptr);
  if (!error) throw nb::python_error();
  module.attr(name) = nb::borrow(error);
  return error;
}

/// f() while other threads may run. Its errors are raised here: a translator of nanobind's would be
/// for the errors of all modules.
template <class F>
auto unlocked(F&& f) {
  const auto fail = [](PyObject* type, const std::exception& what) {
    PyErr_SetString(type, what.what());
    return nb::python_error();
  };
  try {
    const nb::gil_scoped_release released;
    return f();
  } catch (const HttpError& e) {
    throw fail(http_error_type, e);
  } catch (const TransportError& e) {
    throw fail(transport_error, e);
  } catch (const tenon::ValueError& e) {
    throw fail(PyExc_ValueError, e);
  } catch (const tenon::Error& e) {
    throw fail(hub_error, e);
  }
}

/// Raises KeyboardInterrupt, or what other signals' handlers raise, from within unlocked().
void check_signals() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Requests by a function of Python's, tenon/_https.py's get(), in place of libcurl.
class PythonTransport : public Transport {
 public:
  explicit PythonTransport(nb::object function) : function_(function.release().ptr()) {}

  void get(const Request& request, Receiver& receiver) override {
    if (request.url.rfind("file:", 0) == 0) return default_transport()->get(request, receiver);
    const nb::gil_scoped_acquire held;
    // No exception of C++ passes through Python's frames: the first one ends the transfer.
    std::exception_ptr thrown;
    const auto going_on = [&](auto&& f) {
      try {
        const nb::gil_scoped_release released;
        return f();
      } catch (...) {
        thrown = std::current_exception();
        return false;
      }
    };
    const auto head = [&](int status, const std::string& url, const std::vector<Header>& headers) {
      return going_on([&] { return receiver.head({status, url, headers}); });
    };
    const auto body = [&](const nb::bytes& data) {
      const char* const from = data.c_str();
      const size_t bytes = data.size();
      return going_on([&] {
        receiver.body(from, bytes);
        return true;
      });
    };
    const auto seconds = [](std::chrono::milliseconds time) { return time.count() / 1000.0; };
    const nb::object failure = nb::handle(function_)(
        request.url, request.headers, seconds(request.connect_timeout),
        seconds(request.stall_timeout), request.min_rate, request.max_redirects,
        nb::cpp_function(head), nb::cpp_function(body));
    if (thrown) std::rethrow_exception(thrown);
    if (failure.is_none()) return;
    const auto [message, transient] = nb::cast<std::pair<std::string, bool>>(failure);
    throw TransportError(message, transient);
  }

 private:
  PyObject* function_;  // kept for good: the interpreter may be gone when this is destroyed
};

/// Null: the library's own.
std::shared_ptr<Transport>& transport() {
  static std::shared_ptr<Transport> chosen;
  return chosen;
}

std::string repository(const std::string& name, const std::string& source, const std::string& trust,
                       bool force_reload, bool skip_validation, bool progress) {
  RepositoryOptions options;
  options.source = source;
  options.trust_repo = trust_of(trust);
  options.force_reload = force_reload;
  options.skip_validation = skip_validation;
  options.download.progress = progress;
  options.download.transport = transport();
  options.download.check_interrupt = check_signals;
  return unlocked([&] { return get_repository(name, options); });
}

}  // namespace

NB_MODULE(_hub, module) {
  nb::set_leak_warnings(false);
  hub_error = add_error(module, "HubError", PyExc_RuntimeError);
  transport_error = add_error(module, "TransportError", hub_error);
  http_error_type = add_error(module, "HttpError", hub_error);
  module.attr("has_curl") = TENON_HAS_CURL != 0;
  module.def(
      "set_transport",
      [](nb::object get) {
        transport() = get.is_none() ? nullptr : std::make_shared<PythonTransport>(std::move(get));
      },
      nb::arg("get").none());
  module.def("get_dir", [] { return unlocked([] { return get_dir(); }); });
  module.def("set_dir", [](const std::string& path) { unlocked([&] { set_dir(path); }); });
  module.def("get_repository", &repository, nb::arg("name"), nb::arg("source"), nb::arg("trust"),
             nb::arg("force_reload"), nb::arg("skip_validation"), nb::arg("progress"));
  module.def("download_url_to_file", [](const std::string& url, const std::string& path,
                                        const std::string& hash_prefix, bool progress) {
    DownloadOptions options;
    options.hash_prefix = hash_prefix;
    options.progress = progress;
    options.transport = transport();
    options.check_interrupt = check_signals;
    unlocked([&] { download_url_to_file(url, path, options); });
  });
  module.def("cached_file", [](const std::string& url, const std::string& model_dir,
                               const std::string& file_name, bool check_hash, bool progress) {
    CachedFileOptions options;
    options.model_dir = model_dir;
    options.file_name = file_name;
    options.check_hash = check_hash;
    options.progress = progress;
    options.transport = transport();
    options.check_interrupt = check_signals;
    return unlocked([&] { return cached_file(url, options); });
  });
}
