#pragma once

/// All of tenon::data, for users.

#include "runtime/data/data_loader.h"
#include "runtime/data/dataset.h"
#include "runtime/data/fashion_mnist.h"
#include "runtime/data/idx.h"
