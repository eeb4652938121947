#pragma once

#include <string>
#include <vector>

#include "aten/core/macros.h"

namespace tenon {

/// Whose the name of an operator is that another library has made known already.
enum class SameName : unsigned char {
  Keep,     ///< the other library's, with a warning
  Replace,  ///< this library's from now on, as of a text that was edited and built again
};

/// Loads a shared library of operators, for good, and gives the names of its operators and aliases,
/// "mine::swiglu", in alphabetical order. With SameName::Replace all overloads of these names are
/// the library's, though it was loaded before; typed handles and graphs keep the operators that
/// they were made with. Errors: "the library of operators cannot be loaded: ..."; a library that
/// was built against another version of Tenon, or of the stable interface, before any of it runs.
TENON_API std::vector<std::string> load_library(const std::string& path,
                                                SameName same_name = SameName::Keep);

namespace detail {

/// What hands the interface to a library that was built for it and exports `tenon_stable_library`
/// (aten/stable/interface.h); set by aten/stable.
TENON_API void set_starter_of_stable_libraries(void (*start)(const void* library,
                                                             const std::string& path));

/// The loaded library, or the program, that an address is in; the same for all of its addresses.
const void* library_of(const void* address);
/// Keeps that library loaded until the program ends: graphs, handles and tensors refer to the code
/// of its operators.
void keep_loaded(const void* address);

}  // namespace detail
}  // namespace tenon
