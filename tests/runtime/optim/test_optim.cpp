#include "runtime/optim/optim.h"

#include <catch2/catch.hpp>

#include "aten/core/thread_state.h"
#include "tenon/ops/view_as_complex.h"
#include "tenon/ops/view_as_real.h"
#include "tests/runtime/values.h"

using namespace tenon;

namespace {

/// The tensors that are kept of a parameter, with its shape.
std::vector<Tensor> moments_of(const optim::Optimizer& optimizer, const Tensor& p) {
  std::vector<Tensor> moments;
  for (const optim::Field& field : optimizer.state().at(p.unsafe_impl())->fields()) {
    if (field.kind == optim::Field::Kind::kMoment && std::get<Tensor*>(field.value)->defined())
      moments.push_back(*std::get<Tensor*>(field.value));
  }
  return moments;
}

int64_t steps_of(const optim::Optimizer& optimizer, const Tensor& p) {
  return *std::get<int64_t*>(optimizer.state().at(p.unsafe_impl())->fields()[0].value);
}

/// Some steps from the same start on a function whose gradient changes; the parameters afterwards.
template <class Optimizer, class Options>
std::vector<double> train(const Options& options, ScalarType dtype = kDouble, int steps = 4) {
  Tensor p = vector_of({1, -2, 3}, dtype);
  p.requires_grad_();
  Optimizer optimizer({p}, options);
  const Tensor weights = vector_of({1, 0.5, -0.25}, dtype);
  for (int i = 0; i < steps; ++i) {
    optimizer.zero_grad();
    (p * p * weights + p * i).sum().backward();
    optimizer.step();
  }
  return values(p);
}

/// Numbers of states, such as NAdam's mu_product, have float64 while it lives, as the expected
/// values.
struct DoubleDefault {
  DoubleDefault() { set_default_dtype(kDouble); }
  ~DoubleDefault() { set_default_dtype(before); }
  const ScalarType before = get_default_dtype();
};

auto close_to(std::vector<double> expected, double epsilon = 1e-12) {
  return Catch::Matchers::Approx<double>(std::move(expected)).epsilon(epsilon);
}

}  // namespace

// The expected numbers are what PyTorch 2.15 gives for the same program.

TEST_CASE("SGD takes PyTorch's steps") {
  using optim::SGD, optim::SGDOptions;
  CHECK_THAT(train<SGD>(SGDOptions(0.1)), close_to({-0.11440000000000004, -1.8732, 3.02626875}));
  CHECK_THAT(train<SGD>(SGDOptions(0.1).momentum(0.9)),
             close_to({-1.1476000000000002, -1.3476, 3.48335625}));
  CHECK_THAT(train<SGD>(SGDOptions(0.1).momentum(0.9).dampening(0.5).weight_decay(0.01)),
             close_to({-0.48339519894987504, -1.31312402450025, 3.476947362150375}));
  CHECK_THAT(train<SGD>(SGDOptions(0.1).momentum(0.9).nesterov(true).weight_decay(0.1)),
             close_to({-1.464986067899, -1.337780214922, 3.1020120801280004}));
  CHECK_THAT(train<SGD>(SGDOptions(0.1).momentum(0.9), kFloat),
             close_to({-1.1476, -1.3476, 3.48335625}, 1e-6));
  CHECK_THAT(train<SGD>(SGDOptions(0.1).momentum(0.9), kBFloat16),
             close_to({-1.1476, -1.3476, 3.48335625}, 0.03));
}

TEST_CASE("Adam takes PyTorch's steps") {
  using optim::Adam, optim::AdamOptions;
  CHECK_THAT(train<Adam>(AdamOptions(0.1)),
             close_to({0.601749139390275, -1.7259505170533413, 3.23353713095286}));
  CHECK_THAT(train<Adam>(AdamOptions(0.1).weight_decay(0.1).betas({0.8, 0.99}).eps(1e-3)),
             close_to({0.5956939965091556, -1.7243478256762734, 3.1420772193254995}));
  CHECK_THAT(train<Adam>(AdamOptions(0.1).amsgrad(true)),
             close_to({0.601749139390275, -1.7259505170533413, 3.23353713095286}));
  CHECK_THAT(train<Adam>(AdamOptions(0.1), kFloat),
             close_to({0.6017491, -1.7259505, 3.2335371}, 1e-6));
}

