#include "runtime/serialization/state_dict.h"

#include "runtime/serialization/save.h"
#include "runtime/serialization/values/scoped_value.h"

namespace tenon::serialization {

void save_state_dict(const StateDict& state, const std::string& path) {
  const Value dict = Value::ordered_dict();
  for (const auto& item : state) {
    TENON_CHECK(item->defined(), "[save] tensor '", item.key(), "' is undefined");
    dict.set_item(item.key(), *item);
  }
  save(dict, path);
}

StateDict load_state_dict(const std::string& path, const LoadOptions& options) {
  const ScopedValue loaded(load(path, options));
  const Value& dict = loaded.value;
  TENON_CHECK(dict.is_dict(), "[load] '", path, "' holds ", dict.description(),
              ", expected a dict of tensors");
  StateDict state("Tensor");
  for (const auto& [key, value] : dict.entries()) {
    TENON_CHECK(key.is_string(), "[load] '", path, "': a key is ", key.description(),
                ", expected a string");
    TENON_CHECK(value.is_tensor(), "[load] '", path, "': ", key, " is ", value.description(),
                ", expected a tensor");
    state.set(key.to_string(), value.to_tensor());
  }
  return state;
}

}  // namespace tenon::serialization
