#pragma once

#include "aten/core/storage.h"
#include "bindings/python/src/calls/caster.h"

/// tenon.UntypedStorage.
namespace tenon::python {

/// The object of a storage: the same one as long as it is alive.
nb::object wrap_storage(const Storage& storage);
/// Whether the object is an UntypedStorage.
bool is_storage(nb::handle object);
Storage storage_of(nb::handle object);
/// The storage itself. Error for that of a tensor without memory, whose class has
/// `__torch_dispatch__`.
const Storage& with_memory(const Storage& storage);

}  // namespace tenon::python
