#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "codegen/expr/graph/functions.h"
#include "codegen/schema/function_schema.h"
#include "codegen/schema/promotion.h"
#include "codegen/yaml/source_file.h"

namespace tenon::codegen {

/// The language a file is written in: ours, or PyTorch's, where a missing `dispatch` means
/// CompositeImplicit and unknown keys and tags are only warnings.
enum class Dialect : uint8_t { kTenon, kUpstream };

/// The forms of an operator that an entry asks for (`variants`).
struct VariantSet {
  bool function = false;
  bool method = false;
  bool inplace = false;  // derived `foo_(Tensor(a!) self, ...) -> Tensor(a!)`
  bool out = false;      // derived `foo.out(..., *, Tensor(a!) out) -> Tensor(a!)`
};

/// One `key: kernel` of `dispatch`; `CPU, CUDA: k` gives two.
struct DispatchEntry {
  std::string key;
  std::string kernel;            // without namespace
  std::string kernel_namespace;  // as written before the last `::`, else empty
  Location key_location;
  Location kernel_location;
};

/// One expression of `pointwise`, and when it holds. Empty selectors match everything.
struct PointwiseCase {
  std::string output;    // name of the return, as FunctionSchema::return_name gives it
  std::string category;  // bool, integral, floating, complex
  std::string backend;   // cpu, cuda
  SourceString expression;
};

/// `pointwise` of an operator that returns new tensors.
struct Pointwise {
  std::vector<PointwiseCase> cases;  // in file order
  Location location;                 // of the value of `pointwise`
  bool complete = true;              // false: a part could not be read and was reported
  std::vector<LocatedName> dtypes;   // of `pointwise` as one expression; its cases have them
  /// Of an expression that an entry's texts or absent arguments choose: the entry's name.
  std::optional<std::string> branch_of;

  /// The most specific case for the selectors (backend first, then category), or null. An operator
  /// with one output may leave `output` empty in its cases.
  const PointwiseCase* find(std::string_view output, std::string_view category,
                            std::string_view backend) const;
};

/// Expressions by name, each of which may use those before it.
struct NamedExpressions {
  struct Part {
    LocatedName name;  ///< of a result or of a value that later parts use; empty: the only result
    SourceString expression;
  };
  std::vector<Part> parts;  // in file order
  Location location;        // of the value of the key
  bool complete = true;     // false: a part could not be read and was reported
};

/// `pointwise` of a schema that writes arguments: their new values by their names.
struct Update : NamedExpressions {};

/// `rowwise` and the keys that go with it.
struct Rowwise : NamedExpressions {
  /// An argument, `all`, or whole numbers "-1" or "-2, -1"; required.
  std::optional<SourceString> over;
  std::vector<LocatedName> rows;     // arguments with one value per row
  std::vector<LocatedName> columns;  // arguments with the shape of a row
  bool keepdim = false;              // results of rows keep the row's dimensions
};

using schema::Promotion;

enum class DeviceCheck : uint8_t { kExactSame, kNoCheck };

/// `name: dtypes` lines of upstream's `ufunc_inner_loop`.
struct UfuncInnerLoop {
  std::string key;
  SourceString value;
  Location key_location;  // of the value where there is no key
};

/// Keys that PyTorch's generator alone acts on: they are read, checked and kept.
struct UpstreamKeys {
  std::optional<LocatedName> structured_inherits;
  std::vector<SourceString> precomputed;
  std::vector<UfuncInnerLoop> ufunc_inner_loop;
  std::optional<LocatedName> category_override;  // factory, new, like, dummy
  DeviceCheck device_check = DeviceCheck::kExactSame;
  bool device_guard = true;
  bool manual_kernel_registration = false;
  bool use_const_ref_for_mutable_tensors = false;
};

/// `define`: a function of expressions that is no operator.
struct Definition {
  LocatedName name;
  std::vector<LocatedName> parameters;
  SourceString body;  // `as`
};

/// Operators by whether they are called as functions of a tensor, and as methods.
struct PlainFunctions {
  std::set<std::string> functions, methods;
  std::set<std::string> inplace;  ///< those with an in-place form
  /// Whether f(x) is one and x.f() none.
  bool has(const std::string& name) const;
};

/// The words that an argument of type `str` can be: what an expression compares it with, and its
/// default.
struct EnumArgument {
  std::string name;
  bool optional = false;  ///< it may be absent too
  std::vector<std::string> words;
};

/// What an entry is whose texts or absent arguments choose among the expressions of `pointwise`.
struct OverloadSet {
  std::string inplace, out;   // compositions that write to self, or to the outputs; may be empty
  expr::Functions functions;  // what other expressions mean by calling it
};

/// What a composition computes by fused kernels. Operators compute what no kernel fits.
struct Fusion {
  /// A part is a hidden entry: a kernel alone if the composition is its guard.
  struct Part {
    std::string kernel;
    size_t num_operators = 0;
    size_t traffic = 0, unfused_traffic = 0;  // tensors of elements that are read and written
  };
  std::string text;         // the composition with calls of its parts; empty: as it is written
  std::string guard, call;  // of the kernel that computes all of it; may be empty
  std::vector<Part> parts;
};

/// `composite` as an expression of operators.
struct Composition {
  SourceString text;
  bool implicit = true;                     // its derivative is that of its parts
  std::vector<EnumArgument> words;          // what it chooses by; any other word is an error
  std::optional<OverloadSet> overload_set;  // it was `pointwise`
  std::vector<LocatedName> columns = {};    // arguments with the shape of a row, for its kernels
  std::optional<Fusion> fusion = {};
};

/// `foreach`: a composition of the elements of lists (foreach.h).
struct Foreach : Composition {};

/// `composite: implicit` or `explicit`: a function in C++ that calls operators.
struct CompositeFunction {
  bool implicit = true;
};

/// `structured`: kernels that compute into outputs of the shape that a function of its own finds.
struct Structured {};

/// `structured_delegate`: the kernels are those of a structured operator.
struct Delegate {
  LocatedName of;  // full name
};

/// `dispatch` alone: hand-written kernels of the operator's own schema.
struct Kernels {};

/// Another name of an operator of this library.
struct AliasOf {
  std::optional<LocatedName> of;  // nothing: it could not be read, which was reported
};

/// Nothing is said, or it could not be read. In PyTorch's files: as CompositeImplicit.
struct Unsaid {};

/// How an operator is computed. `dispatch` may add kernels of other backends to any of them.
using Computation = std::variant<Unsaid, Pointwise, Update, Rowwise, Composition, Foreach,
                                 CompositeFunction, Structured, Delegate, Kernels, AliasOf>;

/// One entry of native_functions.yaml as it was written; what follows from it is in variants.h.
struct Operator {
  schema::FunctionSchema schema;
  SourceString schema_text;       // value of `func`; spans of the schema are offsets into it
  Location location;              // of the entry (its `func` key)
  std::vector<LocatedName> keys;  // every key that is present, in file order
  /// Of `_softmax`: `softmax`, the operator whose work it does and whose name errors say.
  std::optional<std::string> reports_as;
  /// What its expressions and formulas may call; one list for all entries of a library.
  std::shared_ptr<const expr::Functions> functions;
  /// What formulas and compositions call as `x.f(y)` that is f(x, y); null in upstream's dialect.
  std::shared_ptr<const PlainFunctions> plain_functions;

