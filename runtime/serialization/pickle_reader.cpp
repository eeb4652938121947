#include "runtime/serialization/pickle_reader.h"

#include <bit>
#include <cstring>

#include "runtime/serialization/storage_class.h"
#include "runtime/serialization/zip_format.h"

namespace tenon::serialization {

const char* PickleValue::description() const {
  constexpr const char* kNames[] = {"a mark",  "None",     "a bool",    "an int",
                                    "a float", "a string", "a tuple",   "a list",
                                    "a dict",  "a class",  "a storage", "a tensor"};
  return kNames[static_cast<int>(kind)];
}

template <class... Parts>
void PickleReader::fail(const Parts&... parts) const {
  tenon::detail::raise<Error>("[load] ", name_, " at byte ", opcode_at_, ": ", parts...);
}

std::string_view PickleReader::take(uint64_t bytes) {
  if (bytes > pickle_.size() - at_) {
    fail("unexpected EOF, expected ", bytes - (pickle_.size() - at_),
         " more bytes. The file might be corrupted.");
  }
  const std::string_view taken = pickle_.substr(at_, bytes);
  at_ += bytes;
  return taken;
}

template <class T>
T PickleReader::take_number() {
  return zip::get<T>(take(sizeof(T)).data());
}

std::string_view PickleReader::take_line() {
  const size_t end = pickle_.find('\n', at_);
  if (end == std::string_view::npos)
    fail("unexpected EOF within a line. The file might be corrupted.");
  const std::string_view line = pickle_.substr(at_, end - at_);
  at_ = end + 1;
  return line;
}

PickleReader::Ref PickleReader::make(Kind kind) {
  values_.emplace_back().kind = kind;
  return &values_.back();
}

void PickleReader::push_int(int64_t value) {
  push(make(Kind::Int));
  top()->integer = value;
}

void PickleReader::push_string(std::string_view text) {
  push(make(Kind::String));
  top()->text = text;
}

void PickleReader::push_long(std::string_view bytes) {
  if (bytes.size() > 8) fail("an integer of ", bytes.size(), " bytes is too large");
  uint64_t value = 0;
  for (size_t i = 0; i < bytes.size(); ++i)
    value |= static_cast<uint64_t>(static_cast<uint8_t>(bytes[i])) << (8 * i);
  const size_t bits = bytes.size() * 8;
  if (bits > 0 && bits < 64 && (value >> (bits - 1))) value |= ~uint64_t{0} << bits;
  push_int(static_cast<int64_t>(value));
}

PickleReader::Ref& PickleReader::top() {
  if (stack_.empty()) fail("the stack is empty");
  return stack_.back();
}

PickleReader::Ref PickleReader::pop() {
  const Ref value = top();
  if (value->kind == Kind::Mark) fail("a mark stands where a value is expected");
  stack_.pop_back();
  return value;
}

PickleReader::Ref PickleReader::pop(Kind kind) {
  const Ref value = pop();
  if (value->kind != kind) {
    PickleValue expected;
    expected.kind = kind;
    fail("expected ", expected.description(), ", got ", value->description());
  }
  return value;
}

void PickleReader::push_tuple(size_t count) {
  const Ref tuple = make(Kind::Tuple);
  tuple->items.resize(count);
  for (size_t i = count; i-- > 0;) tuple->items[i] = pop();
  push(tuple);
}

std::vector<const PickleValue*> PickleReader::pop_to_mark() {
  size_t from = stack_.size();
  while (from > 0 && stack_[from - 1]->kind != Kind::Mark) --from;
  if (from == 0) fail("no mark on the stack");
  std::vector<const PickleValue*> values(stack_.begin() + static_cast<std::ptrdiff_t>(from),
                                         stack_.end());
  stack_.resize(from - 1);
  return values;
}

void PickleReader::append(std::vector<const PickleValue*> values) {
  const Ref list = top();
  if (list->kind != Kind::List)
    fail("items can be appended to a list only, got ", list->description());
  list->items.insert(list->items.end(), values.begin(), values.end());
}

void PickleReader::set_items(const std::vector<const PickleValue*>& values) {
  const Ref dict = top();
  if (dict->kind != Kind::Dict) fail("items can be set in a dict only, got ", dict->description());
  if (values.size() % 2 != 0) fail("a key without a value");
  for (size_t i = 0; i < values.size(); i += 2) dict->pairs.emplace_back(values[i], values[i + 1]);
}

void PickleReader::put(uint64_t index) { memo_[index] = top(); }

void PickleReader::get(uint64_t index) {
  const auto it = memo_.find(index);
  if (it == memo_.end()) fail("memo entry ", index, " was never written");
  push(it->second);
}

void PickleReader::global(std::string module, std::string name) {
  push(make(Kind::Global));
  top()->text = module + " " + name;
}

void PickleReader::persistent_load() {
  const Ref id = pop(Kind::Tuple);
  const auto& parts = id->items;
  if (parts.size() != 5 || parts[0]->kind != Kind::String || parts[0]->text != "storage" ||
      parts[1]->kind != Kind::Global || parts[2]->kind != Kind::String ||
      parts[3]->kind != Kind::String || parts[4]->kind != Kind::Int) {
    fail("a persistent id must be ('storage', class, key, location, numel)");
  }
  const std::optional<ScalarType> dtype = storage_dtype(parts[1]->text);
  if (!dtype) fail("Unsupported storage class: GLOBAL ", parts[1]->text);
  const std::string& key = parts[2]->text;
  const int64_t numel = parts[4]->integer;
  if (numel < 0) fail("storage ", key, " has a negative number of elements: ", numel);

  Ref& storage = storages_[key];
  if (!storage) {
    storage = make(Kind::Storage);
    storage->text = key;
    storage->integer = numel;
    storage->tensor = load_storage_(key, *dtype, numel);
  }
  if (storage->tensor.dtype() != *dtype || storage->integer != numel) {
    fail("storage ", key, " occurs as ", storage->integer, " elements of ", storage->tensor.dtype(),
         " and as ", numel, " of ", *dtype);
  }
  push(storage);
}

void PickleReader::reduce() {
  const Ref arguments = pop(Kind::Tuple);
  const Ref function = pop(Kind::Global);
  const std::string& name = function->text;
  const auto& args = arguments->items;
  if (name == "collections OrderedDict" && args.empty()) {
    push(make(Kind::Dict));
  } else if (name == "torch._utils _rebuild_tensor_v2" || name == "torch._utils _rebuild_tensor") {
    push(rebuild_tensor(args));
  } else if (name == "torch._utils _rebuild_parameter" && args.size() == 3 &&
             args[0]->kind == Kind::Tensor && args[1]->kind == Kind::Bool) {
    push(const_cast<Ref>(args[0]));
  } else if (name == "torch Size" && args.size() == 1 && args[0]->kind == Kind::Tuple) {
    push(const_cast<Ref>(args[0]));
  } else {
    fail("Weights only load failed. Unsupported global: GLOBAL ", name,
         " was not an allowed global by default.");
  }
}

PickleReader::Ref PickleReader::rebuild_tensor(const std::vector<const PickleValue*>& args) {
  const auto is = [&](size_t i, Kind kind) { return args[i]->kind == kind; };
  const bool short_form = args.size() == 4;
  if (!(short_form || args.size() == 6 || args.size() == 7) || !is(0, Kind::Storage) ||
      !is(1, Kind::Int) || !is(2, Kind::Tuple) || !is(3, Kind::Tuple) ||
      (!short_form && !is(4, Kind::Bool))) {
    fail("a tensor must be rebuilt from (storage, offset, size, stride, requires_grad, hooks)");
  }
  if (args.size() == 7 && !(is(6, Kind::Dict) && args[6]->pairs.empty()) && !is(6, Kind::None)) {
    fail("conjugate and negative views are not supported");
  }
  const auto numbers = [&](const PickleValue& tuple, const char* what) {
    DimVector values;
    for (const PickleValue* v : tuple.items) {
      if (v->kind != Kind::Int) fail(what, " must be ints, got ", v->description());
      values.push_back(v->integer);
    }
    return values;
  };
  const Ref tensor = make(Kind::Tensor);
  try {
    tensor->tensor = tensor_over(args[0]->tensor, args[1]->integer, numbers(*args[2], "sizes"),
                                 numbers(*args[3], "strides"));
  } catch (const ValueError& error) {
    fail("storage ", args[0]->text, ": ", error.what());
  }
  return tensor;
}

void PickleReader::build() {
  const Ref state = pop();
  const Ref object = top();
  // Attributes of a dictionary: a module's versions under "_metadata". Nothing here depends on
  // them.
  if (object->kind != Kind::Dict || state->kind != Kind::Dict) {
    fail("attributes can be set on a dict only, got ", object->description());
  }
}

const PickleValue& PickleReader::run() {
  while (step()) {
  }
  const Ref result = pop();
  if (!stack_.empty()) fail("the pickle ends with ", stack_.size(), " values left over");
  return *result;
}

/// Runs one opcode; false for the last.
bool PickleReader::step() {
  opcode_at_ = at_;
  const auto opcode = static_cast<uint8_t>(take(1)[0]);
  switch (opcode) {
  case 0x80: {  // PROTO
    const auto protocol = take_number<uint8_t>();
    if (protocol < 2 || protocol > 5) fail("pickle protocol ", int{protocol}, " is not supported");
    break;
  }
  case 0x95:  // FRAME
    take(8);
    break;
  case '.': return false;
  case '(': push(make(Kind::Mark)); break;
  case '0': pop(); break;
  case '1': pop_to_mark(); break;
  case '2': push(top()); break;
  case 'N': push(make(Kind::None)); break;
  case 0x88:
  case 0x89:
    push(make(Kind::Bool));
    top()->integer = opcode == 0x88;
    break;
  case 'K': push_int(take_number<uint8_t>()); break;
  case 'M': push_int(take_number<uint16_t>()); break;
  case 'J': push_int(take_number<int32_t>()); break;
  case 0x8a:  // LONG1
    push_long(take(take_number<uint8_t>()));
    break;
  case 'G': {  // BINFLOAT, big-endian
    uint64_t bits = 0;
    for (const char c : take(8)) bits = (bits << 8) | static_cast<uint8_t>(c);
    push(make(Kind::Float));
    top()->number = std::bit_cast<double>(bits);
    break;
  }
  case 'X': push_string(take(take_number<uint32_t>())); break;
  case 0x8c:  // SHORT_BINUNICODE
    push_string(take(take_number<uint8_t>()));
    break;
  case 0x8d:  // BINUNICODE8
    push_string(take(take_number<uint64_t>()));
    break;
  case ')': push(make(Kind::Tuple)); break;
  case 0x85:
  case 0x86:
  case 0x87: push_tuple(opcode - 0x84u); break;
  case 't': {
    auto items = pop_to_mark();
    push(make(Kind::Tuple));
    top()->items = std::move(items);
    break;
  }
  case ']': push(make(Kind::List)); break;
  case 'a': {
    const Ref item = pop();
    append({item});
    break;
  }
  case 'e': append(pop_to_mark()); break;
  case '}': push(make(Kind::Dict)); break;
  case 's': {
    const Ref value = pop();
    const Ref key = pop();
    set_items({key, value});
    break;
  }
  case 'u': set_items(pop_to_mark()); break;
  case 'q': put(take_number<uint8_t>()); break;
  case 'r': put(take_number<uint32_t>()); break;
  case 0x94:  // MEMOIZE
    put(memo_.size());
    break;
  case 'h': get(take_number<uint8_t>()); break;
  case 'j': get(take_number<uint32_t>()); break;
  case 'c': {
    std::string module(take_line());
    global(std::move(module), std::string(take_line()));
    break;
  }
  case 0x93: {  // STACK_GLOBAL
    const std::string name = pop(Kind::String)->text;
    global(pop(Kind::String)->text, name);
    break;
  }
  case 'R': reduce(); break;
  case 'b': build(); break;
  case 'Q': persistent_load(); break;
  default: fail("opcode ", int{opcode}, " is not supported");
  }
  return true;
}

}  // namespace tenon::serialization
