#include "tests/codegen/rows/random_entry.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace tenon::codegen::rows {
namespace {

struct Form {
  const char* name;
  int arity;
  const char* before;  ///< brings the first argument into what the function is defined on; or ""
};

// Of numbers. `bounded`: sin(x) * 0.9; `positive`: abs(x) + 0.3; `above_one`: abs(x) + 1.5.
constexpr Form kForms[] = {
    {"add", 2, ""},
    {"sub", 2, ""},
    {"mul", 2, ""},
    {"mul", 2, ""},
    {"div", 2, "divisor"},
    {"neg", 1, ""},
    {"abs", 1, ""},
    {"sign", 1, ""},
    {"square", 1, ""},
    {"reciprocal", 1, "positive"},
    {"fma", 3, ""},
    {"remainder", 2, "divisor"},
    {"fmod", 2, "divisor"},
    {"floor_divide", 2, "divisor"},
    {"trunc_divide", 2, "divisor"},
    {"maximum", 2, ""},
    {"minimum", 2, ""},
    {"fmax", 2, ""},
    {"fmin", 2, ""},
    {"pow", 2, "positive"},
    {"exp", 1, ""},
    {"exp2", 1, ""},
    {"expm1", 1, ""},
    {"log", 1, "positive"},
    {"log2", 1, "positive"},
    {"log10", 1, "positive"},
    {"log1p", 1, "positive"},
    {"sqrt", 1, "positive"},
    {"rsqrt", 1, "positive"},
    {"sin", 1, ""},
    {"cos", 1, ""},
    {"tan", 1, "bounded"},
    {"asin", 1, "bounded"},
    {"acos", 1, "bounded"},
    {"atan", 1, ""},
    {"sinh", 1, ""},
    {"cosh", 1, ""},
    {"tanh", 1, ""},
    {"asinh", 1, ""},
    {"acosh", 1, "above_one"},
    {"atanh", 1, "bounded"},
    {"atan2", 2, ""},
    {"erf", 1, ""},
    {"erfc", 1, ""},
    {"erfinv", 1, "bounded"},
    {"lgamma", 1, "positive"},
    {"digamma", 1, "positive"},
    {"sigmoid", 1, ""},
    {"relu", 1, ""},
    {"floor", 1, ""},
    {"ceil", 1, ""},
    {"round", 1, ""},
    {"trunc", 1, ""},
    {"frac", 1, ""},
    {"hypot", 2, ""},
    {"copysign", 2, ""},
    {"detach", 1, ""},
};
constexpr const char* kComparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr const char* kTests[] = {"isnan", "isinf", "isfinite"};
constexpr const char* kLogic[] = {"logical_and", "logical_or", "logical_xor"};
constexpr const char* kReductions[] = {"sum", "sum", "mean",      "prod", "max",
                                       "min", "var", "logsumexp", "count"};

class Maker {
 public:
  Maker(std::mt19937_64& random, RandomEntry& entry) : random_(random), entry_(entry) {}

  void add_result(size_t size) {
    budget_ = static_cast<int>(size);
    const Domain domain = chance(0.35) ? Domain::kRow : Domain::kElement;
    size_t root = chance(0.06) ? mask(domain, 3) : value(domain, 5);
    // What simplifies to an operand is no result of a kernel.
    if (entry_.terms[root].is_operand) root = call("mul", {root, number(2)});
    entry_.results.push_back(root);
  }

