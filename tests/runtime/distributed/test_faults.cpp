#include <signal.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <thread>

#include "tenon/ops/full.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

Tensor ones_of(int64_t n) { return full({n}, 1.0, TensorOptions(kFloat)); }

int64_t elements_wanted() { return std::atoll(std::getenv("TENON_TEST_ELEMENTS")); }

}  // namespace

// Loops until a collective throws; the parent ends or stops one of the ranks.
TEST_CASE("child: all_reduce until it fails", "[.child]") {
  const char* limit = std::getenv("TENON_TEST_TIMEOUT");
  const GroupPtr g = join_group(limit ? milliseconds(std::atoi(limit)) : seconds(120));
  const int64_t n = elements_wanted();
  say(error_of([&] {
    for (int i = 0;; ++i) {
      const Tensor t = ones_of(n);
      all_reduce(t, ReduceOp::SUM, g);
      RANK_REQUIRE(t.data_ptr<float>()[n - 1] == static_cast<float>(g->size()));
      if (i == 3) reached("loop");
    }
  }));
  // A second call fails as well, at once.
  say(" / " + error_of([&] { all_reduce(ones_of(1), ReduceOp::SUM, g); }));
  std::_Exit(3);
}

TEST_CASE("a rank that is killed in the middle of all_reduce is named by all others") {
  struct Case {
    int64_t n;
    const char* shared;
  };
  for (const auto& [n, shared] : {Case{1, "1"}, Case{300000, "0"}, Case{300000, "1"}}) {
    for (const int ranks : {2, 3}) {
      CAPTURE(n, ranks, shared);
      Processes processes(
          "child: all_reduce until it fails", ranks,
          {{"TENON_TEST_ELEMENTS", std::to_string(n)}, {"TENON_SHARED_MEMORY", shared}});
      for (int r = 0; r < ranks; ++r) processes.wait_until_reached(r, "loop");
      processes.signal(1, SIGKILL);
      CHECK(processes.status(1) == -SIGKILL);
      const auto killed = std::chrono::steady_clock::now();
      for (int r = 0; r < ranks; r += 2) {
        CHECK(processes.status(r) == 3);
        const std::string said = processes.said(r);
        CAPTURE(said);
        CHECK(contains(said, "[all_reduce]"));
        CHECK(contains(said, "rank 1 (process " + std::to_string(processes.id(1))));
        CHECK(contains(said, "was killed"));
        CHECK(contains(said, " / [all_reduce] the group has failed"));
      }
      CHECK(std::chrono::steady_clock::now() - killed < seconds(60));
    }
  }
}

TEST_CASE("a rank that is stopped is named when the time is up") {
  for (const char* shared : {"0", "1"}) {
    const int64_t n = 300000;
    CAPTURE(shared);
    Processes processes("child: all_reduce until it fails", 2,
                        {{"TENON_TEST_ELEMENTS", std::to_string(n)},
                         {"TENON_TEST_TIMEOUT", "2000"},
                         {"TENON_SHARED_MEMORY", shared}});
    for (int r = 0; r < 2; ++r) processes.wait_until_reached(r, "loop");
    processes.signal(1, SIGSTOP);
    CHECK(processes.status(0) == 3);
    const std::string said = processes.said(0);
    CAPTURE(said);
    CHECK((contains(said, "waited 2000 ms for rank 1") ||
           contains(said, "rank 1 did not answer: stopped, or cut off")));
    processes.signal(1, SIGCONT);
    // It learns what happened meanwhile.
    CHECK(processes.status(1) == 3);
    CHECK(contains(processes.said(1), "rank 0"));
  }
}

TEST_CASE(
    "a rank that is stopped is named long before the time is up; one that is slow is waited for") {
  {
    Processes processes("child: all_reduce until it fails", 2,
                        {{"TENON_TEST_ELEMENTS", "1"}, {"TENON_HEARTBEAT_TIMEOUT", "0.6"}});
    for (int r = 0; r < 2; ++r) processes.wait_until_reached(r, "loop");
    processes.signal(1, SIGSTOP);
    CHECK(processes.status(0) == 3);
    const std::string said = processes.said(0);
    CAPTURE(said);
    CHECK(contains(said, "rank 1 (process " + std::to_string(processes.id(1))));
    CHECK(contains(said, "has not answered for 600 ms: its process is stopped, or cut off"));
    processes.signal(1, SIGCONT);
    CHECK(processes.status(1) == 3);
    CHECK(contains(processes.said(1), "rank 0"));
  }
  ::setenv("TENON_HEARTBEAT_TIMEOUT", "3", 1);
  CHECK(all_well(on_threads(2, [&](const GroupPtr& g) {
    if (g->rank() == 1) std::this_thread::sleep_for(milliseconds(3500));
    all_reduce(ones_of(1), ReduceOp::SUM, g);
  })));
  ::setenv("TENON_HEARTBEAT_TIMEOUT", "often", 1);
  for (const std::string& error : on_threads(2, [](const GroupPtr&) {}))
    CHECK(
        contains(error, "expected TENON_HEARTBEAT_TIMEOUT to be a number of seconds, got 'often'"));
  ::unsetenv("TENON_HEARTBEAT_TIMEOUT");
}

