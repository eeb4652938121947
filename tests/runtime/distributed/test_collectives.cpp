#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "tenon/ops/arange.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/narrow.h"
#include "tenon/ops/t.h"
#include "tenon/ops/to.h"
#include "tenon/ops/zeros.h"
#include "tests/runtime/distributed/ranks.h"
#include "tests/runtime/values.h"

using namespace tenon;
using namespace tenon::distributed;
using namespace tenon::test;

namespace {

const std::vector<ReduceOp> kOps{ReduceOp::SUM, ReduceOp::AVG,  ReduceOp::PRODUCT, ReduceOp::MIN,
                                 ReduceOp::MAX, ReduceOp::BAND, ReduceOp::BOR,     ReduceOp::BXOR};
// Beyond what goes along with the messages, so that Gloo moves it.
constexpr int64_t kLarge = 40000;

/// Element i of rank r: small whole numbers, exact in every type.
int64_t element(int rank, int64_t i) { return (i * 3 + rank * 5 + 1) % 4; }

bool is_defined(ReduceOp op, ScalarType t) {
  const bool bits = op == ReduceOp::BAND || op == ReduceOp::BOR || op == ReduceOp::BXOR;
  if (bits) return is_integral(t, true);
  if (op == ReduceOp::AVG) return is_floating_point(t) || is_complex(t);
  return !is_complex(t) || op == ReduceOp::SUM || op == ReduceOp::PRODUCT;
}

double expected(ReduceOp op, bool boolean, int ranks, int64_t i) {
  double all = 0;
  for (int r = 0; r < ranks; ++r) {
    int64_t x = element(r, i);
    if (boolean) x = x != 0;
    if (r == 0) {
      all = static_cast<double>(x);
      continue;
    }
    const auto before = static_cast<int64_t>(all);
    switch (op) {
    case ReduceOp::SUM:
    case ReduceOp::AVG: all += static_cast<double>(x); break;
    case ReduceOp::PRODUCT: all *= static_cast<double>(x); break;
    case ReduceOp::MIN: all = std::min(all, static_cast<double>(x)); break;
    case ReduceOp::MAX: all = std::max(all, static_cast<double>(x)); break;
    case ReduceOp::BAND: all = static_cast<double>(before & x); break;
    case ReduceOp::BOR: all = static_cast<double>(before | x); break;
    case ReduceOp::BXOR: all = static_cast<double>(before ^ x); break;
    }
  }
  if (boolean && all > 1) all = 1;
  return op == ReduceOp::AVG ? all / ranks : all;
}

Tensor elements(int rank, int64_t n, ScalarType dtype) {
  Tensor t = zeros({n}, TensorOptions(kDouble));
  for (int64_t i = 0; i < n; ++i) t.data_ptr<double>()[i] = static_cast<double>(element(rank, i));
  return t.to(dtype);
}

bool is_range(const Tensor& t, double first) {
  const std::vector<double> v = values(t);
  for (size_t i = 0; i < v.size(); ++i) {
    if (v[i] != first + static_cast<double>(i)) return false;
  }
  return true;
}
/// n elements first, first + 1, ...
Tensor range(double first, int64_t n) {
  Tensor t = zeros({n}, TensorOptions(kDouble));
  for (int64_t i = 0; i < n; ++i) t.data_ptr<double>()[i] = first + static_cast<double>(i);
  return t;
}

}  // namespace

TEST_CASE("all_reduce: every dtype and operation, one to four ranks", "[mpi]") {
  for (const int ranks : {1, 2, 3, 4}) {
    CAPTURE(ranks);
    CHECK(all_well(on_threads(ranks, [&](const GroupPtr& g) {
      for (const ScalarType dtype : {kByte, kChar, kShort, kInt, kLong, kHalf, kFloat, kDouble,
                                     kComplexFloat, kComplexDouble, kBool, kBFloat16}) {
        for (const ReduceOp op : kOps) {
          const Tensor t = elements(g->rank(), 37, dtype);
          const std::string name = std::string(to_string(op)) + " of " + tenon::to_string(dtype);
          if (!is_defined(op, dtype)) {
            require(error_of([&] {
                      all_reduce(t, op, g);
                    }).find("[all_reduce] " + std::string(to_string(op)) + " is not defined for") ==
                        0,
                    "an error for " + name);
            continue;
          }
          all_reduce(t, op, g);
          const std::vector<double> v =
              values(is_complex(dtype) ? t.to(kComplexDouble).to(kDouble) : t.to(kDouble));
          for (int64_t i = 0; i < 37; ++i) {
            const double want = expected(op, dtype == kBool, ranks, i);
            const double tolerance =
                op == ReduceOp::AVG ? (is_reduced_floating_point(dtype) ? 2e-2 : 1e-6) : 0;
            require(std::abs(v[i] - want) <= tolerance, name);
          }
        }
      }
    })));
  }
}