 private:
  size_t below(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random_); }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  size_t push(Term term) {
    entry_.terms.push_back(std::move(term));
    return entry_.terms.size() - 1;
  }
  size_t number(double value) {
    Term term;
    term.is_number = true;
    term.number = value;
    return push(std::move(term));
  }
  size_t operand(const std::string& name, Domain domain) {
    for (size_t i = 0; i < entry_.terms.size(); ++i) {
      if (entry_.terms[i].is_operand && entry_.terms[i].name == name) return i;
    }
    Term term;
    term.name = name;
    term.domain = domain;
    term.is_operand = true;
    return push(std::move(term));
  }
  size_t call(const std::string& name, std::vector<size_t> arguments, bool is_mask = false) {
    Term term;
    term.name = name;
    term.is_mask = is_mask;
    for (const size_t argument : arguments)
      term.domain = std::max(term.domain, entry_.terms[argument].domain);
    term.arguments = std::move(arguments);
    return push(std::move(term));
  }
  size_t row_call(const std::string& name, std::vector<size_t> arguments, bool is_mask = false) {
    const size_t id = call(name, std::move(arguments), is_mask);
    entry_.terms[id].domain = Domain::kRow;
    return id;
  }

  Domain at_most(Domain domain) {
    const size_t roll = below(10);
    if (roll < 5) return domain;
    if (roll < 8) return std::min(domain, Domain::kRow);
    return Domain::kScalar;
  }

  /// One that exists already, of exactly this domain; npos where there is none.
  size_t shared(Domain domain, bool is_mask) {
    std::vector<size_t> found;
    for (size_t i = first_shared_; i < entry_.terms.size(); ++i) {
      const Term& term = entry_.terms[i];
      if (term.domain == domain && term.is_mask == is_mask && !term.is_number &&
          !hidden_.contains(i))
        found.push_back(i);
    }
    return found.empty() ? std::string::npos : found[below(found.size())];
  }

  size_t leaf(Domain domain, int depth) {
    if (domain == Domain::kElement) {
      constexpr const char* kElements[] = {"x", "x", "x", "y", "y", "w", "v"};
      if (chance(0.06)) {
        const size_t id = call("index", {});
        entry_.terms[id].domain = Domain::kElement;
        return id;
      }
      return operand(kElements[below(std::size(kElements))], Domain::kElement);
    }
    if (domain == Domain::kRow) {
      if (depth > 0 || chance(0.5)) return row(depth);
      return operand("r", Domain::kRow);
    }
    if (chance(0.3)) return operand("scale", Domain::kScalar);
    if (chance(0.2)) return call("length", {});
    constexpr double kNumbers[] = {0, 1, -1, 2, 0.5, 3, -0.5, 1.25, 1, 2};
    return number(kNumbers[below(std::size(kNumbers))]);
  }

  size_t row(int depth) {
    --budget_;
    const size_t roll = below(12);
    if (roll == 0) {
      entry_.picks_guarded = entry_.picks_guarded && guarded_;
      const size_t x = value(Domain::kElement, depth - 1);
      const size_t id = row_call("pick", {x, operand("place", Domain::kRow)});
      if (guarded_) hidden_.insert(id);
      return id;
    }
    if (roll == 1 && !guarded_) return guarded_pick(depth);
    const std::string name = kReductions[below(std::size(kReductions))];
    if (name == "var") {
      const size_t x = value(Domain::kElement, depth - 1);
      return row_call(name, {x, number(static_cast<double>(below(2)))});
    }
    if (name == "count") return row_call(name, {mask(Domain::kElement, depth - 1)});
    return row_call(name, {value(Domain::kElement, depth - 1)});
  }

  /// Of the row: another value where the position is negative, what is made of the element there
  /// elsewhere. Nothing in it is shared with what stands outside.
  size_t guarded_pick(int depth) {
    const size_t otherwise = value(Domain::kRow, std::min(depth - 1, 1));
    const size_t at = operand("place", Domain::kRow);
    const size_t zero = number(0);
    const bool negated = chance(0.3);
    const size_t condition = call(negated ? "ge" : "lt", {at, zero}, true);
    const size_t begin = entry_.terms.size();
    guarded_ = true;
    size_t inner = row_call("pick", {value(Domain::kElement, 1), at});
    for (size_t i = below(4); i > 0; --i) inner = around(inner);
    guarded_ = false;
    for (size_t i = begin; i < entry_.terms.size(); ++i) hidden_.insert(i);
    return negated ? call("where", {condition, inner, otherwise})
                   : call("where", {condition, otherwise, inner});
  }