TEST_CASE("child: small messages to a rank that dies", "[.child]") {
  for (int round = 0; round < 100; ++round) {
    // The threads of one process: the other end closes without reading, as the kernel does for a
    // process that is killed.
    const auto errors = on_threads(2, [&](const GroupPtr& g) {
      if (g->rank() == 1) {
        g->backend().abort("dies in round " + std::to_string(round));
        return;
      }
      for (int i = 0; i < 1000; ++i) all_reduce(ones_of(i % 2 ? 1 : 20000), ReduceOp::SUM, g);
    });
    REQUIRE(contains(errors[0], "dies in round " + std::to_string(round)));
  }
}

TEST_CASE("no SIGPIPE ends a process whose peers die") {
  Processes processes("child: small messages to a rank that dies", 1,
                      {{"TENON_SHARED_MEMORY", "0"}});
  CHECK(processes.status(0) == 0);
}

TEST_CASE("a rank that raises, leaves or aborts is named with its cause", "[mpi]") {
  // An exception leaves the group while the others wait.
  auto errors = on_threads(3, [](const GroupPtr& g) {
    if (g->rank() == 2) TENON_CHECK(false, "out of data");
    all_reduce(ones_of(4), ReduceOp::SUM, g);
  });
  CHECK(errors[2] == "out of data");
  for (int r : {0, 1}) {
    CAPTURE(errors[r]);
    CHECK(contains(errors[r], "[all_reduce] the group has failed: rank 2 (process "));
    CHECK(contains(errors[r], "): left the group because of an exception"));
  }

  errors = on_threads(2, [](const GroupPtr& g) {
    if (g->rank() == 1) record([] { TENON_CHECK(false, "out of data"); });
    all_reduce(ones_of(4), ReduceOp::SUM, g);
  });
  CHECK(errors[1] == "out of data");
  CAPTURE(errors[0]);
  CHECK((contains(errors[0], "out of data") && contains(errors[0], "the group has failed: rank ")));

  errors = on_threads(3, [](const GroupPtr& g) {
    if (g->rank() == 1) return;  // has had enough
    barrier(g);
  });
  CHECK(errors[1].empty());
  for (int r : {0, 2}) {
    CHECK(contains(errors[r], "[barrier] rank 1 (process "));
    CHECK(contains(errors[r], "has left the group"));
  }
}

TEST_CASE("abort wakes who waits, on this rank and on others") {
  for (const int kind : {0, 1, 2}) {
    const int64_t n = kind == 0 ? 1 : 300000;
    std::optional<WithoutSharedMemory> gloo_alone;
    if (kind == 2) gloo_alone.emplace();
    const auto errors = on_threads(2, [&](const GroupPtr& g) {
      all_reduce(ones_of(n), ReduceOp::SUM, g);  // so that Gloo is connected
      if (g->rank() == 1) {
        std::this_thread::sleep_for(milliseconds(50));
        g->backend().abort("enough");
      }
      const WorkPtr work = all_reduce(ones_of(n), ReduceOp::SUM, g, {.async_op = true});
      work->wait();
    });
    for (int r : {0, 1}) {
      CAPTURE(errors[r]);
      CHECK(contains(errors[r], "the group has failed: rank 1 (process "));
      CHECK(contains(errors[r], "enough"));
    }
  }
  // One that waits alone.
  const auto errors = on_threads(2, [](const GroupPtr& g) {
    if (g->rank() == 1) {
      const Tensor t = ones_of(1);
      recv(t, 0, g, 7);
      return;
    }
    const WorkPtr work = barrier(g, {.async_op = true});
    std::thread aborting([&] {
      std::this_thread::sleep_for(milliseconds(20));
      g->backend().abort("woken");
    });
    const std::string error = error_of([&] { work->wait(); });
    aborting.join();
    require(contains(error, "woken"), "the reason in " + error);
  });
  CHECK(errors[0].empty());
  CHECK(contains(errors[1], "woken"));
}

TEST_CASE("a barrier's timeout names who did not come", "[mpi]") {
  const auto errors = on_threads(3, [](const GroupPtr& g) {
    if (g->rank() == 0) monitored_barrier(g, milliseconds(100));
    // The others come when it is over.
    if (g->rank() != 0) {
      const Tensor t = ones_of(1);
      recv(t, 0, g);
    }
  });
  CHECK(contains(errors[0], "[barrier] waited 100 ms for ranks 1, 2"));
  for (int r : {1, 2}) CHECK(contains(errors[r], "[barrier] waited 100 ms for ranks 1, 2"));
}

