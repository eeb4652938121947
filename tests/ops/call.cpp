#include "tests/ops/call.h"

#include <algorithm>

#include "aten/core/error.h"
#include "aten/core/generator.h"
#include "aten/dispatch/operator_entry.h"
#include "codegen/schema/parser.h"

namespace tenon::ops_test {
namespace {

using schema::BaseType;

int64_t int_constant(const std::string& name) {
  if (name == "Mean") return 1;
  if (name == "Sum") return 2;
  return parse_number(name).toLong();
}

MemoryFormat format_of(const std::string& name) {
  for (const auto format :
       {MemoryFormat::Contiguous, MemoryFormat::Preserve, MemoryFormat::ChannelsLast}) {
    if (detail::concat(format) == name) return format;
  }
  detail::raise<ValueError>("unknown memory format ", name);
}

std::string replaced(std::string text, const std::string& dtype) {
  for (size_t at; (at = text.find('$')) != std::string::npos;) text.replace(at, 1, dtype);
  return text;
}

/// A value of a type without suffixes from its text.
Value scalar_value(const std::string& text, BaseType type) {
  switch (type) {
  case BaseType::kScalar: return parse_number(text);
  case BaseType::kInt:
  case BaseType::kSymInt: return int_constant(text);
  case BaseType::kFloat: return parse_number(text).toDouble();
  case BaseType::kBool: return parse_number(text).toBool();
  case BaseType::kStr: return std::string_view(text);
  case BaseType::kScalarType: {
    if (text == "long") return kLong;
    const auto dtype = dtype_of(text);
    TENON_CHECK_VALUE(dtype, "unknown dtype ", text);
    return *dtype;
  }
  case BaseType::kMemoryFormat: return format_of(text);
  case BaseType::kLayout: return kStrided;
  case BaseType::kDevice: return Device(text);
  default:
    detail::raise<ValueError>("no spelling for a value of type ", to_string(type), ": ", text);
  }
}

/// Texts as a list: numbers of ints, floats or bools.
Value list_value(const std::vector<std::string>& texts, BaseType type) {
  if (type == BaseType::kBool) {
    Value::Bools list;
    for (const auto& text : texts) list.push_back(parse_number(text).toBool());
    return list;
  }
  if (type == BaseType::kFloat) {
    Value::Doubles list;
    for (const auto& text : texts) list.push_back(parse_number(text).toDouble());
    return list;
  }
  if (type == BaseType::kScalar) {
    Value::Scalars list;
    for (const auto& text : texts) list.push_back(parse_number(text));
    return list;
  }
  Value::Ints list;
  for (const auto& text : texts) list.push_back(int_constant(text));
  return list;
}

Value default_value(const schema::Argument& argument) {
  TENON_CHECK_VALUE(argument.default_value || argument.type.is_optional(), "argument `",
                    argument.name, "` has no default and is not given");
  if (!argument.default_value || argument.default_value->is_none()) return {};
  const schema::DefaultValue& value = *argument.default_value;
  const schema::Type type = argument.type.without_optional();
  if (type.is_list()) {
    if (const auto* list = value.get<schema::ListValue>()) {
      std::vector<std::string> texts;
      for (const auto& element : *list) texts.push_back(element.text);
      return list_value(texts, type.base);
    }
    return list_value(std::vector<std::string>(type.list_size().value_or(1), value.text),
                      type.base);
  }
  if (const auto* text = value.get<schema::StringValue>()) return std::string_view(text->text);
  return scalar_value(value.text, type.base);
}

}  // namespace

Call::Call(const Sample& sample, const schema::FunctionSchema& schema)
    : dtype_(sample.dtype), seed_(std::stoll(sample.row->option("seed", "0"))) {
  const YAML::Node& args = sample.row->args;
  const YAML::Node& kwargs = sample.row->kwargs;
  size_t position = 0;
  for (const auto& argument : schema.args) {
    const YAML::Node given = position < args.size() && !argument.kwarg_only ? args[position]
                             : kwargs.IsMap()                               ? kwargs[argument.name]
                                              : YAML::Node(YAML::NodeType::Undefined);
    ++position;
    arguments_.emplace_back();
    // Tensor places refer to the argument that is being parsed: the last one.
    Value value = given ? parse(given, argument.type) : default_value(argument);
    arguments_.back() = std::move(value);
  }
}

Value Call::parse_tensor(const YAML::Node& node) {
  if (node.IsNull()) return TensorBase();
  recipes_.push_back(parse_recipe(replaced(node.Scalar(), dtype_)));
  places_.push_back({arguments_.size() - 1, -1});
  return make_tensor(recipes_.back(), static_cast<int64_t>(recipes_.size()) - 1);
}

Value Call::parse(const YAML::Node& node, const schema::Type& type) {
  if (node.IsNull()) {
    TENON_CHECK_VALUE(type.is_optional(), "`~` for an argument that is not optional");
    return {};
  }
  const schema::Type inner = type.without_optional();
  if (inner.is_list() && inner.holds_tensors()) {
    Value::Tensors list;
    for (const YAML::Node& element : node) {
      list.push_back(parse_tensor(element).to_tensor());
      if (list.back().defined()) places_.back().element = static_cast<int64_t>(list.size()) - 1;
    }
    return list;
  }
  if (inner.is_tensor()) return parse_tensor(node);
  if (inner.is_list()) {
    if (node.IsSequence()) return list_value(node.as<std::vector<std::string>>(), inner.base);
    return list_value(std::vector<std::string>(inner.list_size().value_or(1), node.Scalar()),
                      inner.base);
  }
  if (inner.base == BaseType::kGenerator) {
    generators_.emplace_back(arguments_.size() - 1, node.as<uint64_t>());
    return {};
  }
  return scalar_value(replaced(node.Scalar(), dtype_), inner.base);
}

size_t Call::num_selfs() const {
  const auto is_self = [](const Place& place) { return place.argument == 0; };
  return static_cast<size_t>(std::count_if(places_.begin(), places_.end(), is_self));
}

TensorBase Call::tensor(size_t i) const {
  const Value& value = arguments_[places_[i].argument];
  return places_[i].element < 0 ? value.to_tensor() : value.to_tensors()[places_[i].element];
}

void Call::set_tensor(size_t i, const TensorBase& tensor) {
  Value& value = arguments_[places_[i].argument];
  if (places_[i].element < 0) {
    value = tensor;
  } else {
    Value::Tensors list = value.to_tensors();
    list[places_[i].element] = tensor;
    value = std::move(list);
  }
}

Call Call::mapped(const std::function<TensorBase(const TensorBase&)>& f) const {
  Call copy = *this;
  for (size_t i = 0; i < num_tensors(); ++i) copy.set_tensor(i, f(tensor(i)));
  return copy;
}

Stack Call::run(const OperatorEntry& op) const { return run(op, {}); }

Stack Call::run(const OperatorEntry& op, const std::vector<TensorBase>& outs) const {
  manual_seed(static_cast<uint64_t>(seed_));
  Stack stack = arguments_;
  for (const auto& [argument, seed] : generators_) stack[argument] = make_generator(kCPU, seed);
  if (!outs.empty()) stack = with_outs(std::move(stack), op, outs);
  op.boxed(op, stack);
  return stack;
}

Stack with_outs(Stack arguments, const OperatorEntry& out_form,
                const std::vector<TensorBase>& outs) {
  const schema::ParseResult parsed = schema::parse_schema(out_form.info->schema);
  const auto written = parsed.schema->out_args();
  if (written.size() == 1 && written[0]->type.is_tensor_list()) {
    arguments.emplace_back(Value::Tensors(outs.begin(), outs.end()));
  } else {
    for (const TensorBase& out : outs) arguments.emplace_back(out);
  }
  return arguments;
}

std::vector<TensorBase> tensors_of(const Stack& results) {
  std::vector<TensorBase> tensors;
  for (const Value& value : results) {
    if (value.is_tensor_list()) {
      tensors.insert(tensors.end(), value.to_tensors().begin(), value.to_tensors().end());
    } else if (value.is_tensor() || value.is_none()) {
      tensors.push_back(value.to_tensor());
    }
  }
  return tensors;
}

}  // namespace tenon::ops_test
