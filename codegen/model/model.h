#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "codegen/model/derivative.h"
#include "codegen/model/family.h"
#include "codegen/model/inheritance.h"
#include "codegen/model/operator.h"
#include "codegen/model/variants.h"

namespace tenon::codegen {

/// One tag of tags.yaml.
struct Tag {
  LocatedName name;
  std::string description;
};

/// All entries of one base name (`add.Tensor`, `add.Scalar`, `add_.Tensor`): what shares a header.
/// Indices into Model::operators(), in the order of the files.
struct OperatorGroup {
  std::string base_name;  // "add"; "ns::foo" when there is a namespace
  std::vector<size_t> operators;
};

/// Where a name leads: the entry, and which of its variant_schemas().
struct OperatorRef {
  size_t op = 0;
  size_t variant = 0;
};

/// Everything that was read. Built by load() and never changed; not copied, for its parts point at
/// each other.
class Model {
 public:
  struct Parts {
    Dialect dialect = Dialect::kTenon;
    bool complete = true;  // false: a file could not be read, so what is missing may be declared
    std::vector<Operator> operators;
    std::vector<Definition> definitions;
    std::shared_ptr<const expr::Functions> functions;  // what expressions may call
    std::set<std::string> broken;    // names of entries that were reported and left out
    std::set<std::string> misnamed;  // operators that a derivative of an unknown name is meant for
    std::vector<Operator> unread;    // those whose schema could not be read, with their other keys
    std::vector<Derivative> derivatives;
    std::vector<Tag> tags;
    std::vector<std::string> files;  // all that were read, for the depfile
    std::shared_ptr<const SourceManager> sources;
  };

  Model() = default;
  explicit Model(Parts parts);
  Model(Model&&) = default;
  Model& operator=(Model&&) = default;

  Dialect dialect() const { return parts_.dialect; }
  bool complete() const { return parts_.complete; }
  /// In the order of the files. Names are unique once checked.
  const std::vector<Operator>& operators() const { return parts_.operators; }
  const std::vector<Definition>& definitions() const { return parts_.definitions; }
  /// Entries whose schema could not be read: their other keys alone mean something.
  const std::vector<Operator>& unread() const { return parts_.unread; }
  /// What its expressions, and those of libraries that add to it, may call.
  const expr::Functions& functions() const;
  const std::vector<Derivative>& derivatives() const { return parts_.derivatives; }
  const std::vector<Tag>& tags() const { return parts_.tags; }
  const std::vector<std::string>& files() const { return parts_.files; }
  /// Sorted by base name.
  const std::vector<OperatorGroup>& groups() const { return groups_; }

  /// Operators that are forms of one another, in the order of their first entries.
  const std::vector<Family>& families() const { return families_; }

  /// Forms that another operator's formulas differentiate.
  const std::vector<InheritedDerivative>& inherited() const { return inherited_; }

  /// By full name, "add.Tensor" or "add.out": entries and their derived forms. Null if unknown.
  const OperatorRef* find(std::string_view name) const;
  const Operator& op(const OperatorRef& ref) const { return parts_.operators[ref.op]; }
  /// The forms of entry `op` (index), as variant_schemas() gives them.
  const std::vector<VariantSchema>& variants(size_t op) const { return variants_[op]; }
  /// The derivative of entry `op` (index), or null.
  const Derivative* derivative_of(size_t op) const;
  /// An entry of this name was reported and left out, so that what refers to it is no mistake.
  bool is_broken(const std::string& name) const { return parts_.broken.contains(name); }
  /// The same of any form of operators with this base name: what is missing among them may be it.
  bool has_broken_form(std::string_view base_name) const;
  /// A derivative of an unknown name was reported, and seems to be that of this operator.
  bool is_misnamed(const std::string& name) const { return parts_.misnamed.contains(name); }
  const Tag* find_tag(std::string_view name) const;

 private:
  Parts parts_;
  std::vector<std::vector<VariantSchema>> variants_;
  std::vector<OperatorGroup> groups_;
  std::vector<Family> families_;
  std::vector<InheritedDerivative> inherited_;
  std::unordered_map<std::string, OperatorRef> by_name_;
  std::unordered_map<size_t, size_t> derivative_of_;
};

}  // namespace tenon::codegen