TEST_CASE("a slow rank is waited for", "[mpi]") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    if (g->rank() == 1) std::this_thread::sleep_for(milliseconds(300));
    const Tensor t = ones_of(100000);
    all_reduce(t, ReduceOp::SUM, g);
    RANK_REQUIRE(t.data_ptr<float>()[0] == 2);
  })));
}

TEST_CASE("child: survivors form a new group", "[.child]") {
  const auto found = rendezvous("file://" + std::string(std::getenv("TENON_TEST_FOLDER")) + "store",
                                -1, -1, seconds(120));
  auto g = std::make_shared<ProcessGroup>("gloo", found.store, found.rank, found.world_size,
                                          seconds(120));
  all_reduce(ones_of(100000), ReduceOp::SUM, g);
  reached("start");
  const std::string error = error_of([&] {
    while (true) all_reduce(ones_of(100000), ReduceOp::SUM, g);
  });
  RANK_REQUIRE(contains(error, "rank 1 (process "));
  g.reset();
  const int rank = found.rank == 0 ? 0 : 1;
  g = std::make_shared<ProcessGroup>("gloo", std::make_shared<PrefixStore>("again", found.store),
                                     rank, 2, seconds(120));
  const Tensor t = ones_of(100000);
  all_reduce(t, ReduceOp::SUM, g);
  RANK_REQUIRE(t.data_ptr<float>()[99999] == 2);
  barrier(g);
}

TEST_CASE("those that are left go on in a new group") {
  Processes processes("child: survivors form a new group", 3);
  for (int r = 0; r < 3; ++r) processes.wait_until_reached(r, "start");
  processes.signal(1, SIGKILL);
  CHECK(processes.status(0) == 0);
  CHECK(processes.status(2) == 0);
}

TEST_CASE("a rank that forfeits makes collectives fail on all ranks, and the group goes on") {
  CHECK(all_well(on_threads(3, [](const GroupPtr& g) {
    if (g->rank() == 1) {
      g->backend().fail_next_collectives("no gradient for fc.weight", 2);
    } else {
      for (int i = 0; i < 2; ++i) {
        const std::string error = error_of([&] { all_reduce(ones_of(50000), ReduceOp::SUM, g); });
        require(error == "[all_reduce] rank 1: no gradient for fc.weight", error);
      }
    }
    const Tensor t = ones_of(50000);
    all_reduce(t, ReduceOp::SUM, g);
    RANK_REQUIRE(t.data_ptr<float>()[0] == 3);
  })));
}

TEST_CASE("child: the default group and its parts", "[.child]") {
  CHECK_THROWS_WITH(get_rank(), Catch::Contains("call init_process_group first"));
  init_process_group(
      {.init_method = "file://" + std::string(std::getenv("TENON_TEST_FOLDER")) + "store"});
  CHECK(get_rank() == own_rank());
  CHECK(get_world_size() == 4);
  CHECK_THROWS_WITH(init_process_group(), Catch::Contains("a default group already"));
  // Groups that share ranks, used in turn, the order of their lists aside.
  const GroupPtr even = new_group({0, 2}), others = new_group({3, 1, 2});
  CHECK((even != nullptr) == (get_rank() % 2 == 0));
  CHECK((others != nullptr) == (get_rank() > 0));
  for (int i = 0; i < 3; ++i) {
    if (even) {
      const Tensor t = full({1}, get_rank() * 1.0, TensorOptions(kFloat));
      all_reduce(t, ReduceOp::SUM, even);
      CHECK(values(t) == std::vector<double>{2});
      broadcast(t, 2, even);
      CHECK_THROWS_AS(broadcast(t, 1, even), ValueError);
    }
    if (others) {
      const Tensor t = full({50000}, get_rank() * 1.0, TensorOptions(kFloat));
      all_reduce(t, ReduceOp::MAX, others);
      CHECK(t.data_ptr<float>()[0] == 3);
      CHECK(get_rank(others) == get_rank() - 1);
    }
    barrier();
  }
  CHECK_THROWS_AS(new_group({0, 4}), ValueError);
  int called = 0;
  run_on_rank_0([&] { ++called; });
  CHECK(called == (get_rank() == 0));
  const std::string error =
      error_of([] { run_on_rank_0([] { TENON_CHECK(false, "the disk is full"); }); });
  CHECK(contains(error, "the disk is full"));
  CHECK((get_rank() == 0) == (error == "the disk is full"));
  barrier();
  destroy_process_group();
  CHECK_FALSE(is_initialized());
}

TEST_CASE("the default group, subgroups and rank 0's work") {
  Processes processes("child: the default group and its parts", 4);
  for (int r = 0; r < 4; ++r) CHECK(processes.status(r) == 0);
}
