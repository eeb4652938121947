#pragma once

#include <source_location>

#include "aten/registration/kernel_function.h"
#include "aten/registration/typed_operator.h"

namespace tenon {

/// Operators and kernels that are registered while the program runs, and taken out again when this
/// object is destroyed; docs/registration.md.
///
///     static const Library library =
///         Library("toy")
///             .def("scale(Tensor self, float factor) -> Tensor")
///             .impl("scale", DispatchKey::CPU, TENON_FN(scale_cpu));
///     get_operator("toy::scale").typed<Tensor(const Tensor&, double)>().call(x, 2);
///
/// May be used from any thread. Every error names the operator and the place of the request, and
/// leaves what was registered before as it was.
class TENON_API Library {
 public:
  enum Kind {
    DEF,       ///< owns the namespace: there is one per namespace
    FRAGMENT,  ///< adds operators to a namespace
    IMPL,      ///< registers kernels only
  };

  /// ValueError if the namespace is no identifier, or if `kind` is DEF and it has an owner or
  /// operators.
  explicit Library(std::string ns, Kind kind = DEF,
                   std::source_location place = std::source_location::current());
  /// The same, with the key of every impl() that names none.
  Library(std::string ns, Kind kind, DispatchKey key,
          std::source_location place = std::source_location::current());
  /// The same, with a place that messages name as it is.
  Library(std::string ns, Kind kind, DispatchKey key, std::string place);
  ~Library();
  Library(Library&&) noexcept;
  Library& operator=(Library&&) noexcept;

  /// Defines an operator. ValueError for a schema that does not parse (with column and caret), is
  /// of another namespace, or whose name is taken.
  Library& def(std::string_view schema) &;
  /// The same with a CompositeImplicit kernel.
  template <class F>
  Library& def(std::string_view schema, const F& function) & {
    OperatorEntry& op = define(schema);
    try {
      add(op, DispatchKey::CompositeImplicit, detail::make_kernel(function, false));
    } catch (...) {
      undefine(op);
      throw;
    }
    return *this;
  }

  /// Registers a kernel for "name", "name.overload" or either with the library's namespace, also of
  /// an operator that another library defines or that was generated, whose own kernel comes back
  /// with the end of this object.
  ///   function   of the operator's C++ type, optionally with a DispatchKeySet first; Tensor or
  ///              const Tensor&, std::vector<T> or ArrayRef<T>, std::string or std::string_view; or
  ///              a boxed kernel: void(const OperatorEntry&, DispatchKeySet, Stack&)
  /// Errors: ValueError for an unknown operator or a key that has a kernel registered; TypeError
  /// for a function of another type, naming the argument and both types.
  template <class F>
  Library& impl(std::string_view name, DispatchKey key, const F& function) & {
    // Layers and composite kernels change tensors through operators, which count the change.
    const bool counts = key <= DispatchKey::CompositeExplicit;
    add(find(name), key, detail::make_kernel(function, counts));
    return *this;
  }
  template <class F>
  Library& impl(std::string_view name, DeviceType device, const F& function) & {
    return impl(name, dispatch_key_of(device), function);
  }
  template <class F>
  Library& impl(std::string_view name, const F& function) & {
    return impl(name, key_, function);
  }
  /// A kernel that has been made already.
  Library& impl(std::string_view name, Kernel kernel) & {
    add(find(name), key_, std::move(kernel));
    return *this;
  }

  /// What runs where an operator, of whatever library, has no kernel for the key: a backend,
  /// ForwardGrad, Autocast, Batched or Profiler. ValueError if the key has a fallback already.
  Library& fallback(DispatchKey key, BoxedKernel kernel) &;

  Library&& def(std::string_view schema) && { return std::move(def(schema)); }
  template <class F>
  Library&& def(std::string_view schema, const F& function) && {
    return std::move(def(schema, function));
  }
  template <class Key, class F>
  Library&& impl(std::string_view name, Key key, const F& function) && {
    return std::move(impl(name, key, function));
  }
  template <class F>
  Library&& impl(std::string_view name, const F& function) && {
    return std::move(impl(name, function));
  }
  Library&& fallback(DispatchKey key, BoxedKernel kernel) && {
    return std::move(fallback(key, std::move(kernel)));
  }

 private:
  OperatorEntry& define(std::string_view schema);
  void undefine(OperatorEntry& op);
  OperatorEntry& find(std::string_view name) const;
  void add(OperatorEntry& op, DispatchKey key, Kernel kernel);
  void clear() noexcept;

  std::string namespace_;
  Kind kind_ = IMPL;
  DispatchKey key_ = DispatchKey::CompositeImplicit;
  std::string place_;
  std::vector<OperatorEntry*> defined_;
  std::vector<std::pair<const OperatorEntry*, uint64_t>> kernels_;
  std::vector<DispatchKey> fallbacks_;
};

/// A library for the whole life of a program or shared library, at namespace scope:
///     TENON_LIBRARY(toy, m) { m.def("scale(Tensor self, float factor) -> Tensor"); }
/// An error in it ends the program, as exceptions of static initialisers do.
#define TENON_LIBRARY(ns, m) TENON_LIBRARY_AS(ns, m, ::tenon::Library(#ns))
#define TENON_LIBRARY_FRAGMENT(ns, m) \
  TENON_LIBRARY_AS(ns, m, ::tenon::Library(#ns, ::tenon::Library::FRAGMENT))
/// TENON_LIBRARY_IMPL(aten, PrivateUse1, m) { m.impl("mm", TENON_FN(mm_toy)); }
#define TENON_LIBRARY_IMPL(ns, key, m) \
  TENON_LIBRARY_AS(ns##_##key, m,      \
                   ::tenon::Library(#ns, ::tenon::Library::IMPL, ::tenon::DispatchKey::key))

#define TENON_LIBRARY_JOIN_(a, b) a##b
#define TENON_LIBRARY_JOIN(a, b) TENON_LIBRARY_JOIN_(a, b)
#define TENON_LIBRARY_AS(id, m, library) \
  TENON_LIBRARY_AS_(TENON_LIBRARY_JOIN(tenon_library_##id##_, __COUNTER__), m, library)
#define TENON_LIBRARY_AS_(id, m, library) TENON_LIBRARY_AS__(id, m, library)
#define TENON_LIBRARY_AS__(id, m, library)         \
  static void id##_fill(::tenon::Library&);        \
  static const ::tenon::Library id##_object = [] { \
    ::tenon::Library made = library;               \
    id##_fill(made);                               \
    return made;                                   \
  }();                                             \
  static void id##_fill([[maybe_unused]] ::tenon::Library& m)

}  // namespace tenon
