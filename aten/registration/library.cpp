#include "aten/registration/library.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "codegen/schema/parser.h"

namespace tenon {
namespace {

std::string text_of(const std::source_location& place) {
  return detail::concat(place.file_name(), ":", place.line());
}

/// "scale.out" as it is looked up: with the library's namespace.
std::string qualified(std::string_view name, const std::string& ns) {
  return name.find("::") == std::string_view::npos ? detail::concat(ns, "::", name)
                                                   : std::string(name);
}

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

}  // namespace

namespace detail {

std::string demangled(const std::type_info& type) {
  int status = 0;
  char* text = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? text : type.name();
  std::free(text);
  return name;
}

const Value* boxed_arguments(const OperatorEntry& op, const Stack& stack, size_t count) {
  TENON_CHECK(stack.size() >= count, "[", op.qualified_name(), "] a boxed call needs ", count,
              " values, got ", stack.size());
  return stack.data() + stack.size() - count;
}

void check_result_count(const OperatorEntry& op, size_t expected, const Stack& stack) {
  TENON_CHECK(stack.size() == expected, "[", op.qualified_name(),
              "] a boxed kernel must leave the operator's ", expected,
              expected == 1 ? " result" : " results",
              " on the stack in place of the arguments, it left ", stack.size(),
              stack.size() == 1 ? " value" : " values");
}

}  // namespace detail

Library::Library(std::string ns, Kind kind, std::source_location place)
    : Library(std::move(ns), kind, DispatchKey::CompositeImplicit, place) {}

Library::Library(std::string ns, Kind kind, DispatchKey key, std::source_location place)
    : Library(std::move(ns), kind, key, text_of(place)) {}

Library::Library(std::string ns, Kind kind, DispatchKey key, std::string place)
    : namespace_(std::move(ns)), kind_(kind), key_(key), place_(std::move(place)) {
  TENON_CHECK_VALUE(is_identifier(namespace_), "[Library] (", place_,
                    ") the namespace must be an identifier, got '", namespace_, "'");
  if (kind == DEF) detail::claim_namespace(namespace_, place_);
}

Library::~Library() { clear(); }

Library::Library(Library&& other) noexcept
    : namespace_(std::move(other.namespace_)), kind_(std::exchange(other.kind_, IMPL)),
      key_(other.key_), place_(std::move(other.place_)), defined_(std::move(other.defined_)),
      kernels_(std::move(other.kernels_)), fallbacks_(std::move(other.fallbacks_)) {}

Library& Library::operator=(Library&& other) noexcept {
  if (this == &other) return *this;
  clear();
  namespace_ = std::move(other.namespace_);
  kind_ = std::exchange(other.kind_, IMPL);
  key_ = other.key_;
  place_ = std::move(other.place_);
  defined_ = std::exchange(other.defined_, {});
  kernels_ = std::exchange(other.kernels_, {});
  fallbacks_ = std::exchange(other.fallbacks_, {});
  return *this;
}

void Library::clear() noexcept {
  for (const DispatchKey key : fallbacks_) detail::remove_fallback(key);
  for (const auto& [op, id] : kernels_) detail::remove_kernel(*op, id);
  for (OperatorEntry* op : defined_) detail::remove_operator(*op);
  if (kind_ == DEF) detail::release_namespace(namespace_);
}

Library& Library::def(std::string_view schema) & {
  define(schema);
  return *this;
}

Library& Library::fallback(DispatchKey key, BoxedKernel kernel) & {
  detail::add_fallback(key, std::move(kernel), place_);
  fallbacks_.push_back(key);
  return *this;
}

OperatorEntry& Library::define(std::string_view text) {
  TENON_CHECK_VALUE(kind_ != IMPL, "[", namespace_, "] (", place_,
                    ") a library of kind IMPL defines no operators; use DEF or FRAGMENT");
  auto parsed = schema::parse_schema(text);
  if (!parsed.ok()) {
    std::string errors;
    for (const auto& error : parsed.errors) {
      errors.append("\n").append(schema::format_error(text, error));
    }
    detail::raise<ValueError>("[", namespace_, "] (", place_,
                              ") the schema does not parse:", errors);
  }
  schema::FunctionSchema& schema = *parsed.schema;
  TENON_CHECK_VALUE(schema.ns.empty() || schema.ns == namespace_, "[", namespace_, "] (", place_,
                    ") the schema is of another namespace: ", text);
  schema.ns = namespace_;
  defined_.reserve(defined_.size() + 1);
  defined_.push_back(&detail::define_operator(std::move(schema), place_));
  return *defined_.back();
}

void Library::undefine(OperatorEntry& op) {
  std::erase(defined_, &op);
  detail::remove_operator(op);
}

OperatorEntry& Library::find(std::string_view name) const {
  const std::string full = qualified(name, namespace_);
  TENON_CHECK_VALUE(full.rfind(qualified("", namespace_), 0) == 0, "[", full, "] (", place_,
                    ") the operator is not of this library's namespace, ", namespace_);
  try {
    return get_operator(full);
  } catch (const ValueError& error) {
    detail::raise<ValueError>("[", full, "] (", place_,
                              ") a kernel needs an operator: ", error.what());
  }
}

void Library::add(OperatorEntry& op, DispatchKey key, Kernel kernel) {
  kernels_.reserve(kernels_.size() + 1);
  kernels_.emplace_back(&op, detail::add_kernel(op, key, std::move(kernel), place_));
}

}  // namespace tenon
