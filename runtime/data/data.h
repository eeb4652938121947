#pragma once

/// All of tenon::data, for users.

#include "runtime/data/data_loader.h"
#include "runtime/data/datasets/chunk_dataset.h"
#include "runtime/data/datasets/fashion_mnist.h"
#include "runtime/data/datasets/idx.h"
#include "runtime/data/datasets/map_dataset.h"
#include "runtime/data/datasets/mnist.h"
#include "runtime/data/datasets/shared_dataset.h"
#include "runtime/data/datasets/stateful_dataset.h"
#include "runtime/data/datasets/tensor_dataset.h"
#include "runtime/data/samplers/distributed_samplers.h"
#include "runtime/data/samplers/random_sampler.h"
#include "runtime/data/samplers/sequential_sampler.h"
#include "runtime/data/samplers/stream_sampler.h"
#include "runtime/data/transforms/stack_transform.h"
#include "runtime/data/transforms/tensor_transform.h"