  /// A function of a value of the row.
  size_t around(size_t inner) {
    switch (below(6)) {
    case 0: return call("exp", {inner});
    case 1: return call("mul", {inner, operand("r", Domain::kRow)});
    case 2: return call("square", {inner});
    case 3: return call("tanh", {inner});
    case 4: return call("mul", {inner, call("sin", {inner})});
    default: return call("sub", {inner, row_call("sum", {operand("x", Domain::kElement)})});
    }
  }

  size_t bring(size_t x, const std::string& into) {
    if (into == "positive") return call("add", {call("abs", {x}), number(0.3)});
    if (into == "above_one") return call("add", {call("abs", {x}), number(1.5)});
    if (into == "bounded") return call("mul", {call("sin", {x}), number(0.9)});
    return x;
  }

  size_t value(Domain domain, int depth) {
    if (chance(0.15)) {
      if (const size_t id = shared(domain, false); id != std::string::npos) return id;
    }
    if (depth <= 0 || budget_ <= 0) return leaf(domain, 0);
    if (domain == Domain::kScalar) return leaf(domain, 0);
    if (domain == Domain::kRow && chance(0.5)) return row(depth);
    --budget_;
    const size_t roll = below(20);
    if (roll == 0) {
      const size_t condition = mask(at_most(domain), depth - 1);
      const size_t a = value(domain, depth - 1);
      const size_t b = chance(0.4) ? number(0) : value(at_most(domain), depth - 1);
      return chance(0.5) ? call("where", {condition, a, b}) : call("where", {condition, b, a});
    }
    if (roll == 1) {
      const size_t a = mask(domain, depth - 1);
      return call("mul", {a, value(at_most(domain), depth - 1)});
    }
    const Form& form = kForms[below(std::size(kForms))];
    const std::string before = form.before;
    std::vector<size_t> arguments = {value(domain, depth - 1)};
    if (before != "divisor") arguments[0] = bring(arguments[0], before);
    while (static_cast<int>(arguments.size()) < form.arity)
      arguments.push_back(value(at_most(domain), depth - 1));
    if (before == "divisor") arguments[1] = bring(arguments[1], "positive");
    if (form.arity > 1 && before.empty() && chance(0.5)) std::swap(arguments[0], arguments[1]);
    return call(form.name, std::move(arguments));
  }

  size_t mask(Domain domain, int depth) {
    if (chance(0.15)) {
      if (const size_t id = shared(domain, true); id != std::string::npos) return id;
    }
    --budget_;
    const size_t roll = below(10);
    if (depth > 0 && roll < 2) {
      return call(kLogic[below(std::size(kLogic))],
                  {mask(domain, depth - 1), mask(at_most(domain), depth - 1)}, true);
    }
    if (depth > 0 && roll == 2) return call("logical_not", {mask(domain, depth - 1)}, true);
    if (depth > 0 && roll == 3 && domain == Domain::kRow) {
      return row_call(chance(0.5) ? "any" : "all", {mask(Domain::kElement, depth - 1)}, true);
    }
    if (roll == 4) return call(kTests[below(std::size(kTests))], {value(domain, depth - 1)}, true);
    const size_t a = value(domain, depth - 1), b = value(at_most(domain), depth - 1);
    return call(kComparisons[below(std::size(kComparisons))], {a, b}, true);
  }

  std::mt19937_64& random_;
  RandomEntry& entry_;
  int budget_ = 0;
  size_t first_shared_ = 0;
  bool guarded_ = false;
  std::set<size_t> hidden_;  ///< in a guard: must not be computed elsewhere
};

