#include "aten/core/device_streams.h"
#include "tenon/ops/add.h"
#include "tenon/ops/mul.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/sum.h"
#include "tests/autograd/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

using Log = std::vector<std::string>;

intptr_t current_stream = 0;
Log waits;
int kept = 0;

intptr_t number(void* stream) { return reinterpret_cast<intptr_t>(stream); }
void* handle(intptr_t stream) { return reinterpret_cast<void*>(stream); }

/// Streams by number, of the meta device, whose operators need no kernels.
constexpr DeviceStreams kNumbered{
    [](Device) { return handle(current_stream); },
    [](Device, void* stream) { current_stream = number(stream); },
    [](Device, void* stream, Device, void* before) {
      waits.push_back(tenon::detail::concat(number(stream), " after ", number(before)));
    },
    [](const TensorBase&, void*) { ++kept; }};

struct Session {
  Session() {
    register_device_streams(kMeta, &kNumbered);
    current_stream = 0;
    waits.clear();
    kept = 0;
  }
  ~Session() { register_device_streams(kMeta, nullptr); }
};

template <class F>
Tensor on(intptr_t stream, F&& f) {
  const intptr_t before = std::exchange(current_stream, stream);
  Tensor result = f();
  current_stream = before;
  return result;
}

Tensor meta_leaf() { return ones({3}, Device("meta")).set_requires_grad(true); }

}  // namespace

TEST_CASE("A node runs on the stream of its forward call", "[engine]") {
  const Session session;
  const Tensor x = meta_leaf();
  const Tensor a = on(1, [&] { return x * 2; });
  const Tensor b = on(2, [&] { return a * 3; });
  const Tensor c = on(1, [&] { return b * 4; });
  std::vector<intptr_t> ran;
  for (const Tensor& t : {a, b, c})
    t.grad_fn()->add_pre_hook([&ran](const autograd::variable_list& grads) {
      ran.push_back(current_stream);
      return grads;
    });
  c.sum().backward();
  CHECK(ran == std::vector<intptr_t>{1, 2, 1});
  CHECK(waits == Log{"1 after 0", "2 after 1", "1 after 2", "0 after 1", "0 after 2"});
  CHECK(kept == 3);
  CHECK(current_stream == 0);
  CHECK(x.grad().defined());
}

TEST_CASE("Gradients from several streams meet on the node's", "[engine]") {
  const Session session;
  const Tensor x = meta_leaf();
  const Tensor root = on(3, [&] { return x * 1; });
  const Tensor left = on(1, [&] { return root * 2; });
  const Tensor right = on(2, [&] { return root * 3; });
  on(1, [&] { return left + right; }).sum().backward();
  CHECK(waits == Log{"1 after 0", "2 after 1", "3 after 2", "3 after 1", "0 after 1", "0 after 2",
                     "0 after 3"});
}

TEST_CASE("On one stream nothing waits", "[engine]") {
  const Session session;
  const Tensor x = meta_leaf();
  on(1, [&] {
    (x * 2).sum().backward();
    return Tensor();
  });
  CHECK(waits.empty());
  CHECK(kept == 0);
}

TEST_CASE("The caller's stream is current again after an error", "[engine]") {
  const Session session;
  const Tensor x = meta_leaf();
  const Tensor y = on(1, [&] { return x * 2; });
  y.register_hook([](const Tensor&) -> Tensor { throw Error("from a hook"); });
  CHECK_THROWS_WITH(y.sum().backward(), Contains("from a hook"));
  CHECK(current_stream == 0);
}
