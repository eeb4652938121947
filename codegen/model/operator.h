#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "codegen/expr/graph/functions.h"
#include "codegen/schema/function_schema.h"
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

struct PointwiseSpec {
  std::vector<PointwiseCase> cases;  // in file order
  Location location;                 // of the value of `pointwise`
  bool complete = true;              // false: a part could not be read and was reported

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

/// `rowwise` and the keys that go with it.
struct RowwiseSpec : NamedExpressions {
  /// An argument, `all`, or whole numbers "-1" or "-2, -1"; required.
  std::optional<SourceString> over;
  std::vector<LocatedName> rows;     // arguments with one value per row
  std::vector<LocatedName> columns;  // arguments with the shape of a row
  bool keepdim = false;              // results of rows keep the row's dimensions
};

/// The dtype rule of a pointwise or row operator (`promote`).
enum class Promotion : uint8_t {
  kDefault,         // default: result and computation in the promoted type of the inputs
  kFloat,           // float: as default, but integers and bool become the default float type
  kBool,            // bool: computed in the promoted type, result is bool
  kComplexToFloat,  // complex_to_float: as default, but a complex result becomes its real type
  kBoolToLong,      // bool_to_long: as default, but bool becomes int64
  kNone,            // none: inputs must already have one dtype
  kElements,        // elements: of `rowwise`, columns and values of rows do not lift the dtype
  kFloatToBool,     // of kernels: as bool, but integers become the default float type first
  kUnknown,         // a word that is none of these, which was reported
};
std::string_view to_string(Promotion promotion);

enum class Composite : uint8_t { kNo, kImplicit, kExplicit };
enum class DeviceCheck : uint8_t { kExactSame, kNoCheck };

/// `name: dtypes` lines of upstream's `ufunc_inner_loop`.
struct UfuncInnerLoop {
  std::string key;
  SourceString value;
  Location key_location;  // of the value where there is no key
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
struct TextWords {
  std::string name;
  bool optional = false;  ///< it may be absent too
  std::vector<std::string> words;
};

/// Of a composition that chooses among the expressions of a `pointwise` entry.
struct Switched {
  std::string inplace, out;   // compositions that write to self, or to the outputs; may be empty
  expr::Functions functions;  // what other expressions mean by calling it
};

/// One entry of native_functions.yaml as it was written; what follows from it is in variants.h.
struct Operator {
  schema::FunctionSchema schema;
  SourceString schema_text;       // value of `func`; spans of the schema are offsets into it
  Location location;              // of the entry (its `func` key)
  std::vector<LocatedName> keys;  // every key that is present, in file order
  /// Of `_softmax`: `softmax`, the operator whose work it does.
  std::optional<std::string> work_of;
  /// What its expressions and formulas may call; one list for all entries of a library.
  std::shared_ptr<const expr::Functions> functions;
  /// What formulas and compositions call as `x.f(y)` that is f(x, y); null in upstream's dialect.
  std::shared_ptr<const PlainFunctions> plain_functions;

  bool has_methods = true;  // false in a library that adds to another, whose Tensor has its own
  VariantSet variants;      // as default_variants() has them; of an alias, what its operator has
  Location variants_location;
  /// Of an `alias`: the operator of this library that it is another name of.
  std::optional<LocatedName> alias_of;
  std::vector<DispatchEntry> dispatch;
  bool names_backends = false;  // alone, without kernels: kernel_name() gives them
  std::optional<PointwiseSpec> pointwise;
  std::vector<LocatedName> dtypes;  // of `pointwise` as one expression; its cases have them
  /// `pointwise` of a schema that writes arguments: their new values by their names.
  std::optional<NamedExpressions> update;
  std::optional<RowwiseSpec> rowwise;
  Promotion promotion = Promotion::kDefault;
  /// Of a `pointwise` entry: hand-written function of the operator's arguments that throws where a
  /// value or dtype is not allowed; shapes and promotion are checked without it.
  std::optional<LocatedName> check;
  bool structured = false;
  std::optional<LocatedName> structured_delegate;  // full name of the structured operator
  std::optional<LocatedName> structured_inherits;
  Composite composite = Composite::kNo;
  /// `composite` as an expression of operators, in place of a hand-written function; or `foreach`.
  std::optional<SourceString> composition;
  std::vector<TextWords> words;      // that the composition chooses by; any other is an error
  std::optional<Switched> switched;  // it was `pointwise`
  /// Of an expression that such an entry chooses: the entry's name.
  std::optional<std::string> chosen_by;
  bool non_differentiable = false;
  std::optional<LocatedName> out_name;  // overload name of the derived out variant
  std::vector<LocatedName> tags;
  std::optional<LocatedName> python_module;
  DeviceCheck device_check = DeviceCheck::kExactSame;
  bool device_guard = true;
  std::vector<LocatedName> autogen;
  std::vector<SourceString> precomputed;
  std::vector<UfuncInnerLoop> ufunc_inner_loop;
  std::optional<LocatedName> category_override;  // factory, new, like, dummy
  std::vector<LocatedName> cpp_no_default_args;
  bool manual_cpp_binding = false;
  bool manual_kernel_registration = false;
  bool use_const_ref_for_mutable_tensors = false;

  /// "add.Tensor"; "ns::foo" when there is a namespace.
  std::string name() const { return schema.qualified_name(); }
  std::string base_name() const { return schema.base_name(); }
  /// What errors call it: the operator that was called.
  std::string error_name() const { return work_of ? *work_of : name(); }
  /// Only another name of an operator: no kernels, no derivative of its own.
  bool is_alias() const { return has_key("alias"); }
  bool has_key(std::string_view key) const { return key_location(key) != nullptr; }
  /// Its composition is of the elements of lists (foreach.h).
  bool is_foreach() const { return has_key("foreach"); }
  /// Says how it is computed as PyTorch's files cannot; what it leaves unsaid follows (defaults.h).
  bool own_spelling() const;
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
