#include "tests/ops/aliases.h"

#include <cstring>

#include "aten/dispatch/operator_entry.h"
#include "aten/dispatch/registration.h"

namespace tenon::ops_test {
namespace {

using schema::Alias;

/// A tensor argument as it was before the call.
struct Before {
  std::string name;
  std::optional<Alias> alias;
  TensorBase tensor;
  std::vector<char> bytes;  // of the whole storage, what lies between the elements included
  int64_t version;
  std::vector<int64_t> sizes, strides;
  int64_t offset;

  Before(const schema::Argument& argument, const TensorBase& t)
      : name(argument.name), alias(argument.alias), tensor(t), version(t._version()),
        sizes(t.sizes().vec()), strides(t.strides().vec()), offset(t.storage_offset()) {
    bytes.resize(t.storage().nbytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), t.storage().data(), bytes.size());
  }

  bool is_written() const { return alias && alias->is_write; }
  bool same_bytes() const {
    return tensor.storage().nbytes() == bytes.size() &&
           (bytes.empty() || !std::memcmp(bytes.data(), tensor.storage().data(), bytes.size()));
  }
  bool same_geometry() const {
    return tensor.sizes() == IntArrayRef(sizes) && tensor.strides() == IntArrayRef(strides) &&
           tensor.storage_offset() == offset;
  }
};

std::vector<TensorBase> tensors_in(const Value& value) {
  if (value.is_tensor()) return {value.to_tensor()};
  std::vector<TensorBase> tensors;
  if (!value.is_tensor_list()) return tensors;
  for (const TensorBase& t : value.to_tensors()) {
    if (t.defined()) tensors.push_back(t);
  }
  return tensors;
}

bool may_share(const std::optional<Alias>& result, const std::optional<Alias>& argument) {
  if (!result || !argument) return false;
  if (argument->after_wildcard) return true;
  for (char letter : result->before) {
    if (argument->before.end() !=
        std::find(argument->before.begin(), argument->before.end(), letter)) {
      return true;
    }
  }
  return false;
}

/// Storages without memory are nobody's.
bool share_memory(const TensorBase& a, const TensorBase& b) {
  return a.storage().nbytes() > 0 && a.is_alias_of(b);
}

std::string check_argument(const Before& argument, const std::vector<Before>& all) {
  bool written = argument.is_written();
  for (const Before& other : all) {
    written |= other.is_written() && share_memory(other.tensor, argument.tensor);
  }
  const std::string what = "argument `" + argument.name + "` ";
  if (written) {
    if (argument.is_written() && argument.tensor.numel() > 0 &&
        argument.tensor._version() == argument.version) {
      return what + "is written by the schema, and its version was not counted";
    }
    return "";
  }
  if (!argument.same_geometry()) return what + "has another geometry after the call";
  if (!argument.same_bytes()) return what + "was changed, and the schema does not say so";
  if (argument.tensor._version() != argument.version) {
    return what + "was counted as changed, and the schema does not say that it is";
  }
  return "";
}

std::string check_result(size_t i, const schema::Return& result, const TensorBase& tensor,
                         const std::vector<Before>& arguments) {
  const std::string what = detail::concat("result ", i, " ");
  bool found = !result.is_mutable();
  for (const Before& argument : arguments) {
    const bool allowed = may_share(result.alias, argument.alias);
    if (result.is_mutable() && allowed && tensor.is_same(argument.tensor)) found = true;
    if (tensor.is_same(argument.tensor) && !allowed) {
      return what + "is argument `" + argument.name + "` itself, and the schema does not say so";
    }
    if (share_memory(tensor, argument.tensor) && !allowed) {
      bool through_written = false;  // out= an argument: written arguments may overlap inputs
      for (const Before& other : arguments) {
        through_written |= may_share(result.alias, other.alias) && other.is_written() &&
                           share_memory(other.tensor, argument.tensor);
      }
      if (!through_written) {
        return what + "shares the memory of argument `" + argument.name +
               "`, and the schema does not say so";
      }
    }
  }
  return found ? "" : what + "is not the argument that the schema says it is";
}

}  // namespace

std::string alias_violation(const OperatorEntry& op, Stack arguments) {
  const auto schema = schema_of(op);
  std::vector<Before> before;
  for (size_t i = 0; i < schema->args.size(); ++i) {
    for (const TensorBase& t : tensors_in(arguments[i])) before.emplace_back(schema->args[i], t);
  }
  op.call_boxed(arguments);
  if (arguments.size() != schema->returns.size()) {
    return detail::concat("the schema has ", schema->returns.size(), " results, the call gave ",
                          arguments.size());
  }
  for (const Before& argument : before) {
    if (const std::string text = check_argument(argument, before); !text.empty()) return text;
  }
  std::vector<std::pair<size_t, TensorBase>> fresh;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const schema::Return& result = schema->returns[i];
    for (const TensorBase& t : tensors_in(arguments[i])) {
      if (const std::string text = check_result(i, result, t, before); !text.empty()) return text;
      if (result.alias) continue;
      for (const auto& [k, other] : fresh) {
        if (share_memory(t, other)) {
          return detail::concat("results ", k, " and ", i,
                                " share memory, and the schema does not say so");
        }
      }
      fresh.emplace_back(i, t);
    }
  }
  return "";
}

}  // namespace tenon::ops_test