class Printer {
 public:
  Printer(const RandomEntry& entry, size_t result) : entry_(entry), result_(result) {
    const size_t root = entry.results[result];
    std::vector<size_t> stack = {root};
    std::set<size_t> seen;
    while (!stack.empty()) {
      const size_t id = stack.back();
      stack.pop_back();
      if (!seen.insert(id).second || earlier_result(id) != nullptr) continue;
      for (const size_t argument : entry.terms[id].arguments) {
        ++uses_[argument];
        stack.push_back(argument);
      }
    }
  }

  std::string print() {
    const std::string body = text(entry_.results[result_]);
    return locals_ + body;
  }

 private:
  /// The result before this one that the term is.
  const std::string* earlier_result(size_t id) {
    for (size_t i = 0; i < result_; ++i) {
      if (entry_.results[i] != id) continue;
      return &(earlier_ = RandomEntry::result_name(i, entry_.results.size()));
    }
    return nullptr;
  }

  std::string text(size_t id) {
    const Term& term = entry_.terms[id];
    if (const std::string* name = earlier_result(id)) return *name;
    if (const auto it = names_.find(id); it != names_.end()) return it->second;
    if (term.is_number) return number(term.number);
    if (term.is_operand) return term.name == "v" ? "(v ?? 0.75)" : term.name;
    std::string written = call(term);
    if (uses_[id] < 2 || term.arguments.empty()) return written;
    const std::string name = "t" + std::to_string(id);
    locals_ += name + " = " + written + "; ";
    return names_[id] = name;
  }

  static std::string number(double value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value < 0 ? -value : value).ptr;
    const std::string digits(buffer, end);
    return value < 0 ? "(-" + digits + ")" : digits;
  }

  std::string call(const Term& term) {
    static const std::map<std::string, std::string> kInfix = {
        {"add", "+"}, {"sub", "-"},          {"mul", "*"},        {"div", "/"}, {"remainder", "%"},
        {"eq", "=="}, {"ne", "!="},          {"lt", "<"},         {"le", "<="}, {"gt", ">"},
        {"ge", ">="}, {"logical_and", "&&"}, {"logical_or", "||"}};
    std::vector<std::string> arguments;
    for (const size_t argument : term.arguments) arguments.push_back(text(argument));
    if (const auto infix = kInfix.find(term.name); infix != kInfix.end())
      return "(" + arguments[0] + " " + infix->second + " " + arguments[1] + ")";
    if (term.name == "neg") return "(-" + arguments[0] + ")";
    if (term.name == "logical_not") return "(!" + arguments[0] + ")";
    if (term.name == "where" && term.arguments[0] % 2 == 0)
      return "(" + arguments[0] + " ? " + arguments[1] + " : " + arguments[2] + ")";
    std::string list;
    const bool method = !arguments.empty() && term.arguments[0] % 3 == 0;
    for (size_t i = method ? 1 : 0; i < arguments.size(); ++i)
      list += (list.empty() ? "" : ", ") + arguments[i];
    return (method ? "(" + arguments[0] + ")." : "") + term.name + "(" + list + ")";
  }

  const RandomEntry& entry_;
  size_t result_;
  std::map<size_t, int> uses_;
  std::map<size_t, std::string> names_;
  std::string locals_, earlier_;
};

}  // namespace

std::string RandomEntry::text(size_t result) const { return Printer(*this, result).print(); }

RandomEntry random_entry(std::mt19937_64& random, size_t num_results, size_t size) {
  RandomEntry entry;
  Maker maker(random, entry);
  for (size_t i = 0; i < num_results; ++i) maker.add_result(size);
  return entry;
}

RandomEntry random_entry(size_t seed, std::mt19937_64* random) {
  std::mt19937_64 own(seed);
  const size_t num_results = 1 + (own() % 5 > 2) + (own() % 7 == 0);
  RandomEntry entry = random_entry(own, num_results, 2 + own() % 14);
  if (random != nullptr) *random = own;
  return entry;
}

}  // namespace tenon::codegen::rows
