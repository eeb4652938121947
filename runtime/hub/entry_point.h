#pragma once

#include <any>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "aten/dispatch/value.h"
#include "runtime/hub/repository.h"

namespace tenon::hub {

/// A name and a bool, number, string or other Value.
struct Argument {
  template <class T>
  requires std::constructible_from<Value, T> Argument(std::string name, T&& value)
      : name(std::move(name)), value(std::forward<T>(value)) {}

  Argument(std::string name, std::string_view text) : name(std::move(name)), value(text) {}

  std::string name;
  Value value;
};

/// Named arguments of an entry point: `{{"num_classes", 10}, {"pretrained", true}}`.
class TENON_API Arguments {
 public:
  Arguments() = default;
  Arguments(std::initializer_list<Argument> arguments) {
    for (const Argument& argument : arguments) values_.emplace(argument.name, argument.value);
  }

  bool contains(const std::string& name) const;
  /// The argument as a bool, an integer, a floating-point number, a std::string or a Value. Error
  /// if it is absent; TypeError if it is of another type.
  template <class T>
  T get(const std::string& name) const {
    return convert<T>(name, require(name));
  }
  template <class T>
  T get(const std::string& name, T otherwise) const {
    return contains(name) ? convert<T>(name, require(name)) : otherwise;
  }

  /// Error if there is an argument that nobody asked for.
  void check_all_used(const std::string& entry_point) const;

 private:
  const Value& require(const std::string& name) const;
  [[noreturn]] static void fail(const std::string& name, const std::string& reason);

  template <class T>
  static T convert(const std::string& name, const Value& value) try {
    if constexpr (std::same_as<T, bool>) {
      return value.to_bool();
    } else if constexpr (std::integral<T>) {
      const int64_t number = value.to_int();
      if (!std::in_range<T>(number)) fail(name, std::to_string(number) + " is out of range");
      return static_cast<T>(number);
    } else if constexpr (std::floating_point<T>) {
      return static_cast<T>(value.to_double());
    } else if constexpr (std::same_as<T, std::string>) {
      return value.to_str();
    } else {
      static_assert(std::same_as<T, Value>, "no argument has this type");
      return value;
    }
  } catch (const TypeError& error) {
    fail(name, error.what());
  }

  std::map<std::string, Value> values_;
  mutable std::set<std::string> asked_for_;
};

/// What an entry point is called with.
struct Call {
  const std::string& dir;  ///< the repository's folder, with weights, vocabularies and the like
  const Arguments& arguments;
};

/// A function of a repository that makes a model or another object. Its code is a part of the
/// program: what is downloaded is data.
struct EntryPoint {
  std::string repository;  ///< "owner/name"
  std::string name;
  std::string help;
  std::function<std::any(const Call&)> factory;
  /// What the library must have been built with: "cuda", "curl", "onednn", "openmp", "zlib".
  std::vector<std::string> dependencies{};
};

/// Error for a malformed entry point and for a second one of the same repository and name.
TENON_API void register_entry_point(EntryPoint entry_point);

struct LoadOptions : RepositoryOptions {
  /// With the source "local", whose entry points are meant: "owner/name". Empty: those of the one
  /// repository that the program has entry points of.
  std::string repository{};
};

/// The names of a repository's entry points, sorted. They are those of the program, so nothing is
/// downloaded. Error if it has none of that repository.
TENON_API std::vector<std::string> list(const std::string& repository,
                                        const LoadOptions& options = {});

/// What the entry point says about itself. Error `Cannot find callable x in hubconf`.
TENON_API std::string help(const std::string& repository, const std::string& entry_point,
                           const LoadOptions& options = {});

/// Gets the repository (see get_repository) and calls the entry point. Error `Cannot find callable
/// x in hubconf`, `Missing dependencies: x`, and for an argument that the entry point does not
/// take.
TENON_API std::any load_any(const std::string& repository, const std::string& entry_point,
                            const Arguments& arguments = {}, const LoadOptions& options = {});

namespace detail {
[[noreturn]] TENON_API void wrong_type(const std::string& entry_point,
                                       const std::type_info& expected, const std::type_info& got);
}

/// The same, where T is the type that the entry point returns; TypeError if it is another.
template <class T>
T load(const std::string& repository, const std::string& entry_point,
       const Arguments& arguments = {}, const LoadOptions& options = {}) {
  std::any made = load_any(repository, entry_point, arguments, options);
  if (T* object = std::any_cast<T>(&made)) return std::move(*object);
  detail::wrong_type(entry_point, typeid(T), made.type());
}

}  // namespace tenon::hub