namespace {

/// Large sums and means: exact, and on all ranks the same bits.
void check_large(int ranks) {
  CHECK(all_well(on_threads(ranks, [&](const GroupPtr& g) {
    // Several chunks of shared memory, the last not full.
    const int64_t n = 4 * kLarge + 7;
    for (const ScalarType dtype : {kByte, kHalf, kFloat, kLong, kComplexDouble, kBFloat16}) {
      const Tensor t = elements(g->rank(), n, dtype);
      all_reduce(t, ReduceOp::SUM, g);
      const std::vector<double> v =
          values(is_complex(dtype) ? t.to(kComplexDouble).to(kDouble) : t.to(kDouble));
      for (int64_t i = 0; i < n; ++i) {
        if (v[i] != expected(ReduceOp::SUM, false, ranks, i)) require(false, to_string(dtype));
      }
    }
    Tensor t = zeros({n}, TensorOptions(kFloat));
    for (int64_t i = 0; i < n; ++i)
      t.data_ptr<float>()[i] = std::sin(static_cast<float>(i + 1000 * g->rank()));
    all_reduce(t, ReduceOp::AVG, g);
    const std::vector<std::string> bits =
        all_gather_object(std::string(static_cast<const char*>(t.data_ptr()), t.nbytes()), g);
    for (const std::string& b : bits) RANK_REQUIRE(b == bits[0]);
    for (int64_t i = 0; i < n; i += 1000) {
      double mean = 0;
      for (int r = 0; r < ranks; ++r)
        mean += std::sin(static_cast<float>(i + 1000 * r)) / static_cast<double>(ranks);
      RANK_REQUIRE(std::abs(t.data_ptr<float>()[i] - mean) < 1e-6);
    }
  })));
}

}  // namespace

TEST_CASE("large all_reduce through shared memory") {
  for (const int ranks : {2, 3, 4}) check_large(ranks);
}

TEST_CASE("large all_reduce through Gloo", "[mpi]") {
  const WithoutSharedMemory guard;
  for (const int ranks : {2, 3}) check_large(ranks);
}

TEST_CASE("MIN and MAX pass NaN on, from any rank", "[mpi]") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    for (const int bad : {0, 1}) {
      for (const ReduceOp op : {ReduceOp::MIN, ReduceOp::MAX}) {
        const Tensor t = full({2}, g->rank() == bad ? std::nan("") : 1.0, TensorOptions(kFloat));
        all_reduce(t, op, g);
        RANK_REQUIRE(std::isnan(t.data_ptr<float>()[1]));
      }
    }
  })));
}

TEST_CASE("integers wrap around, unsigned 16-bit products too", "[mpi]") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    Tensor t(empty({1}, kUInt16, kCPU));
    *static_cast<uint16_t*>(t.data_ptr()) = 65535;
    all_reduce(t, ReduceOp::PRODUCT, g);
    RANK_REQUIRE(*static_cast<uint16_t*>(t.data_ptr()) == 1);
    const Tensor l = full({1}, std::numeric_limits<int64_t>::max(), TensorOptions(kLong));
    all_reduce(l, ReduceOp::SUM, g);
    RANK_REQUIRE(*l.data_ptr<int64_t>() == -2);
  })));
}

