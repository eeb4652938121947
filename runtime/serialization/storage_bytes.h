#pragma once

#include <memory>

#include "aten/core/scalar_type.h"
#include "aten/core/storage.h"

namespace tenon::serialization {

/// Turns the bytes of elements around, both halves of complex ones each.
void swap_bytes(void* data, uint64_t bytes, ScalarType dtype);

/// A part of memory that `owner` keeps alive.
Storage storage_part(std::shared_ptr<const void> owner, void* data, uint64_t bytes, Device device);

}  // namespace tenon::serialization