TEST_CASE("AdamW takes PyTorch's steps") {
  using optim::AdamW, optim::AdamWOptions;
  CHECK_THAT(train<AdamW>(AdamWOptions(0.1).weight_decay(0.1)),
             close_to({0.5681429910460645, -1.6569769287539595, 3.1056746689332866}));
  CHECK_THAT(train<AdamW>(AdamWOptions(0.1).amsgrad(true)),
             close_to({0.5983382269705512, -1.718953672474736, 3.220580189703347}));
}

TEST_CASE("RMSprop takes PyTorch's steps") {
  using optim::RMSprop, optim::RMSpropOptions;
  CHECK_THAT(train<RMSprop>(RMSpropOptions(0.05), kDouble, 7),
             close_to({-1.2863305511440268, -2.771457321804556, 2.2875469601950567}));
  CHECK_THAT(
      train<RMSprop>(
          RMSpropOptions(0.05).alpha(0.9).eps(0.001).weight_decay(0.1).momentum(0.8).centered(true),
          kDouble, 7),
      close_to({-1.5662359507159287, -1.989375824702537, 2.430691848299652}));
  CHECK_THAT(train<RMSprop>(RMSpropOptions(0.05).centered(true).maximize(true), kDouble, 7),
             close_to({3.6823485947464123, -2.0999363842825733, 4.049038286399112}));
}

TEST_CASE("Adagrad takes PyTorch's steps") {
  using optim::Adagrad, optim::AdagradOptions;
  CHECK_THAT(train<Adagrad>(AdagradOptions(0.1), kDouble, 7),
             close_to({0.5025462426980131, -2.1106478157130275, 2.8263011740822583}));
  CHECK_THAT(train<Adagrad>(AdagradOptions(0.1)
                                .lr_decay(0.1)
                                .weight_decay(0.1)
                                .initial_accumulator_value(0.5)
                                .eps(0.001)
                                .maximize(true),
                            kDouble, 7),
             close_to({1.4062934444027142, -1.9556991128898384, 3.0618389223702462}));
}

TEST_CASE("Adadelta takes PyTorch's steps") {
  using optim::Adadelta, optim::AdadeltaOptions;
  CHECK_THAT(train<Adadelta>(AdadeltaOptions(), kDouble, 7),
             close_to({0.9648449135068415, -2.0101831544122866, 2.9835942890704814}));
  CHECK_THAT(
      train<Adadelta>(AdadeltaOptions(0.5).rho(0.8).eps(0.001).weight_decay(0.1).maximize(true),
                      kDouble, 7),
      close_to({1.4104435492072973, -1.8575677495071237, 3.1476298354566574}));
}

TEST_CASE("Adamax takes PyTorch's steps") {
  using optim::Adamax, optim::AdamaxOptions;
  CHECK_THAT(train<Adamax>(AdamaxOptions(), kDouble, 7),
             close_to({0.9891939746405009, -1.9966895040294232, 3.0015378820450143}));
  CHECK_THAT(train<Adamax>(
                 AdamaxOptions(0.05).betas({0.8, 0.9}).eps(0.001).weight_decay(0.1).maximize(true),
                 kDouble, 7),
             close_to({1.2766371174451867, -2.059172444477564, 2.9527526578073973}));
}

TEST_CASE("NAdam takes PyTorch's steps") {
  const DoubleDefault numbers;
  using optim::NAdam, optim::NAdamOptions;
  CHECK_THAT(train<NAdam>(NAdamOptions(), kDouble, 7),
             close_to({0.9863054912363154, -2.0034751541176123, 2.994179859646683}));
  CHECK_THAT(train<NAdam>(NAdamOptions(0.05)
                              .betas({0.8, 0.9})
                              .eps(0.001)
                              .weight_decay(0.1)
                              .momentum_decay(0.1)
                              .maximize(true),
                          kDouble, 7),
             close_to({1.377258302817478, -1.8855771035679103, 3.1242076601125244}));
  CHECK_THAT(
      train<NAdam>(NAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true), kDouble, 7),
      close_to({0.6307047168528106, -2.026657343576966, 2.7513673076097014}));
}

