// Golden values: PyTorch 2.15.0, CPU, after torch.manual_seed(0).
#include "aten/core/generator.h"
#include "tenon/ops/bernoulli.h"
#include "tenon/ops/empty.h"
#include "tenon/ops/full.h"
#include "tenon/ops/rand.h"
#include "tenon/ops/randint.h"
#include "tenon/ops/randn.h"
#include "tenon/ops/randperm.h"
#include "tests/aten/test_support.h"

using namespace tenon;
using tenon::test::check_error;
using tenon::test::close;
using tenon::test::values;

namespace {

std::vector<double> seeded(const std::function<Tensor()>& f) {
  manual_seed(0);
  return values(f());
}

}  // namespace

TEST_CASE("rand gives PyTorch's stream") {
  CHECK(close(seeded([] { return tenon::rand({4}); }),
              {0.49625658988952637, 0.7682217955589294, 0.08847743272781372, 0.13203048706054688}));
  CHECK(close(seeded([] { return tenon::rand({3}, kDouble); }),
              {0.9700530018065531, 0.707819864399788, 0.45938294312745087}, 1e-15));
  CHECK(close(seeded([] { return tenon::rand({3}, kHalf); }),
              {0.496337890625, 0.76806640625, 0.0885009765625}));
  CHECK(close(seeded([] { return tenon::rand({3}, kBFloat16); }),
              {0.49609375, 0.76953125, 0.08837890625}));
  CHECK(close(seeded([] {
                Tensor t = tenon::empty({5});
                return t.uniform_(-1, 3);
              }),
              {0.9850263595581055, 2.0728871822357178, -0.6460902690887451, -0.4718780517578125,
               0.2296912670135498}));
}

TEST_CASE("other orders are filled as they lie in memory") {
  CHECK(close(seeded([] {
                Tensor t = tenon::empty({2, 3}).t();
                return t.uniform_();
              }),
              {0.49625658988952637, 0.13203048706054688, 0.7682217955589294, 0.30742281675338745,
               0.08847743272781372, 0.6340786814689636}));
  const auto normal = seeded([] {
    Tensor t = tenon::empty({5, 4}).t();
    return t.normal_();
  });
  CHECK(close({normal[0], normal[1], normal[5]},
              {1.5409960746765137, -1.0845223665237427, -0.293428897857666}, 1e-7));
}

TEST_CASE("bulk and single draws agree") {
  manual_seed(7);
  const auto bulk = values(tenon::rand({3000}));
  manual_seed(7);
  std::vector<double> single;
  for (int i = 0; i < 3000; ++i) single.push_back(tenon::rand({1}).item<float>());
  CHECK(close(bulk, single));
  manual_seed(7);
  const auto doubles = values(tenon::rand({3000}, kDouble));
  manual_seed(7);
  for (int i = 0; i < 3000; ++i) single[i] = tenon::rand({1}, kDouble).item<double>();
  CHECK(close(doubles, single));
}

TEST_CASE("randn below 16 elements") {
  CHECK(close(seeded([] { return tenon::randn({5}); }),
              {1.5409960746765137, -0.293428897857666, -2.1787893772125244, 0.5684312582015991,
               -1.0845223665237427},
              1e-7));
  CHECK(close(seeded([] { return tenon::randn({5}, kDouble); }),
              {1.5409961082440433, -0.2934289057609464, -2.1787893820745574, 0.5684312772806678,
               -1.084522342424021},
              1e-15));
  manual_seed(0);
  tenon::randn({7});
  tenon::randn({20});
  INFO("the second of a pair is kept for the next call");
  CHECK(tenon::randn({1}).item<float>() == Approx(0.8380263447761536).epsilon(1e-6));
}

TEST_CASE("randn from 16 elements on") {
  CHECK(close(seeded([] { return tenon::randn({20}); }),
              {-1.1258398294448853, -1.152360200881958,  -0.2505785822868347, -0.4338788092136383,
               0.5988394618034363,  -1.5550950765609741, -0.3413603901863098, 1.85300612449646,
               0.46809640526771545, -0.1577124446630478, 1.4436601400375366,  0.26604941487312317,
               1.3893661499023438,  1.586334228515625,   0.946298360824585,   -0.843676745891571,
               0.9318265914916992,  1.2590092420578003,  2.0049805641174316,  0.05373690277338028},
              1e-6));
  CHECK(
      close(seeded([] { return tenon::randn({20}, kDouble); }),
            {-2.310411800234176,    -0.3732508612577643, -1.0608166785462863, 0.9995093547811761,
             -0.019964750907762653, 0.2102998901016947,  0.17718935139366584, -0.830510051008449,
             0.23871805816817063,   0.7335283685272841,  -1.3218818291421377, 1.3148113651971234,
             -0.6870036940435463,   1.4880743158106724,  -0.4484158047114511, -0.8910030351707375,
             0.6748575435940039,    1.0468653769814655,  0.15429517864658948, -0.7498915228391941},
            1e-13));
  CHECK(close(seeded([] { return tenon::randn({20}, kHalf); }),
              {-1.1259765625,   -1.15234375,   -0.25048828125, -0.433837890625, -1.3525390625,
               -1.6962890625,   0.56689453125, 0.79345703125,  0.5986328125,    -1.5546875,
               -0.34130859375,  1.8525390625,  0.75,           -0.58544921875,  -0.17333984375,
               0.1834716796875, 1.3896484375,  1.5859375,      0.9462890625,    -0.84375},
              1e-3));
  manual_seed(0);
  const auto last = values(tenon::randn({1000003}));
  CHECK(close(std::vector<double>(last.end() - 4, last.end()),
              {-0.30811306834220886, 0.3412541151046753, 0.046581070870161057, 1.1610534191131592},
              1e-5));
}

