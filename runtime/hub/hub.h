#pragma once

/// Weights and repositories from the network: fetched once, verified, kept in a cache. Nothing that
/// is fetched is executed. docs/hub.md walks through it.
#include "runtime/hub/directory.h"
#include "runtime/hub/download.h"
#include "runtime/hub/entry_point.h"
#include "runtime/hub/repository.h"
