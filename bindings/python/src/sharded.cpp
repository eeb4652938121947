#include "runtime/serialization/sharded/sharded.h"

#include "bindings/python/src/calls/caster.h"

/// Checkpoints that are folders, which several processes write and read.
namespace tenon::python {

using serialization::ShardedCheckpoint;

namespace {

using WithoutGil = nb::gil_scoped_release;
using Named = std::vector<std::pair<std::string, Tensor>>;

nb::bytes to_bytes(const std::string& text) { return nb::bytes(text.data(), text.size()); }

}  // namespace

void add_sharded(nb::module_& module) {
  module.def("_write_share", [](const Named& state, const std::string& folder, int rank, int size) {
    std::string part;
    {
      const WithoutGil unlocked;
      nn::StateDict all;
      for (const auto& [name, tensor] : state) all.insert(name, tensor);
      part = serialization::write_shards(serialization::share_of(all, rank, size), folder,
                                         std::to_string(rank));
    }
    return to_bytes(part);
  });
  module.def("_commit_shards", [](const std::vector<nb::bytes>& parts, const std::string& folder) {
    std::vector<std::string> texts;
    for (const nb::bytes& part : parts) texts.emplace_back(part.c_str(), part.size());
    const WithoutGil unlocked;
    serialization::commit_shards(texts, folder);
  });
  nb::class_<ShardedCheckpoint>(module, "_ShardedCheckpoint")
      .def(nb::init<std::string>())
      .def("shapes",
           [](const ShardedCheckpoint& c) {
             nb::dict all;
             for (const auto& entry : c.entries()) all[entry.name.c_str()] = nb::cast(entry.shape);
             return all;
           })
      .def(
          "tensor",
          [](const ShardedCheckpoint& c, const std::string& name) { return c.tensor(name); },
          nb::call_guard<WithoutGil>())
      .def(
          "part",
          [](const ShardedCheckpoint& c, const std::string& name,
             const std::vector<int64_t>& offset,
             const std::vector<int64_t>& shape) { return c.tensor(name, offset, shape); },
          nb::call_guard<WithoutGil>())
      .def("verify", &ShardedCheckpoint::verify, nb::call_guard<WithoutGil>());
}

}  // namespace tenon::python