TEST_CASE("the other collectives, small and large, against what they mean", "[mpi]") {
  for (const int ranks : {1, 2, 4}) {
    for (const int64_t n : {int64_t{3}, kLarge}) {
      CAPTURE(ranks, n);
      CHECK(all_well(on_threads(ranks, [&](const GroupPtr& g) {
        const int rank = g->rank(), last = ranks - 1;
        const auto size = static_cast<double>(n);
        Tensor t = range(rank * size, n);
        broadcast(t, last, g);
        RANK_REQUIRE(is_range(t, last * size));

        t = full({n}, rank + 1.0, TensorOptions(kDouble));
        reduce(t, last, ReduceOp::SUM, g);
        RANK_REQUIRE(values(t) ==
                     std::vector<double>(n, rank == last ? ranks * (ranks + 1) / 2.0 : rank + 1.0));

        // Ranks give different numbers of elements, rank 0 none.
        std::vector<Tensor> outputs;
        for (int r = 0; r < ranks; ++r) outputs.push_back(zeros({r * n}, TensorOptions(kDouble)));
        all_gather(outputs, range(rank, rank * n), g);
        for (int r = 0; r < ranks; ++r) RANK_REQUIRE(is_range(outputs[r], r));

        const Tensor all = zeros({ranks * n}, TensorOptions(kDouble));
        all_gather_into_tensor(all, range(rank * size, n), g);
        RANK_REQUIRE(is_range(all, 0));

        outputs.clear();
        for (int r = 0; rank == last && r < ranks; ++r)
          outputs.push_back(zeros({r * n}, TensorOptions(kDouble)));
        gather(range(rank, rank * n), outputs, last, g);
        for (size_t r = 0; r < outputs.size(); ++r)
          RANK_REQUIRE(is_range(outputs[r], static_cast<double>(r)));

        std::vector<Tensor> inputs;
        for (int r = 0; rank == last && r < ranks; ++r) inputs.push_back(range(100 * r, n));
        t = zeros({n}, TensorOptions(kDouble));
        scatter(t, inputs, last, g);
        RANK_REQUIRE(is_range(t, 100 * rank));

        t = zeros({n}, TensorOptions(kDouble));
        reduce_scatter_tensor(t, range(rank, ranks * n), ReduceOp::AVG, g);
        RANK_REQUIRE(is_range(t, (ranks - 1) / 2.0 + rank * size));

        const Tensor out = zeros({ranks, n}, TensorOptions(kDouble));
        Tensor in = zeros({ranks, n}, TensorOptions(kDouble));
        for (int64_t i = 0; i < ranks * n; ++i)
          in.data_ptr<double>()[i] = 1000.0 * rank + static_cast<double>(i / n);
        all_to_all_single(out, in, {}, {}, g);
        for (int64_t i = 0; i < ranks * n; ++i)
          RANK_REQUIRE(out.data_ptr<double>()[i] == 1000.0 * static_cast<double>(i / n) + rank);
        // Rank r sends r + 1 rows to each.
        std::vector<int64_t> takes;
        int64_t total = 0;
        for (int r = 0; r < ranks; ++r) total += takes.emplace_back(r + 1);
        const Tensor some = zeros({total}, TensorOptions(kDouble));
        all_to_all_single(some, full({ranks * (rank + 1)}, rank * 1.0, TensorOptions(kDouble)),
                          takes, std::vector<int64_t>(ranks, rank + 1), g);
        int64_t at = 0;
        for (int r = 0; r < ranks; ++r) {
          for (int64_t i = 0; i <= r; ++i) RANK_REQUIRE(some.data_ptr<double>()[at++] == r);
        }
        barrier(g);
        monitored_barrier(g, std::chrono::seconds(60));
      })));
    }
  }
}

TEST_CASE("eight ranks") {
  CHECK(all_well(on_threads(8, [](const GroupPtr& g) {
    for (const int64_t n : {int64_t{5}, int64_t{5000}}) {
      const Tensor t = full({n}, g->rank() + 1.0, TensorOptions(kFloat));
      all_reduce(t, ReduceOp::SUM, g);
      RANK_REQUIRE(values(t) == std::vector<double>(n, 36));
    }
  })));
}

