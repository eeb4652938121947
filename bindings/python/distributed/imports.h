#pragma once

#include <nanobind/stl/chrono.h>

#include "bindings/python/src/tensor_api.h"
#include "runtime/distributed/process_group.h"

namespace tenon::python {

/// Makes tensor_type, wrap() and keep() those of `_C`.
void import_tensors();

/// A group in Python, until destroy_process_group() or the end of the program.
struct Group {
  distributed::GroupPtr group;
  std::string name;

  /// RuntimeError for one that was destroyed.
  const distributed::GroupPtr& get() const {
    TENON_CHECK(group, "[distributed] the process group has been destroyed");
    return group;
  }
};
/// The group of an argument, where None is the default one.
inline distributed::GroupPtr group_of(const Group* group) {
  return group ? group->get() : distributed::default_group();
}

void add_stores(nb::module_& module);
void add_groups(nb::module_& module);
void add_data_parallel(nb::module_& module);

}  // namespace tenon::python
