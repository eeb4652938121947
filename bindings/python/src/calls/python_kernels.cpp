#include <memory>
#include <optional>

#include "aten/registration/library.h"
#include "bindings/python/src/calls/boxed_values.h"
#include "bindings/python/src/calls/results.h"
#include "codegen/schema/parser.h"

/// Operators and kernels that are functions of Python: tenon.library is written on these.
namespace tenon::python {
namespace {

using schema::FunctionSchema;

/// A Library that Python may end.
struct PythonLibrary {
  std::optional<Library> library;

  Library& get() {
    TENON_CHECK(library, "the library has been ended");
    return *library;
  }
};

void read_results(nb::handle result, const FunctionSchema& schema, Stack& stack) {
  const auto& returns = schema.returns;
  if (returns.empty()) {
    TENON_CHECK_TYPE(result.is_none(), "[", schema.name, "] the kernel returned ",
                     Py_TYPE(result.ptr())->tp_name, ", and the schema has no result");
    return;
  }
  const auto what = [&](size_t i) {
    return tenon::detail::concat("[", schema.name, "] result ", i, " of the kernel");
  };
  if (returns.size() == 1) {
    stack.push_back(read_value(result, returns[0].type, what(0)));
    return;
  }
  const bool sequence = PyTuple_Check(result.ptr()) || PyList_Check(result.ptr());
  const size_t size = sequence ? nb::len(result) : 1;
  TENON_CHECK_TYPE(sequence && size == returns.size(), "[", schema.name,
                   "] the kernel must return ", returns.size(), " results, got ",
                   sequence ? "" : Py_TYPE(result.ptr())->tp_name, sequence ? size : 1);
  for (size_t i = 0; i < size; ++i)
    stack.push_back(read_value(result[i], returns[i].type, what(i)));
}

/// A kernel that calls a function of Python. The operator is always the same; its schema is read at
/// the first call.
class PythonKernel {
 public:
  explicit PythonKernel(nb::handle function) : function_(keep(function)) {}

  void operator()(const OperatorEntry& op, Stack& stack) {
    const nb::gil_scoped_acquire locked;
    if (!schema_) {
      auto parsed = schema::parse_schema(op.info->schema);
      TENON_CHECK(parsed.ok(), "the schema of ", op.info->name, " cannot be read");
      schema_ = std::move(*parsed.schema);
    }
    const size_t first = stack.size() - schema_->args.size();
    nb::list positional;
    nb::dict named;
    for (size_t i = first; i < stack.size(); ++i) {
      const schema::Argument& argument = schema_->args[i - first];
      const nb::object value = nb::steal(wrap_value(stack[i], argument.type));
      if (argument.kwarg_only) {
        named[argument.name.c_str()] = value;
      } else {
        positional.append(value);
      }
    }
    const nb::object result = nb::handle(function_.get())(*positional, **named);
    stack.resize(first);
    read_results(result, *schema_, stack);
  }

 private:
  Kept function_;
  std::optional<FunctionSchema> schema_;  // guarded by Python's lock
};

BoxedKernel kernel_of(nb::handle function) {
  return [kernel = std::make_shared<PythonKernel>(function)](
             const OperatorEntry& op, DispatchKeySet, Stack& stack) { (*kernel)(op, stack); };
}

Library::Kind kind_of_library(const std::string& name) {
  if (name == "DEF") return Library::DEF;
  if (name == "FRAGMENT") return Library::FRAGMENT;
  TENON_CHECK_VALUE(name == "IMPL", "a library is of kind DEF, FRAGMENT or IMPL, got ", name);
  return Library::IMPL;
}

/// Calls within go to the layers below Autograd.
struct BelowAutogradScope {
  std::unique_ptr<BelowAutograd> guard;
};

}  // namespace

void add_python_kernels(nb::module_& module) {
  nb::class_<PythonLibrary>(module, "_Library")
      .def(nb::new_([](const std::string& ns, const std::string& kind) {
        return PythonLibrary{Library(ns, kind_of_library(kind))};
      }))
      .def("define", [](PythonLibrary& self, const std::string& schema) { self.get().def(schema); })
      .def("impl",
           [](PythonLibrary& self, const std::string& name, const std::string& key,
              nb::handle function) {
             self.get().impl(name, parse_dispatch_key(key), kernel_of(function));
           })
      .def("end", [](PythonLibrary& self) { self.library.reset(); });
  nb::class_<BelowAutogradScope>(module, "_BelowAutograd")
      .def(nb::init<>())
      .def("__enter__",
           [](BelowAutogradScope& self) { self.guard = std::make_unique<BelowAutograd>(); })
      .def(
          "__exit__", [](BelowAutogradScope& self, nb::args) { self.guard.reset(); },
          nb::arg("exception").none());
}

}  // namespace tenon::python