TEST_CASE("integers") {
  CHECK(close(seeded([] { return tenon::randint(10, {10}); }), {4, 9, 3, 0, 3, 9, 7, 3, 7, 3}));
  CHECK(close(seeded([] { return tenon::randint(int64_t{1} << 40, {3}); }),
              {741280623151, 506137267392, 291447657211}));
  CHECK(close(seeded([] { return tenon::randint((1 << 28) - 1, {3}); }),
              {209652404, 130329144, 118924928}));
  CHECK(close(seeded([] { return tenon::randint(1 << 28, {3}); }),
              {130329135, 136432832, 195187451}));
  CHECK(close(seeded([] { return tenon::randint(-5, 5, {5}, kFloat); }), {-1, 4, -2, -5, -2}));
  CHECK(close(seeded([] { return tenon::randperm(10); }), {4, 1, 7, 5, 3, 9, 0, 8, 6, 2}));
  const auto random = [](ScalarType t) {
    return seeded([t] {
      Tensor r = tenon::empty({3}, t);
      return r.random_();
    });
  };
  CHECK(close(random(kFloat), {8325664, 12888472, 1484222}));
  CHECK(close(random(kDouble), {8737460674930124, 6375474555111176, 4137753702977065}));
  CHECK(close(random(kInt), {209652396, 398764591, 924231285}));
  CHECK(close(random(kByte), {172, 47, 117}));
  CHECK(close(random(kChar), {44, 47, 117}));
  CHECK(close(random(kBool), {0, 1, 1}));
  CHECK(close(random(kHalf), {1277, 1017, 1661}));
}

TEST_CASE("bernoulli") {
  const std::vector<double> doubles{0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0};
  const std::vector<double> floats{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1};
  CHECK(close(seeded([] {
                Tensor t = tenon::empty({20});
                return t.bernoulli_(0.3);
              }),
              doubles));
  CHECK(close(seeded([] { return tenon::bernoulli(tenon::full({20}, 0.3)); }), floats));
  CHECK(close(seeded([] { return tenon::bernoulli(tenon::full({20}, 0.3, kDouble)); }), doubles));
  manual_seed(0);
  Tensor t = tenon::empty({2001});
  t.bernoulli_(0.3);
  CHECK(t.sum().item<float>() == 616);
  CHECK(close(values(tenon::rand({2})), {0.877499520778656, 0.06303757429122925}));
}

TEST_CASE("bernoulli takes each element's own probability, however the tensor lies") {
  const Tensor p = tenon::rand({6, 10}).lt(0.5).to(kFloat);
  Tensor turned = tenon::empty({10, 6}).t(), apart = tenon::empty({12, 10}).slice(0, 0, 12, 2);
  CHECK(turned.bernoulli_(p).equal(p));
  CHECK(apart.bernoulli_(p).equal(p));
}

TEST_CASE("a generator of one's own") {
  Generator g = make_generator(kCPU, 5);
  CHECK(close(values(tenon::randn({3}, g)),
              {-0.4867807626724243, -0.6038215756416321, -0.5580962300300598}, 1e-6));
}

TEST_CASE("errors of random operators") {
  Tensor t = tenon::empty({3});
  Tensor i = tenon::empty({3}, kInt);
  check_error([&] { t.uniform_(2, 1); },
              "uniform_ expects to return a [from, to) range, but found from=2 > to=1");
  check_error([&] { t.normal_(0, -1); }, "normal expects std >= 0.0, but found std -1");
  check_error([&] { t.bernoulli_(2); }, "bernoulli_ expects p to be in [0, 1], but got p=2");
  check_error([&] { tenon::randint(0, {3}); },
              "random_ expects 'from' to be less than 'to', but got from=0 >= to=0");
  check_error<NotImplementedError>([&] { i.uniform_(); }, "[uniform_] is not implemented for Int");
  check_error<NotImplementedError>([&] { i.normal_(); }, "[normal_] is not implemented for Int");
  check_error([&] { tenon::randperm(-1); },
              "Trying to create tensor with negative dimension -1: [-1]");
}
