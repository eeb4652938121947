// Operators and kernels registered while the program runs.
#include "aten/core/generator.h"
#include "aten/generated_support/tensor_factories.h"
#include "aten/registration/library.h"
#include "autograd/engine/node.h"
#include "tenon/ops/abs.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/ones.h"
#include "tenon/ops/zeros.h"

#include <map>
#include <thread>

#include "tests/aten/test_support.h"

using namespace tenon;
using namespace tenon::test;

namespace {

Tensor scale_cpu(const Tensor& self, double factor) { return self * factor; }

Tensor& add_one_(Tensor& self) {
  auto* p = self.data_ptr<float>();
  for (int64_t i = 0; i < self.numel(); ++i) p[i] += 1;
  return self;
}

std::tuple<Tensor, Tensor> halves(const Tensor& self, int64_t dim) {
  const int64_t n = self.size(dim) / 2;
  return {self.narrow(dim, 0, n).clone(), self.narrow(dim, n, n).clone()};
}

Library scale_library() {
  return Library("lib")
      .def("scale(Tensor self, float factor=2) -> Tensor")
      .impl("scale", DispatchKey::CPU, TENON_FN(scale_cpu));
}

using IntMap = std::map<int, int>;
using Scale = Tensor(const Tensor&, double);

}  // namespace

TEST_CASE("Library: define, implement, call by name typed and boxed") {
  const Library library = scale_library();
  const OperatorEntry& op = get_operator("lib::scale");
  CHECK(op.qualified_name() == "lib::scale");
  CHECK(std::string(op.info->schema) == "lib::scale(Tensor self, float factor=2) -> Tensor");

  const Tensor x = tensor({1., 2., 3.});
  CHECK(values(op.typed<Scale>().call(x, 3)) == std::vector<double>{3, 6, 9});
  CHECK(values(op.typed<Scale>()(x, -1)) == std::vector<double>{-1, -2, -3});

  Stack stack = {"below", TensorBase(x), 0.5};
  op.call_boxed(stack);
  REQUIRE(stack.size() == 2);
  CHECK(stack[0].to_str() == "below");
  CHECK(values(Tensor(stack[1].to_tensor())) == std::vector<double>{0.5, 1, 1.5});

  Stack few = {TensorBase(x)};
  check_error([&] { op.call_boxed(few); }, "[lib::scale] a boxed call needs 2 values, got 1");
  Stack wrong = {TensorBase(x), "three"};
  check_error<TypeError>(
      [&] { op.call_boxed(wrong); },
      "[lib::scale] argument 'factor': expected a value of type float, got string");
  Stack generated = {TensorBase(x), "one", Scalar(1)};
  check_error<TypeError>(
      [&] { get_operator("aten::add.Tensor").call_boxed(generated); },
      "[aten::add.Tensor] argument 'other': expected a value of type tensor, got string");
}

TEST_CASE("Library: a boxed kernel's results have their types") {
  Library library("lib");
  library.def("count(Tensor self) -> int");
  library.impl("count", DispatchKey::CPU,
               [](const OperatorEntry&, DispatchKeySet, Stack& stack) { stack.back() = 2.5; });
  const OperatorEntry& op = get_operator("lib::count");
  const std::string message =
      "[lib::count] result 1 of a boxed kernel: expected a value of type int, got float";
  check_error<TypeError>([&] { op.typed<int64_t(const Tensor&)>()(tensor({1.})); }, message);
  Stack stack = {TensorBase(tensor({1.}))};
  check_error<TypeError>([&] { op.call_boxed(stack); }, message);
}

TEST_CASE("Library: a namespace is an identifier") {
  for (const char* bad : {"", "a b", "2d", "a::b"}) {
    CAPTURE(bad);
    check_error<ValueError>([&] { Library{bad}; }, "the namespace must be an identifier, got '");
  }
}