TEST_CASE("tensors that are not contiguous, empty ones and parameters", "[mpi]") {
  CHECK(all_well(on_threads(2, [](const GroupPtr& g) {
    for (const int64_t n : {3, 200}) {
      const Tensor base = full({n, n}, g->rank() + 1.0, TensorOptions(kFloat));
      const Tensor half = base.t().narrow(0, 0, n / 2);
      all_reduce(half, ReduceOp::SUM, g);
      RANK_REQUIRE(values(half) == std::vector<double>(n * (n / 2), 3));
      RANK_REQUIRE(values(base.narrow(1, n / 2, 1)) == std::vector<double>(n, g->rank() + 1.0));
      RANK_REQUIRE(base._version() == 0);  // autograd need not know
    }
    const Tensor none = zeros({0, 3}, TensorOptions(kFloat));
    all_reduce(none, ReduceOp::SUM, g);
    broadcast(none, 1, g);
    Tensor parameter = full({4}, g->rank() * 1.0, TensorOptions(kFloat));
    parameter.requires_grad_(true);
    broadcast(parameter, 1, g);
    RANK_REQUIRE(values(parameter) == std::vector<double>(4, 1));
    RANK_REQUIRE(parameter._version() == 0);
  })));
}

TEST_CASE("several tensors at once, in any layout", "[mpi]") {
  for (const int64_t n : {3, 200}) {
    CHECK(all_well(on_threads(3, [&](const GroupPtr& g) {
      const Tensor base = full({n, n}, g->rank() + 1.0, TensorOptions(kFloat));
      const Tensor single = full({}, g->rank() + 5.0, TensorOptions(kFloat));
      const Tensor none = zeros({0, 2}, TensorOptions(kFloat));
      const std::vector<Tensor> tensors{base.t().narrow(0, 1, 2), single, none};
      const auto are = [&](double some, double one) {
        RANK_REQUIRE(values(tensors[0]) == std::vector<double>(2 * n, some));
        RANK_REQUIRE(values(single) == std::vector<double>{one});
        RANK_REQUIRE(values(base.narrow(1, 0, 1)) == std::vector<double>(n, g->rank() + 1.0));
        RANK_REQUIRE(base._version() == 0 && single._version() == 0);
      };
      broadcast_coalesced(tensors, 1, g);
      are(2, 6);
      all_reduce_coalesced(tensors, ReduceOp::SUM, g, {.async_op = true})->wait();
      are(6, 18);
      // Of other dtypes, and larger than what is joined.
      const Tensor numbers = full({2}, 7 * g->rank(), TensorOptions(kLong));
      const Tensor large = full({70000}, g->rank() * 1.0, TensorOptions(kFloat));
      broadcast_coalesced({single, numbers, large, tensors[0]}, 2, g);
      are(6, 18);
      RANK_REQUIRE(values(numbers) == std::vector<double>{14, 14});
      RANK_REQUIRE(values(large) == std::vector<double>(70000, 2));
      RANK_REQUIRE(
          contains(error_of([&] {
                     all_reduce_coalesced({base, numbers}, ReduceOp::SUM, g);
                   }),
                   "[all_reduce_coalesced] expected tensors of one dtype, got Float and Long"));
      RANK_REQUIRE(contains(error_of([&] { all_reduce_coalesced({}, ReduceOp::SUM, g); }),
                            "[all_reduce_coalesced] expected at least one tensor"));
    })));
  }
}

TEST_CASE("collectives that have begun are waited for in any order", "[mpi]") {
  CHECK(all_well(on_threads(3, [](const GroupPtr& g) {
    std::vector<Tensor> tensors;
    std::vector<WorkPtr> works;
    int called = 0;
    for (int i = 0; i < 12; ++i) {
      tensors.push_back(full({i % 3 == 0 ? kLarge : 4}, i * 1.0, TensorOptions(kFloat)));
      works.push_back(all_reduce(tensors.back(), ReduceOp::SUM, g, {.async_op = true}));
      works.back()->then([&called] { ++called; });
    }
    // One that waits comes after them.
    const Tensor last = full({2}, 1.0, TensorOptions(kFloat));
    all_reduce(last, ReduceOp::SUM, g);
    RANK_REQUIRE(values(last) == std::vector<double>{3, 3});
    for (int i = 11; i >= 0; --i) {
      works[i]->wait();
      RANK_REQUIRE(works[i]->is_success());
      RANK_REQUIRE(tensors[i].data_ptr<float>()[1] == 3.0f * static_cast<float>(i));
    }
    RANK_REQUIRE(called == 12);
  })));
}

