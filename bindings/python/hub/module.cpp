#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "runtime/hub/hub.h"

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

std::string repository(const std::string& name, const std::string& source, const std::string& trust,
                       bool force_reload, bool skip_validation, bool progress) {
  RepositoryOptions options;
  options.source = source;
  options.trust_repo = trust_of(trust);
  options.force_reload = force_reload;
  options.skip_validation = skip_validation;
  options.download.progress = progress;
  return unlocked([&] { return get_repository(name, options); });
}

}  // namespace

NB_MODULE(_hub, module) {
  nb::set_leak_warnings(false);
  hub_error = add_error(module, "HubError", PyExc_RuntimeError);
  transport_error = add_error(module, "TransportError", hub_error);
  http_error_type = add_error(module, "HttpError", hub_error);
  module.def("get_dir", [] { return unlocked([] { return get_dir(); }); });
  module.def("set_dir", [](const std::string& path) { unlocked([&] { set_dir(path); }); });
  module.def("get_repository", &repository, nb::arg("name"), nb::arg("source"), nb::arg("trust"),
             nb::arg("force_reload"), nb::arg("skip_validation"), nb::arg("progress"));
  module.def("download_url_to_file", [](const std::string& url, const std::string& path,
                                        const std::string& hash_prefix, bool progress) {
    DownloadOptions options;
    options.hash_prefix = hash_prefix;
    options.progress = progress;
    unlocked([&] { download_url_to_file(url, path, options); });
  });
  module.def("cached_file", [](const std::string& url, const std::string& model_dir,
                               const std::string& file_name, bool check_hash, bool progress) {
    CachedFileOptions options;
    options.model_dir = model_dir;
    options.file_name = file_name;
    options.check_hash = check_hash;
    options.progress = progress;
    return unlocked([&] { return cached_file(url, options); });
  });
}