TEST_CASE("RAdam takes PyTorch's steps") {
  using optim::RAdam, optim::RAdamOptions;
  CHECK_THAT(train<RAdam>(RAdamOptions(0.05), kDouble, 7),
             close_to({0.2875865320397804, -1.7952498264563646, 3.108787588331414}));
  CHECK_THAT(train<RAdam>(
                 RAdamOptions(0.05).betas({0.8, 0.99}).eps(0.001).weight_decay(0.1).maximize(true),
                 kDouble, 7),
             close_to({1.8482969713227668, -2.1658278714036063, 2.8653974235319177}));
  CHECK_THAT(
      train<RAdam>(RAdamOptions(0.05).weight_decay(0.1).decoupled_weight_decay(true), kDouble, 7),
      close_to({0.2685216786334085, -1.7343870626931936, 2.999770151050369}));
}

TEST_CASE("ASGD takes PyTorch's steps") {
  const DoubleDefault numbers;
  using optim::ASGD, optim::ASGDOptions;
  CHECK_THAT(train<ASGD>(ASGDOptions(0.05), kDouble, 7),
             close_to({-0.41318235969016387, -2.363352317184123, 2.47109597318274}));
  CHECK_THAT(
      train<ASGD>(ASGDOptions(0.05).lambd(0.01).alpha(0.5).t0(2).weight_decay(0.1).maximize(true),
                  kDouble, 7),
      close_to({3.1110793412261586, -1.581881907748987, 3.4128041281270174}));
}

TEST_CASE("Rprop takes PyTorch's steps") {
  using optim::Rprop, optim::RpropOptions;
  CHECK_THAT(train<Rprop>(RpropOptions(), kDouble, 7),
             close_to({0.8708409600000001, -2.010208, 2.9897919999999996}));
  CHECK_THAT(
      train<Rprop>(RpropOptions(0.05).etas({0.4, 1.5}).step_sizes({0.01, 0.1}).maximize(true),
                   kDouble, 7),
      close_to({1.6250000000000004, -2.035, 3.1174999999999997}));
}

namespace {

/// A complex parameter after three steps, as pairs of real numbers.
template <class Optimizer, class Options>
std::vector<double> train_complex(const Options& options) {
  const auto complex = [](std::vector<double> parts) {
    return view_as_complex(vector_of(parts, kDouble).view({2, 2}));
  };
  Tensor p = complex({1, 2, -3, 0.5});
  p.requires_grad_();
  Optimizer optimizer({p}, options);
  for (int i = 1; i <= 3; ++i) {
    p.mutable_grad() = complex({0.5, -1, 2, 0.25}) * i;
    optimizer.step();
  }
  for (const Tensor& moment : moments_of(optimizer, p)) CHECK(moment.is_complex());
  return values(view_as_real(p.detach()).view({4}));
}

}  // namespace

TEST_CASE("complex parameters take PyTorch's steps") {
  const DoubleDefault numbers;
  CHECK_THAT(train_complex<optim::SGD>(optim::SGDOptions(0.1).momentum(0.9).weight_decay(0.1)),
             close_to({0.4717739999999999, 2.833968, -4.723557, 0.23588699999999996}));
  CHECK_THAT(
      train_complex<optim::Adam>(optim::AdamOptions(0.1).amsgrad(true)),
      close_to({0.7076816791153657, 2.292318322938319, -3.292318323965161, 0.20768168322273511}));
  CHECK_THAT(
      train_complex<optim::AdamW>(optim::AdamWOptions(0.1)),
      close_to({0.7049810963127292, 2.2860279027383466, -3.2830309027638838, 0.20647960091487993}));
  CHECK_THAT(
      train_complex<optim::RMSprop>(optim::RMSpropOptions(0.1).centered(true).momentum(0.5)),
      close_to({-2.927936717391652, 5.92793697745966, -6.92793710749368, -3.427936197255763}));
  CHECK_THAT(
      train_complex<optim::Adagrad>(optim::AdagradOptions(0.1).initial_accumulator_value(0.5)),
      close_to({0.7916720784953228, 2.245713804338479, -3.2624489376391548, 0.34723643215351346}));
  CHECK_THAT(
      train_complex<optim::Adadelta>(optim::AdadeltaOptions(1.0)),
      close_to({0.9879280989044481, 2.0120720390189333, -3.012072073500746, 0.4879286505360937}));
  CHECK_THAT(
      train_complex<optim::Adamax>(optim::AdamaxOptions(0.1)),
      close_to({0.7546805237125979, 2.245319477898993, -3.245319478704789, 0.2546805269357802}));
  CHECK_THAT(
      train_complex<optim::NAdam>(optim::NAdamOptions(0.1)),
      close_to({0.7018802008537801, 2.298119801256701, -3.298119802311941, 0.20188020507474172}));
  CHECK_THAT(
      train_complex<optim::RAdam>(optim::RAdamOptions(0.1)),
      close_to({0.7701786754709652, 2.4596426490580696, -3.9192852981161392, 0.3850893377354826}));
  CHECK_THAT(
      train_complex<optim::ASGD>(optim::ASGDOptions(0.1)),
      close_to({0.6999750004403051, 2.599930001219355, -4.199890001913718, 0.34998750022015257}));
  CHECK_THAT(train_complex<optim::Rprop>(optim::RpropOptions(0.1)),
             close_to({0.636, 2.3640000000000003, -3.3640000000000003, 0.13600000000000004}));

  Tensor p = vector_of({1}, kDouble);
  p.requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  p.mutable_grad() = p.detach().to(kComplexDouble);
  CHECK_THROWS_WITH(optimizer.step(),
                    Catch::Contains("the gradient of a complex parameter must be complex, of a "
                                    "real one real, got ComplexDouble for Double"));
}