  bool has_methods = true;  // false in a library that adds to another, whose Tensor has its own
  VariantSet variants;      // as default_variants() has them; of an alias, what its operator has
  Location variants_location;
  Computation computation;
  std::vector<DispatchEntry> dispatch;
  bool names_backends = false;  // without kernels: kernel_name() gives them
  /// Of `pointwise` and `rowwise`; nothing: a word that is none, which was reported.
  std::optional<Promotion> promotion = Promotion::kDefault;
  /// Hand-written function of the operator's arguments that throws where a value or dtype is not
  /// allowed, before an expression is computed; shapes and promotion are checked without it.
  std::optional<LocatedName> check;
  /// `batched`: what it is of tensors with a batch in front.
  std::optional<SourceString> batched;
  bool non_differentiable = false;
  bool fuse = true;  // of a composition
  /// Of a kernel that a composition fuses, the floating dtypes that it is for, "Float"; empty: any.
  std::optional<std::vector<std::string>> fused_dtypes;
  std::optional<LocatedName> out_name;  // overload name of the derived out variant
  std::vector<LocatedName> tags;
  std::optional<LocatedName> python_module;
  std::vector<LocatedName> autogen;
  std::vector<LocatedName> cpp_no_default_args;
  bool manual_cpp_binding = false;
  UpstreamKeys upstream;

  /// "add.Tensor"; "ns::foo" when there is a namespace.
  std::string name() const { return schema.qualified_name(); }
  std::string base_name() const { return schema.base_name(); }
  /// What errors call it: the operator that was called.
  std::string error_name() const { return reports_as ? *reports_as : name(); }
  /// Its computation if it is of that kind, else null.
  template <typename Kind>
  const Kind* as() const {
    return std::get_if<Kind>(&computation);
  }
  template <typename Kind>
  Kind* as() {
    return std::get_if<Kind>(&computation);
  }
  template <typename Kind>
  bool is() const {
    return std::holds_alternative<Kind>(computation);
  }
  /// The expression of operators of `composite` or `foreach`, or null.
  const Composition* composition() const;
  Composition* composition();
  /// Null if it is no composition that chooses among expressions.
  const OverloadSet* overload_set() const;
  bool has_key(std::string_view key) const { return key_location(key) != nullptr; }
  /// Says how it is computed as PyTorch's files cannot; what it leaves unsaid follows (defaults.h).
  bool uses_tenon_keys() const;
  /// Null when the key is absent.
  const Location* key_location(std::string_view key) const;
  /// Null when the key is absent. CompositeExplicit also finds upstream's
  /// CompositeExplicitAutograd, and likewise CompositeImplicit.
  const DispatchEntry* find_dispatch(std::string_view key) const;
  bool has_tag(std::string_view tag) const;
  /// The results may share memory with an argument: by annotation, or by the tag `inplace_view`. An
  /// `inplace_view` operator with `autogen` (resize_) has a functional form that is no view.
  bool is_view() const;
  /// Its kernel is written in terms of other operators and inherits their derivatives. In
  /// upstream's files that is also what an entry means that says nothing about its kernels.
  bool is_composite_implicit(Dialect dialect = Dialect::kTenon) const;
  /// Its kernel is written in terms of other operators.
  bool is_composite() const;
  /// Place of a span of the schema.
  Location at(const schema::Span& span) const { return schema_text.at(span.begin); }
};

}  // namespace tenon::codegen
