#pragma once

// Everything of Tenon::distributed.
#include "runtime/distributed/distributed_data_parallel.h"
#include "runtime/distributed/distributed_sampler.h"
#include "runtime/distributed/file_store.h"
#include "runtime/distributed/power_sgd.h"
#include "runtime/distributed/process_group.h"
#include "runtime/distributed/sync_batch_norm.h"
#include "runtime/distributed/tcp_store.h"