TEST_CASE("complex parameters of any memory order") {
  const auto run = [](Tensor p, const Tensor& grad) {
    p.requires_grad_();
    optim::Adam optimizer({p}, optim::AdamOptions(0.1).amsgrad(true));
    for (int i = 0; i < 3; ++i) {
      p.mutable_grad() = grad;
      optimizer.step();
    }
    CHECK(moments_of(optimizer, p)[0].strides() == p.strides());
    return values(view_as_real(p.detach()));
  };
  const Tensor start =
      view_as_complex(vector_of({1, 2, -3, 0.5, 4, -1, 2, 2}, kDouble).view({2, 2, 2}));
  const Tensor grad =
      view_as_complex(vector_of({0.5, -1, 2, 0.25, 1, 1, -2, 3}, kDouble).view({2, 2, 2}));
  const Tensor turned = start.t().contiguous().t();
  REQUIRE(!turned.is_contiguous());
  CHECK(run(turned, grad) == run(start.clone(), grad));
}

TEST_CASE("options outside of their range are refused") {
  const std::vector<Tensor> one{vector_of({1})};
  CHECK_THROWS_WITH(optim::RMSprop(one, optim::RMSpropOptions().alpha(-1)),
                    "Invalid alpha value: -1");
  CHECK_THROWS_WITH(optim::Adadelta(one, optim::AdadeltaOptions().rho(2)), "Invalid rho value: 2");
  CHECK_THROWS_WITH(optim::RAdam(one, optim::RAdamOptions().betas({1, 0})),
                    "Invalid beta parameter at index 0: 1");
  CHECK_THROWS_WITH(optim::Rprop(one, optim::RpropOptions().etas({2, 1})),
                    "Invalid eta values: 2, 1");
}

TEST_CASE("a step changes the version once and leaves no history") {
  Tensor p = vector_of({1, 2});
  p.requires_grad_();
  (p * p).sum().backward();
  const int64_t before = p._version();
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  optimizer.step();
  CHECK(p._version() == before + 1);
  CHECK(p.is_leaf());
  CHECK(p.requires_grad());
}

TEST_CASE("a parameter without a gradient is left alone") {
  Tensor p = vector_of({1, 2});
  p.requires_grad_();
  optim::Adam optimizer({p});
  optimizer.step();
  CHECK(values(p) == std::vector<double>{1, 2});
  CHECK(optimizer.state().empty());
}

TEST_CASE("parameters and gradients of any memory order") {
  const Tensor base = vector_of({1, 2, 3, 4, 5, 6}, kDouble).view({2, 3});
  // Columns of a matrix, whose gradient is contiguous; and every other column, which is not dense.
  for (const Tensor& shape : {base.t(), base.slice(1, 0, 3, 2)}) {
    Tensor p = shape.clone(MemoryFormat::Contiguous);
    Tensor q = base.clone().as_strided(shape.sizes(), shape.strides());
    q = q.detach();
    p.requires_grad_();
    q.requires_grad_();
    for (Tensor& t : {std::ref(p), std::ref(q)}) {
      optim::SGD optimizer({t}, optim::SGDOptions(0.1).momentum(0.9));
      for (int i = 0; i < 3; ++i) {
        optimizer.zero_grad();
        (t * t).sum().backward();
        optimizer.step();
      }
    }
    CHECK_THAT(values(q), close_to(values(p)));
  }
}

