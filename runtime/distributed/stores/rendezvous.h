#pragma once

#include <functional>

#include "runtime/distributed/stores/store.h"

namespace tenon::distributed {

struct Rendezvous {
  std::shared_ptr<Store> store;
  int rank = 0;
  int world_size = 1;
};

/// How the ranks of a run find each other:
///   env://             RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT; rank 0 keeps the store
///                      unless TENON_RUN_STORE=1 says that the launcher does
///   tcp://host:port    rank 0 keeps the store at that port of its machine
///   file:///path       a file that all reach and that does not exist yet
///   mpi://             where the backend mpi is: as mpirun has started them
/// A negative rank or size is taken from the URL, "?rank=0&world_size=2", or the environment.
/// Returns when all ranks are there. DistStoreError after the timeout, naming the missing ranks;
/// ValueError for an URL or a variable that makes no sense.
TENON_API Rendezvous rendezvous(const std::string& url, int rank = -1, int world_size = -1,
                                Milliseconds timeout = Store::kDefaultTimeout);

using RendezvousHandler = std::function<Rendezvous(const std::string& url, int rank, int world_size,
                                                   Milliseconds timeout)>;
/// Makes URLs of another scheme available: rendezvous() calls the handler with its own arguments.
/// That of a backend's name is what init_process_group uses for that backend unless it is told
/// otherwise. ValueError if the scheme is taken.
TENON_API void register_rendezvous_handler(const std::string& scheme, RendezvousHandler handler);
TENON_API bool has_rendezvous_handler(const std::string& scheme);

/// Waits until every rank has called it with the same store. DistStoreError after the timeout,
/// naming the missing ranks, or if another process has the same rank.
TENON_API void meet(Store& store, int rank, int world_size, Milliseconds timeout);

}  // namespace tenon::distributed