TEST_CASE("Library: an operator lives as long as its library") {
  CHECK(find_operator("lib::scale") == nullptr);
  std::optional<Library> library = scale_library();
  const OperatorEntry& op = get_operator("lib::scale");
  const auto call = op.typed<Scale>();
  const Tensor x = tensor({1.});
  CHECK(values(call(x, 2)) == std::vector<double>{2});

  Library moved = std::move(*library);
  library.reset();
  CHECK(values(call(x, 2)) == std::vector<double>{2});
  moved = Library("lib2");
  CHECK(find_operator("lib::scale") == nullptr);
  check_error([&] { call(x, 2); }, "operator lib::scale");
  check_error([&] { call(x, 2); }, "is no more");

  const Library again = scale_library();
  CHECK(values(get_operator("lib::scale").typed<Scale>()(x, 4)) == std::vector<double>{4});
}

TEST_CASE("Library: in-place, out, several results, overloads") {
  Library library("lib");
  library.def("add_one_(Tensor(a!) self) -> Tensor(a!)")
      .impl("add_one_", kCPU, TENON_FN(add_one_))
      .def("halves(Tensor self, int dim=0) -> (Tensor, Tensor)")
      .impl("halves", DispatchKey::CompositeExplicit, TENON_FN(halves))
      .def("halves.swapped(Tensor self) -> (Tensor, Tensor)")
      .impl("halves.swapped", DispatchKey::CPU,
            [](const Tensor& self) {
              const auto [a, b] = halves(self, 0);
              return std::tuple(b, a);
            })
      .def("square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
      .impl("lib::square.out", DispatchKey::CPU,
            [](const OperatorEntry&, DispatchKeySet, Stack& stack) {
              Tensor out = stack.back().to_tensor();
              const Tensor self = stack[stack.size() - 2].to_tensor();
              out.copy_(self * self);
              stack.resize(stack.size() - 2);
              stack.emplace_back(TensorBase(out));
            });

  Tensor x = tensor({1., 2.});
  const int64_t version = x._version();
  Tensor& same = get_operator("lib::add_one_").typed<Tensor&(Tensor&)>()(x);
  CHECK(&same == &x);
  CHECK(values(x) == std::vector<double>{2, 3});
  CHECK(x._version() == version + 1);
  Stack stack = {TensorBase(x)};
  get_operator("lib::add_one_").call_boxed(stack);
  CHECK(stack.back().to_tensor().is_same(x));
  CHECK(values(x) == std::vector<double>{3, 4});

  using Two = std::tuple<Tensor, Tensor>;
  const auto [a, b] = get_operator("lib::halves").typed<Two(const Tensor&, int64_t)>()(x, 0);
  CHECK(values(a) == std::vector<double>{3});
  CHECK(values(b) == std::vector<double>{4});
  const auto [c, d] = get_operator("lib::halves.swapped").typed<Two(const Tensor&)>()(x);
  CHECK(values(c) == std::vector<double>{4});
  CHECK(find_operator("lib::halves", "swapped") == find_operator("lib::halves.swapped"));

  Tensor out = zeros({2});
  Tensor& written =
      get_operator("lib::square.out").typed<Tensor&(const Tensor&, Tensor&)>()(x, out);
  CHECK(&written == &out);
  CHECK(values(out) == std::vector<double>{9, 16});
}

TEST_CASE("Library: every type of argument arrives, typed and boxed") {
  std::string seen;
  Library library("lib");
  library.def(
      "all(Tensor[] ts, Tensor? t, Tensor?[] os, int i, int? oi, int[] is, int[]? ois, float f, "
      "float[]? fs, bool b, bool[2] bs, str s, str? os2, Scalar n, ScalarType d, ScalarType? od, "
      "Layout l, Device dev, MemoryFormat m, Generator? g) -> int");
  library.impl("all", DispatchKey::CompositeExplicit,
               [&seen](const std::vector<Tensor>& ts, std::optional<Tensor> t,
                       ArrayRef<std::optional<Tensor>> os, int64_t i, std::optional<int64_t> oi,
                       std::vector<int64_t> is, OptionalIntArrayRef ois, double f,
                       std::optional<ArrayRef<double>> fs, bool b, std::array<bool, 2> bs,
                       const std::string& s, std::optional<std::string_view> os2, Scalar n,
                       ScalarType d, std::optional<ScalarType> od, Layout, Device dev,
                       MemoryFormat m, std::optional<Generator> g) -> int64_t {
                 seen = detail::concat(ts.size(), t.has_value(), os.size(), os[1].has_value(), i,
                                       oi.value_or(-1), IntArrayRef(is), ois ? ois->size() : 99, f,
                                       fs ? fs->size() : 77, b, bs[0], bs[1], s, os2.value_or("-"),
                                       n, d, od.has_value(), dev, m, g.has_value());
                 return 42;
               });
  const Tensor x = ones({2});
  const std::vector<Tensor> list = {x, x};
  const std::vector<std::optional<Tensor>> options = {x, std::nullopt};
  const std::vector<int64_t> ints = {4, 5};
  const auto op =
      get_operator("lib::all")
          .typed<int64_t(TensorList, const std::optional<Tensor>&, ArrayRef<std::optional<Tensor>>,
                         int64_t, std::optional<int64_t>, IntArrayRef, OptionalIntArrayRef, double,
                         std::optional<ArrayRef<double>>, bool, std::array<bool, 2>,
                         std::string_view, std::optional<std::string_view>, const Scalar&,
                         ScalarType, std::optional<ScalarType>, Layout, Device, MemoryFormat,
                         std::optional<Generator>)>();
  CHECK(op(list, std::nullopt, options, 3, std::nullopt, ints, std::nullopt, 2.5, std::nullopt,
           true, {true, false}, "text", "more", 7, kDouble, kInt, kStrided, Device("cuda:1"),
           MemoryFormat::ChannelsLast, std::nullopt) == 42);
  const std::string wanted = detail::concat(
      2, false, 2, false, 3, -1, IntArrayRef(ints), 99, 2.5, 77, true, true, false, "text", "more",
      Scalar(7), kDouble, true, Device("cuda:1"), MemoryFormat::ChannelsLast, false);
  CHECK(seen == wanted);
  seen.clear();
  Stack stack = {Value::Tensors{x, x},
                 Value(),
                 Value::Tensors{x, TensorBase()},
                 3,
                 Value(),
                 IntArrayRef(ints),
                 Value(),
                 2.5,
                 Value(),
                 true,
                 Value::Bools{true, false},
                 "text",
                 "more",
                 Scalar(7),
                 kDouble,
                 kInt,
                 kStrided,
                 Device("cuda:1"),
                 MemoryFormat::ChannelsLast,
                 Value()};
  get_operator("lib::all").call_boxed(stack);
  CHECK(stack.back().to_int() == 42);
  CHECK(seen == wanted);
}

TEST_CASE("Library: a function of another type is refused by name, place and type") {
  Library library("lib");
  library.def("f(Tensor self, int n, Tensor(a!) out) -> Tensor");
  const auto refused = [&](auto function, const std::string& text) {
    check_error<TypeError>([&] { library.impl("f", DispatchKey::CPU, function); }, text);
  };
  refused([](const Tensor& a, int, Tensor&) { return a; },
          "argument 2, 'n', is int in the schema, so its C++ type is int64_t; the function takes "
          "int\n  lib::f(Tensor self, int n, Tensor(a!) out) -> Tensor");
  refused([](const Tensor& a, int64_t, const Tensor&) { return a; },
          "argument 3, 'out', is Tensor(a!) in the schema, so its C++ type is Tensor&; the "
          "function takes const Tensor&");
  refused([](const Tensor& a, int64_t) { return a; },
          "the schema has 3 arguments, the function takes 2");
  refused([](const Tensor& a, int64_t n, Tensor&) { return std::vector<Tensor>(n, a); },
          "the schema returns Tensor, which is Tensor in C++; the function returns "
          "std::vector<Tensor>");
  refused([](const Tensor& a, IntMap, Tensor&) { return a; }, "std::map<int, int");
  check_error<TypeError>(
      [&] { library.impl("f", DispatchKey::CPU, [](const Tensor& a, int, Tensor&) { return a; }); },
      "[lib::f] kernel for CPU (");
  check_error<TypeError>(
      [&] { library.impl("f", DispatchKey::CPU, [](const Tensor& a, int, Tensor&) { return a; }); },
      "test_library.cpp:");
  check_error<TypeError>([&] { get_operator("lib::f").typed<Tensor(const Tensor&)>(); },
                         "[lib::f]: the schema has 3 arguments, the function takes 1");
  // What was refused left nothing behind.
  library.impl("f", DispatchKey::CPU, [](const Tensor& a, int64_t, Tensor&) { return a; });
}

TEST_CASE("Library: schemas that do not parse, duplicates, unknown operators and keys") {
  Library library("lib");
  check_error<ValueError>([&] { library.def("f(Tensr self) -> Tensor"); },
                          "column 3: unknown type `Tensr`; did you mean 'Tensor'?");
  check_error<ValueError>([&] { library.def("other::f(Tensor self) -> Tensor"); },
                          "another namespace");
  check_error<ValueError>([&] { library.def("f(Tensor(a!) x, Tensor(b!) y) -> Tensor(b!)"); },
                          "must be the argument that is written in the same place");
  CHECK(find_operator("lib::f") == nullptr);

  library.def("f(Tensor self) -> Tensor");
  check_error<ValueError>([&] { library.def("f(Tensor self) -> Tensor"); }, "operator lib::f (");
  check_error<ValueError>([] { Library("lib"); }, "namespace lib (");
  check_error<ValueError>([] { Library("aten"); }, "use Library::FRAGMENT");
  Library fragment("lib", Library::FRAGMENT);
  check_error<ValueError>([&] { fragment.def("f(Tensor self) -> Tensor"); },
                          "is defined already by");
  const auto identity = [](const Tensor& self) { return self.clone(); };
  library.impl("f", DispatchKey::CPU, identity);
  Library kernels("lib", Library::IMPL);
  check_error<ValueError>([&] { kernels.impl("f", DispatchKey::CPU, identity); },
                          "the key has a kernel already, registered at ");
  library.def("first(Tensor self) -> Tensor");
  check_error<ValueError>([&] { kernels.impl("firts", DispatchKey::CPU, identity); },
                          "no operator 'lib::firts'; did you mean 'lib::first'?");
  check_error<ValueError>([&] { kernels.impl("aten::mm", DispatchKey::CPU, identity); },
                          "not of this library's namespace");
  check_error<ValueError>([&] { kernels.def("g(Tensor self) -> Tensor"); },
                          "of kind IMPL defines no operators");
  check_error<ValueError>([&] { parse_dispatch_key("Cpu"); }, "did you mean 'CPU'?");
  CHECK(parse_dispatch_key("CompositeImplicit") == DispatchKey::CompositeImplicit);
}

TEST_CASE("Library: kernels by backend, composite ones for the rest, none is an error") {
  Library library("lib");
  library.def("where_am_i(Tensor self) -> str");
  const auto op = get_operator("lib::where_am_i").typed<std::string(const Tensor&)>();
  const Tensor cpu = ones({1}), meta = empty({1}, Device(kMeta));
  check_error<NotImplementedError>(
      [&] { op(cpu); }, "Could not run 'lib::where_am_i' with arguments from the 'CPU' backend. "
                        "The operator is available for: no backend");
  library.impl("where_am_i", DispatchKey::CPU, [](const Tensor&) { return std::string("cpu"); });
  CHECK(op(cpu) == "cpu");
  check_error<NotImplementedError>([&] { op(meta); }, "is available for: CPU");
  {
    Library more("lib", Library::IMPL, DispatchKey::CompositeExplicit);
    more.impl("where_am_i", [](const Tensor&) { return std::string("composite"); });
    CHECK(op(meta) == "composite");
    CHECK(op(cpu) == "cpu");
  }
  check_error<NotImplementedError>([&] { op(meta); }, "is available for: CPU");
  check_error<NotImplementedError>([&] { op(Tensor()); },
                                   "it needs at least one defined tensor argument");

  library.def("make(int n, *, Device? device=None) -> Tensor");
  library.impl("make", DispatchKey::Meta,
               [](int64_t n, std::optional<Device> device) { return empty({n}, *device); });
  const auto make = get_operator("lib::make").typed<Tensor(int64_t, std::optional<Device>)>();
  CHECK(make(3, Device(kMeta)).is_meta());
  check_error<NotImplementedError>([&] { make(3, std::nullopt); }, "from the 'CPU' backend");
}

TEST_CASE("Library: a generated operator's kernel is replaced and comes back") {
  const Tensor x = tensor({1., -2.});
  {
    Library library("aten", Library::IMPL);
    int calls = 0;
    library.impl("abs", DispatchKey::CPU, [&calls](const Tensor& self) {
      ++calls;
      return self.clone();
    });
    CHECK(values(x.abs()) == std::vector<double>{1, -2});
    CHECK(values(tenon::abs(x)) == std::vector<double>{1, -2});
    CHECK(calls == 2);
    // The generated autograd layer still runs above it.
    CHECK(x.clone().requires_grad_().abs().grad_fn()->name() == "AbsBackward0");
  }
  CHECK(values(x.abs()) == std::vector<double>{1, 2});

  const Tensor y = get_operator("aten::add.Tensor")
                       .typed<Tensor(const Tensor&, const Tensor&, const Scalar&)>()
                       .call(x, x, 2);
  CHECK(values(y) == std::vector<double>{3, -6});
}

TEST_CASE("Library: plain pointers and objects with state are kernels too") {
  Library library("lib");
  library.def("a(Tensor self) -> Tensor").def("b(Tensor self) -> Tensor");
  Tensor (*pointer)(const Tensor&) = [](const Tensor& self) { return self + 1; };
  const double amount = 5;
  library.impl("a", DispatchKey::CPU, pointer);
  library.impl("b", DispatchKey::CPU, [amount](const Tensor& self) { return self + amount; });
  const Tensor x = ones({1});
  CHECK(values(get_operator("lib::a").typed<Tensor(const Tensor&)>()(x)) == std::vector<double>{2});
  CHECK(values(get_operator("lib::b").typed<Tensor(const Tensor&)>()(x)) == std::vector<double>{6});
}

TEST_CASE("Library: a boxed kernel that leaves the wrong number of values is an error") {
  Library library("lib");
  library.def("f(Tensor self) -> Tensor");
  library.impl("f", DispatchKey::CPU,
               [](const OperatorEntry&, DispatchKeySet, Stack& stack) { stack.emplace_back(1); });
  check_error([] { get_operator("lib::f").typed<Tensor(const Tensor&)>()(ones({1})); },
              "must leave the operator's 1 result on the stack in place of the arguments, it left "
              "2 values");
}

TEST_CASE("Library: definitions that call a function are composite") {
  Library library("lib");
  library.def("twice(Tensor self) -> Tensor", [](const Tensor& self) { return self + self; });
  CHECK(values(get_operator("lib::twice").typed<Tensor(const Tensor&)>()(ones({1}))) ==
        std::vector<double>{2});
  check_error<TypeError>(
      [&] { library.def("thrice(Tensor self) -> Tensor", [](int64_t n) { return n; }); },
      "[lib::thrice]");
  CHECK(find_operator("lib::thrice") == nullptr);
}

TEST_CASE("Library: threads register, call and unregister at the same time") {
  Library library("lib");
  library.def("f(Tensor self) -> int");
  library.impl("f", DispatchKey::CompositeExplicit, [](const Tensor&) -> int64_t { return 0; });
  const auto op = get_operator("lib::f").typed<int64_t(const Tensor&)>();
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      const Tensor x = ones({1});
      while (!stop) {
        const int64_t got = op(x);
        if (got != 0 && got != 1 && got != 2) ++wrong;
        if (values(x + x) != std::vector<double>{2}) ++wrong;
      }
    });
  }
  const int64_t two = 2;
  for (int round = 0; round < 200; ++round) {
    Library kernels("lib", Library::IMPL);
    kernels.impl("f", DispatchKey::CPU, [](const Tensor&) -> int64_t { return 1; });
    Library own("mine" + std::to_string(round));
    own.def("g(Tensor self) -> int");
    Library boxed("lib", Library::IMPL);
    boxed.impl("f", DispatchKey::Meta, [two](const Tensor&) { return two; });
  }
  stop = true;
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(op(ones({1})) == 0);
}
