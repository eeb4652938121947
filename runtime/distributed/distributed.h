#pragma once

// Everything of Tenon::distributed.
#include "runtime/distributed/ddp/distributed_data_parallel.h"
#include "runtime/distributed/ddp/distributed_sampler.h"
#include "runtime/distributed/ddp/power_sgd.h"
#include "runtime/distributed/ddp/sync_batch_norm.h"
#include "runtime/distributed/process_group.h"
#include "runtime/distributed/stores/file_store.h"
#include "runtime/distributed/stores/tcp_store.h"