TEST_CASE("messages: both ways at once, by tag, from any rank, in the order they were asked for",
          "[mpi]") {
  CHECK(all_well(on_threads(3, [](const GroupPtr& g) {
    const int other = g->rank() == 0 ? 1 : 0;
    if (g->rank() < 2) {
      // Longer than what connections hold, both ranks sending first.
      const Tensor large = full({3000000}, g->rank() * 1.0, TensorOptions(kFloat));
      const Tensor into = zeros({3000000}, TensorOptions(kFloat));
      const WorkPtr receiving = irecv(into, other, g);
      isend(large, other, g)->wait();
      receiving->wait();
      RANK_REQUIRE(into.data_ptr<float>()[2999999] == static_cast<float>(other));
    }
    if (g->rank() == 0) {
      for (int i = 0; i < 4; ++i) send(full({1}, i * 1.0, TensorOptions(kFloat)), 1, g, i % 2);
    } else if (g->rank() == 1) {
      std::vector<Tensor> into;
      std::vector<WorkPtr> works;
      for (int i = 0; i < 4; ++i) {
        into.push_back(zeros({1}, TensorOptions(kFloat)));
        works.push_back(irecv(into.back(), 0, g, 1 - i % 2));
      }
      for (int i = 3; i >= 0; --i) works[i]->wait();
      RANK_REQUIRE(*into[0].data_ptr<float>() == 1 && *into[2].data_ptr<float>() == 3);
      RANK_REQUIRE(*into[1].data_ptr<float>() == 0 && *into[3].data_ptr<float>() == 2);
    }
    barrier(g);
    if (g->rank() == 2) {
      double total = 0;
      for (int i = 0; i < 2; ++i) {
        const Tensor t = zeros({2}, TensorOptions(kFloat));
        const int from = recv(t, -1, g, 9);
        RANK_REQUIRE(t.data_ptr<float>()[0] == static_cast<float>(from + 1));
        total += from;
      }
      RANK_REQUIRE(total == 1);
      const Tensor wrong = zeros({3}, TensorOptions(kFloat));
      const std::string error = error_of([&] { recv(wrong, 0, g, 10); });
      RANK_REQUIRE(error.find("rank 0 sent Long [3], rank 2 expects Float [3]") !=
                   std::string::npos);
    } else {
      send(full({2}, g->rank() + 1.0, TensorOptions(kFloat)), 2, g, 9);
      if (g->rank() == 0) send(zeros({3}, TensorOptions(kLong)), 2, g, 10);
    }
    barrier(g);
  })));
}

TEST_CASE("objects", "[mpi]") {
  CHECK(all_well(on_threads(3, [](const GroupPtr& g) {
    const std::string own(static_cast<size_t>(g->rank()) * 40000,
                          static_cast<char>('a' + g->rank()));
    const std::vector<std::string> all{"", std::string(40000, 'b'), std::string(80000, 'c')};
    RANK_REQUIRE(all_gather_object(own, g) == all);
    RANK_REQUIRE(gather_object(own, 1, g) == (g->rank() == 1 ? all : std::vector<std::string>()));
    std::vector<std::string> list(3);
    if (g->rank() == 2) list = all;
    broadcast_object_list(list, 2, g);
    RANK_REQUIRE(list == all);
    RANK_REQUIRE(scatter_object_list(g->rank() == 0 ? all : std::vector<std::string>(), 0, g) ==
                 own);
  })));
}