TEST_CASE("a closure is evaluated with gradients") {
  Tensor p = vector_of({3});
  p.requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(0.5));
  NoGradGuard no_grad;
  const Tensor loss = optimizer.step([&] {
    Tensor l = (p * p).sum();
    l.backward();
    return l;
  });
  CHECK(loss.item<double>() == 9);
  CHECK(values(p) == std::vector<double>{0});
}

TEST_CASE("what an optimizer refuses") {
  Tensor p = vector_of({1});
  p.requires_grad_();
  CHECK_THROWS_WITH(optim::SGD({p * 2}, optim::SGDOptions(0.1)),
                    "can't optimize a non-leaf Tensor: parameter 0 of shape [1]");
  CHECK_THROWS_WITH(
      optim::SGD({vector_of({1}, kLong)}, optim::SGDOptions(0.1)),
      "[optim] parameters must be of a floating-point or complex type, got Long for parameter 0");
  CHECK_THROWS_WITH(optim::SGD({p}, optim::SGDOptions(-1)), "Invalid learning rate: -1");
  CHECK_THROWS_WITH(optim::SGD({p}, optim::SGDOptions(1).nesterov(true)),
                    "Nesterov momentum requires a momentum and zero dampening");
  CHECK_THROWS_WITH(optim::Adam({p}, optim::AdamOptions().betas({0.9, 1})),
                    "Invalid beta parameter at index 1: 1");
}

TEST_CASE("a parameter is listed once") {
  Tensor p = vector_of({1}), q = vector_of({2, 3});
  p.requires_grad_();
  q.requires_grad_();
  CHECK_THROWS_WITH(
      optim::SGD({p, q, q}, optim::SGDOptions(0.1)),
      "optimizer contains a parameter group with duplicate parameters: parameter 2 of "
      "shape [2] is listed before");
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  CHECK_THROWS_WITH(optimizer.add_param_group({{q, p}}),
                    "some parameters appear in more than one parameter group");
  CHECK(optimizer.size() == 1);
}

