#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/ir/form.h"
#include "codegen/ir/kernel.h"
#include "codegen/ir/node.h"
#include "codegen/ir/optimizer_class.h"
#include "codegen/ir/rows.h"
#include "codegen/ir/standalone.h"
#include "codegen/meaning/kernel_declarations.h"
#include "codegen/schema/fields.h"

// What the generator has decided, between the model and the document that templates are rendered
// from: README.md describes each part.
namespace tenon::codegen::ir {

/// Version of the document's format: raised when a key changes its meaning or goes.
inline constexpr int kVersion = 2;

/// What `foreach` takes one element of for each place.
struct List {
  std::string name;
  std::string element;  ///< C++ type
  bool written = false;
  bool conditional = false;  ///< read in branches alone: it may be empty where none is taken
  TENON_FIELDS(name, element, written, conditional)
};

/// What a text can be that a composition chooses by.
struct Words {
  std::string name;
  std::vector<std::string> words;
  TENON_FIELDS(name, words)
};

/// A part of a composition that is one kernel, with the tensors of elements that it and the
/// operators one by one read and write.
struct FusedPart {
  std::string kernel;
  size_t num_operators = 0, traffic = 0, unfused_traffic = 0;
  TENON_FIELDS(kernel, num_operators, traffic, unfused_traffic)
};

/// An entry whose `composite` is an expression; or whose `foreach` is one, of elements of lists.
struct Composition {
  std::vector<NamedText> locals;
  std::string result;
  std::vector<std::string> unused;
  std::vector<std::string> operators, headers;
  std::optional<std::string> kernel;  ///< the same as one expression of elements
  std::vector<List> lists;            ///< of `foreach`, else empty
  std::vector<Words> words;           ///< of texts that choose: any other is an error
  std::string inplace, out;           ///< of forms that write by the operators' own; may be empty
  std::string guard, fused;           ///< of one kernel for all of it, and its call; may be empty
  std::vector<FusedPart> parts;       ///< that are kernels
  bool calls_helpers = false;         ///< `a ?? b`, copies of views: what only compositions call
  TENON_FIELDS(locals, result, unused, operators, headers, kernel, lists, words, inplace, out,
               guard, fused, parts, calls_helpers)
};

/// The operator that an entry is another name of.
struct Alias {
  std::string name, base, header;
  TENON_FIELDS(name, base, header)
};

/// A form of an alias, at the operator that it is another name of.
struct OtherName {
  std::string name, overload;  ///< `aten::concat`
  std::string of;              ///< identifier of the form that it calls
  TENON_FIELDS(name, overload, of)
};

/// The function of a device's library that runs an operator.
struct DeviceKernel {
  std::string name;
  bool into = false;  ///< it computes into given tensors
  TENON_FIELDS(name, into)
};

struct Entry {
  std::string name, ident, base, cpp_namespace, header;
  std::string error_name;  ///< what errors call it
  Place place;
  std::vector<Form> forms;
  std::vector<KernelDeclaration> declarations;
  std::optional<std::string> check;
  std::optional<Alias> alias;
  std::vector<OtherName> aliases;
  std::optional<ForwardKernel> kernel;
  std::optional<Update> updates;
  std::optional<Rowwise> rowwise;
  std::optional<Composition> composition;
  std::optional<Node> node;
  std::optional<std::vector<std::string>> expression;
  std::optional<DeviceKernel> device_kernel;  ///< in a document of a device's kernels
  bool called_by_generated_code = false;
  std::optional<Standalone> standalone;  ///< with --target c or torch
  // With a list of operators to build.
  bool selected = true;
  std::string reached_from;
  TENON_FIELDS(name, ident, base, cpp_namespace, header, error_name, place, forms, declarations,
               check, alias, aliases, kernel, updates, rowwise, composition, node, expression,
               device_kernel, called_by_generated_code, standalone, selected, reached_from)
};

/// A file to render.
struct File {
  std::string path;
  std::string template_name;
  std::vector<size_t> operators;  ///< indices of entries
  std::vector<std::string> includes;
  // What some templates need besides.
  std::string base, cpp_namespace;
  std::optional<int> shard;
  std::optional<int> shards;  ///< of Python's functions
  std::vector<PythonCall> calls;
  std::vector<PythonFunction> functions;
  std::optional<size_t> optimizer;  ///< index
  TENON_FIELDS(path, template_name, operators, includes, base, cpp_namespace, shard, shards, calls,
               functions, optimizer)
};

/// A device whose kernels these are.
struct Backend {
  std::string key, cpp_namespace;
  TENON_FIELDS(key, cpp_namespace)
};

struct Library {
  int version = kVersion;
  std::string name;
  bool in_tree = false;
  bool cuda = false;
  std::string header;  ///< that includes those of all operators
  std::optional<Backend> backend;
  std::vector<Entry> operators;
  std::vector<Optimizer> optimizers;
  std::vector<File> files;
  /// With a list of operators to build: sources that none of them needs.
  std::optional<std::vector<std::string>> unused_sources;
  TENON_FIELDS(version, name, in_tree, cuda, header, backend, operators, optimizers, files,
               unused_sources)
};

}  // namespace tenon::codegen::ir