TEST_CASE("ranks that call different things all learn of both, and go on", "[mpi]") {
  CHECK(all_well(on_threads(3, [](const GroupPtr& g) {
    const auto both_ways = [&](const std::function<void()>& f, const std::string& a,
                               const std::string& b) {
      const std::string error = error_of(f);
      require(error.find(a) != std::string::npos && error.find(b) != std::string::npos,
              "'" + a + "' and '" + b + "' in: " + error);
      const Tensor t = full({2}, 1.0, TensorOptions(kFloat));
      all_reduce(t, ReduceOp::SUM, g);
      RANK_REQUIRE(values(t) == std::vector<double>{3, 3});
    };
    const bool odd = g->rank() == 2;
    for (const int64_t n : {int64_t{4}, kLarge}) {
      const std::string shape = "Float [" + std::to_string(n) + "]";
      const auto tensor = [&](ScalarType dtype, int64_t size) {
        return zeros({size}, TensorOptions(dtype));
      };
      both_ways([&] { all_reduce(tensor(kFloat, odd ? 2 * n : n), ReduceOp::SUM, g); },
                "rank 0 calls all_reduce(SUM) of " + shape,
                "rank 2 calls all_reduce(SUM) of Float [" + std::to_string(2 * n) + "]");
      both_ways([&] { all_reduce(tensor(odd ? kInt : kFloat, n), ReduceOp::SUM, g); },
                "rank 0 calls all_reduce(SUM) of " + shape,
                "rank 2 calls all_reduce(SUM) of Int [" + std::to_string(n) + "]");
      both_ways([&] { all_reduce(tensor(kFloat, n), odd ? ReduceOp::MAX : ReduceOp::SUM, g); },
                "rank 0 calls all_reduce(SUM) of " + shape,
                "rank 2 calls all_reduce(MAX) of " + shape);
      both_ways(
          [&] {
            if (odd) {
              barrier(g);
            } else {
              broadcast(tensor(kFloat, n), 0, g);
            }
          },
          "rank 0 calls broadcast from rank 0 of " + shape, "rank 2 calls barrier");
      both_ways([&] { broadcast(tensor(kFloat, n), odd ? 1 : 0, g); }, "broadcast from rank 0",
                "broadcast from rank 1");
      both_ways(
          [&] {
            std::vector<Tensor> outputs(3, tensor(kFloat, n));
            all_gather(outputs, tensor(kFloat, odd ? n + 1 : n), g);
          },
          "rank 2 gives " + std::to_string(n + 1), "which expects " + std::to_string(n));
    }
    both_ways(
        [&] {
          std::vector<Tensor> parts(3, zeros({odd ? 2 : 1}, TensorOptions(kFloat)));
          std::vector<Tensor> same(3, zeros({1}, TensorOptions(kFloat)));
          all_to_all(same, parts, g);
        },
        "rank 2 gives 2 elements to rank 0", "which expects 1");
  })));
}

TEST_CASE("arguments that make no sense are errors of the caller") {
  CHECK(all_well(on_threads(
      1,
      [](const GroupPtr& g) {
        const Tensor t = zeros({2}, TensorOptions(kFloat));
        const auto refuses = [](const std::function<void()>& f, const std::string& text) {
          const std::string error = error_of(f);
          require(error.find(text) != std::string::npos, "'" + text + "' in: " + error);
        };
        refuses([&] { all_reduce(Tensor(), ReduceOp::SUM, g); }, "[all_reduce] expected a tensor");
        refuses([&] { broadcast(t, 1, g); }, "rank 1 is not in the group of ranks [0]");
        refuses([&] { all_gather({t, t}, t, g); }, "[all_gather] expected 1 outputs");
        refuses([&] { all_gather({zeros({2}, TensorOptions(kLong))}, t, g); }, "one dtype");
        refuses([&] { send(t, 0, g); }, "[send] rank 0 cannot send to itself");
        refuses([&] { recv(t, 0, g); }, "[recv] rank 0 cannot receive from itself");
        refuses([&] { all_to_all_single(t, t, {3}, {2}, g); }, "expected 1 sizes with the sum 2");
      },
      {.backend = "single"})));
  CHECK_THROWS_WITH(make_backend("nonsense", {nullptr, 0, 1, ProcessGroup::kDefaultTimeout}),
                    Catch::Contains("there is no backend 'nonsense'") && Catch::Contains("single"));
  CHECK_THROWS_AS(register_backend("single", {}), ValueError);
}

TEST_CASE("a backend of somebody else's") {
  struct Mine final : distributed::Backend {
    using distributed::Backend::Backend;
    std::string name() const override { return "mine"; }
    void abort(const std::string&) override {}
    WorkPtr barrier(const CallOptions&) override {
      const auto work = std::make_shared<Work>();
      work->finish(nullptr);
      return work;
    }
  };
  static bool registered = false;
  if (!std::exchange(registered, true)) {
    register_backend(
        "mine", [](const BackendArguments& a) { return std::make_shared<Mine>(a.rank, a.size); });
  }
  CHECK(all_well(on_threads(2,
                            [](const GroupPtr& g) {
                              barrier(g);
                              const std::string error = error_of([&] {
                                all_reduce(zeros({1}, TensorOptions(kFloat)), ReduceOp::SUM, g);
                              });
                              RANK_REQUIRE(error ==
                                           "[all_reduce] the backend mine does not provide it");
                            },
                            {.backend = "mine"})));
}