namespace {

/// A step of Adam on p and q, then `change` of q, then another step, whose error is given.
template <class Change>
std::string error_after(const Change& change) {
  Tensor p = vector_of({1, 2}, kFloat), q = vector_of({3, 4, 5, 6}, kFloat);
  p.requires_grad_();
  q.requires_grad_();
  optim::Adam optimizer({p, q});
  const auto step = [&] {
    optimizer.zero_grad();
    ((p * p).sum() + (q * q).sum().to(kFloat)).backward();
    optimizer.step();
  };
  step();
  {
    NoGradGuard no_grad;
    change(q);
  }
  const auto before = values(p);
  try {
    step();
  } catch (const Error& error) {
    // Nothing has changed, neither the one that fits nor its count.
    CHECK(values(p) == before);
    CHECK(steps_of(optimizer, p) == 1);
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a parameter that changed does not meet what was kept of it") {
  using Catch::Contains;
  CHECK(error_after([](Tensor&) {}) == "no error");
  CHECK_THAT(error_after([](Tensor& q) { q.set_data(q.to(kDouble)); }),
             Contains("got [4] of Float on cpu for [4] of Double on cpu"));
  CHECK_THAT(error_after([](Tensor& q) {
               q.set_data(vector_of({1, 2, 3, 4, 5, 6, 7, 8}, kFloat));
             }),
             Contains("got [4] of Float on cpu for [8] of Float on cpu"));
  CHECK_THAT(error_after([](Tensor& q) {
               q.set_data(q.view({2, 2}));
             }),
             Contains("got [4] of Float on cpu for [2, 2] of Float on cpu"));
}

TEST_CASE("what is kept follows the parameter's memory order") {
  const Tensor start = vector_of({1, 2, 3, 4, 5, 6}, kDouble).view({2, 3});
  const auto trained = [&](bool turned) {
    Tensor p = start.clone();
    p.requires_grad_();
    optim::SGD optimizer({p}, optim::SGDOptions(0.1).momentum(0.9));
    for (int i = 0; i < 4; ++i) {
      if (turned && i == 2) p.set_data(p.detach().t().contiguous().t());
      optimizer.zero_grad();
      (p * p).sum().backward();
      optimizer.step();
    }
    return values(p);
  };
  CHECK_THAT(trained(true), close_to(trained(false)));
}

TEST_CASE("groups have their own options") {
  const auto parameter = [] {
    Tensor p = vector_of({1, 2}, kDouble);
    p.requires_grad_();
    p.mutable_grad() = vector_of({0.5, -1}, kDouble);
    return p;
  };
  const Tensor p = parameter(), q = parameter(), r = parameter();
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{p});
  groups.emplace_back(std::vector<Tensor>{q}, std::make_unique<optim::AdamOptions>(0.5));
  optim::Adam optimizer(groups, optim::AdamOptions(0.1));
  optimizer.add_param_group(optim::OptimizerParamGroup(
      {r}, std::make_unique<optim::AdamOptions>(optim::AdamOptions(0.25).amsgrad(true))));
  REQUIRE(optimizer.param_groups().size() == 3);
  CHECK(optimizer.param_groups()[0].options() == optimizer.defaults());
  CHECK(optimizer.param_groups()[1].options().get_lr() == 0.5);
  optimizer.step();
  CHECK_THAT(values(p), close_to({0.9, 2.1}, 1e-6));
  CHECK_THAT(values(q), close_to({0.5, 2.5}, 1e-6));
  CHECK_THAT(values(r), close_to({0.75, 2.25}, 1e-6));
  CHECK(moments_of(optimizer, p).size() == 2);
  CHECK(moments_of(optimizer, r).size() == 3);
  auto& state = static_cast<optim::AdamParamState&>(*optimizer.state()[r.unsafe_impl()]);
  CHECK(state.step() == 1);
  CHECK(*state.clone() == state);

  optimizer.param_groups()[0].options().set_lr(1);
  CHECK(static_cast<optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr() == 1);
  CHECK_FALSE(optimizer.param_groups()[0].options() == optimizer.defaults());
  // A copy of a group has options of its own.
  optim::OptimizerParamGroup copy = optimizer.param_groups()[0];
  copy.options().set_lr(7);
  CHECK(optimizer.param_groups()[0].options().get_lr() == 1);
}

TEST_CASE("hooks are called around a step") {
  Tensor p = vector_of({1}, kDouble);
  p.requires_grad_();
  optim::SGD optimizer({p}, optim::SGDOptions(0.1));
  std::string calls;
  optimizer.register_step_pre_hook([&](optim::Optimizer& of) {
    CHECK(&of == &optimizer);
    calls += "a";
  });
  const size_t second = optimizer.register_step_pre_hook([&](optim::Optimizer&) { calls += "b"; });
  optimizer.register_step_post_hook([&](optim::Optimizer&) { calls += "c"; });
  optimizer.step([&] {
    calls += "-";
    return p.sum();
  });
  CHECK(calls == "ab-c");
  optimizer.remove_step_hook(second);
  optimizer.step();
  CHECK(calls == "ab-cac");
}

TEST_CASE("an optimizer of a program's own") {
  struct Options : optim::OptimizerCloneableOptions<Options> {
    explicit Options(double lr = 1) : lr_(lr) {}
    TENON_ARG(double, lr);
  };
  struct Mine : optim::Optimizer {
    Mine(std::vector<Tensor> params, Options options)
        : Optimizer(std::move(params), std::make_unique<Options>(options)) {}
    Tensor step(LossClosure) override { return {}; }
  };
  Tensor p = vector_of({1}, kDouble);
  Mine optimizer({p}, Options(3));
  CHECK(static_cast<Options&>(optimizer.defaults()).lr() == 3);
  CHECK_THROWS_WITH(optimizer.defaults().get_lr(),
                    Catch::Contains("fields() has not been implemented"));
  optimizer.add_parameters({vector_of({2}), vector_of({3})});
  CHECK(optimizer.size() == 3);
  CHECK(optimizer.parameters().size() == 3);
}
