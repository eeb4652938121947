#include "runtime/serialization/pickle/unpickler.h"

#include <algorithm>
#include <bit>

#include "runtime/serialization/pickle/globals.h"
#include "runtime/serialization/pickle/pickle_text.h"
#include "runtime/serialization/printable.h"
#include "runtime/serialization/values/big_integer.h"

namespace tenon::serialization {
namespace {

/// The machine's own stack of marks, which a pickle of one letter could fill.
constexpr size_t kMaxMarks = 100'000;
/// Of the numbers of memo entries: 64 bits have no more digits.
constexpr size_t kMaxIndexDigits = 20;
/// Of storages: numbers, or addresses.
constexpr size_t kMaxKey = 1024;
/// Of a message, which may quote the pickle.
constexpr size_t kMaxMessage = 1000;

const char* rejected_name(Opcode opcode) {
  switch (opcode) {
  case Opcode::Inst: return "INST";
  case Opcode::Obj: return "OBJ";
  case Opcode::PersId: return "PERSID";
  case Opcode::Ext1: return "EXT1";
  case Opcode::Ext2: return "EXT2";
  case Opcode::Ext4: return "EXT4";
  case Opcode::NextBuffer: return "NEXT_BUFFER";
  case Opcode::ReadonlyBuffer: return "READONLY_BUFFER";
  default: return nullptr;
  }
}

}  // namespace

Unpickler::Unpickler(ByteCursor& in, const Globals& globals, const LoadOptions& options,
                     Budget& budget, LoadStorage load_storage, std::function<void()> fill_storages)
    : in_(in), globals_(globals), options_(options), budget_(budget),
      load_storage_(std::move(load_storage)), fill_storages_(std::move(fill_storages)) {}

template <class F>
void Unpickler::empty_all(F&& wanted) {
  std::vector<Value> children;
  for (const Value& object : tracked_) {
    if (!wanted(object)) continue;
    detail::Node::share(object)->take_children(children);
    children.clear();
  }
}

Unpickler::~Unpickler() {
  if (finished_) return;
  try {
    empty_all([](const Value&) { return true; });
  } catch (const std::bad_alloc&) {  // then circles stay
  }
}

void Unpickler::fail(const std::string& what) const {
  tenon::detail::raise<Error>("[load] ", in_.name(), " at byte ", opcode_at_, ": ",
                              printable(what, kMaxMessage));
}

Value Unpickler::track(Value object) {
  tracked_.push_back(object);
  return object;
}

// ---- stack -----------------------------------------------------------------------------------

void Unpickler::push(Value value) {
  budget_.spend(Budget::kValue);
  stack_.push_back(std::move(value));
}

Value& Unpickler::top() {
  if (!marks_.empty() && stack_.size() <= marks_.back())
    fail("a mark stands where a value is expected");
  if (stack_.empty()) fail("the stack is empty");
  return stack_.back();
}

Value Unpickler::pop() {
  Value value = std::move(top());
  stack_.pop_back();
  return value;
}

Value Unpickler::pop(Kind kind) {
  Value value = pop();
  if (!value.is(kind)) {
    fail(std::string("expected ") + description(kind) + ", got " + value.description());
  }
  return value;
}

size_t Unpickler::last_mark() {
  if (marks_.empty()) fail("no mark on the stack");
  const size_t mark = marks_.back();
  marks_.pop_back();
  return mark;
}

Value::Items Unpickler::pop_to_mark() {
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(last_mark());
  Value::Items values(std::make_move_iterator(from), std::make_move_iterator(stack_.end()));
  stack_.erase(from, stack_.end());
  return values;
}

void Unpickler::push_tuple(size_t count) {
  budget_.spend(Budget::kNode);
  Value::Items items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  push(Value::tuple(std::move(items)));
}

void Unpickler::put(uint64_t index) {
  budget_.spend(Budget::kValue);
  if (index > memo_.size()) {
    far_memo_.insert_or_assign(index, top());
  } else if (index < memo_.size()) {
    memo_[index] = top();
  } else {
    memo_.push_back(top());
    far_memo_.erase(index);
  }
}

void Unpickler::get(uint64_t index) {
  if (index < memo_.size()) return push(Value(memo_[index]));
  const auto it = far_memo_.find(index);
  if (it == far_memo_.end()) fail("memo entry " + std::to_string(index) + " was never written");
  push(it->second);
}

// ---- containers ------------------------------------------------------------------------------

void Unpickler::append(const Value::Items& items) {
  Value list = top();
  if (list.is(Kind::Object)) {
    if (list.elements().is_none()) list.set_elements(track(Value::list()));
    list = list.elements();
  }
  if (!list.is_list())
    fail(std::string("items can be appended to a list only, got ") + list.description());
  list.list_items().insert(list.list_items().end(), items.begin(), items.end());
}

void Unpickler::set_items(const Value::Items& items) {
  Value dict = top();
  if (dict.is(Kind::Object)) {
    if (dict.elements().is_none()) dict.set_elements(track(Value::dict()));
    dict = dict.elements();
  }
  if (!dict.is_dict())
    fail(std::string("items can be set in a dict only, got ") + dict.description());
  if (items.size() % 2 != 0) fail("a key without a value");
  for (size_t i = 0; i < items.size(); i += 2)
    detail::set_item(dict, items[i], items[i + 1], budget_);
}

void Unpickler::push_dict(const Value::Items& items) {
  push(track(Value::dict()));
  set_items(items);
}

void Unpickler::push_frozenset(const Value::Items& items) {
  const Value set = track(Value::frozenset());
  for (const Value& item : items) detail::add_item(set, item, budget_);
  push(set);
}

void Unpickler::add_items(const Value::Items& items) {
  const Value& set = top();
  if (!set.is(Kind::Set))
    fail(std::string("items can be added to a set only, got ") + set.description());
  for (const Value& item : items) detail::add_item(set, item, budget_);
}

// ---- calls -----------------------------------------------------------------------------------

void Unpickler::global(std::string module, const std::string& name) {
  budget_.spend(Budget::kCall + module.size() + name.size());
  if (!is_utf8(module) || !is_utf8(name)) fail("the name of a global is not UTF-8");
  push(globals_.resolve(*this, std::move(module), name));
}

void Unpickler::reduce() {
  budget_.spend(Budget::kCall);
  const Value args = pop(Kind::Tuple);
  const Value function = pop();
  if (!function.is(Kind::Global))
    fail(std::string("Trying to call reduce for ") + function.description() +
         ", which is no function");
  budget_.spend(function.name().size());
  push(globals_.call(*this, function.name(), args, false));
}

void Unpickler::new_object(bool has_keywords) {
  budget_.spend(Budget::kCall);
  if (has_keywords) {
    const Value keywords = pop();
    if (!keywords.is_dict() || keywords.size() > 0)
      fail("keyword arguments of NEWOBJ_EX are not supported");
  }
  const Value args = pop(Kind::Tuple);
  const Value cls = pop();
  if (!cls.is(Kind::Global))
    fail(std::string("Can only create new object of a class, got ") + cls.description());
  budget_.spend(cls.name().size());
  push(globals_.call(*this, cls.name(), args, true));
}

void Unpickler::build() {
  const Value state = pop();
  globals_.build(*this, top(), state);
}

void Unpickler::persistent_load() {
  budget_.spend(Budget::kCall);
  const Value id = pop(Kind::Tuple);
  const auto& parts = id.items();
  const auto word = [this](const Value& v) {
    std::string text;
    if (v.fits_int64()) return std::to_string(v.to_int());
    // Bytes in files of Python 2 that are read with encoding="bytes".
    if (v.is(Kind::Bytes)) text = v.to_bytes();
    if (v.is_string()) text = v.to_string();
    if (text.size() > kMaxKey)
      fail("a word of " + std::to_string(text.size()) + " bytes in a persistent id, at most " +
           std::to_string(kMaxKey) + " are read");
    return text;
  };
  const bool has_type = !parts.empty() && (parts[0].is_string() || parts[0].is(Kind::Bytes));
  const std::string type = has_type ? word(parts[0]) : "";
  // Of a class that was saved whole with its source, which names the class.
  if (type == "module" && parts.size() == 4 && globals_.inspects()) return push(parts[1]);
  if (type != "storage") {
    const std::string got = has_type        ? printable(type, kPrintedName)
                            : parts.empty() ? "an empty tuple"
                                            : parts[0].description();
    fail("Only persistent_load of storage is allowed, but got " + got);
  }
  if (parts.size() < 5 || parts.size() > 6 || !parts[1].is(Kind::Global) || !parts[4].is_int()) {
    fail("a persistent id must be ('storage', class, key, location, numel)");
  }
  budget_.spend(parts[1].name().size());
  StorageId key{parts[1].name(), word(parts[2]), word(parts[3]), parts[4].to_int(), std::nullopt};
  if (key.key.empty() || key.location.empty() || parts[3].is_int())
    fail("a storage's key must be a string or an int of 64 bits, and its location a string");
  if (key.numel < 0)
    fail("storage " + key.key + " has a negative number of elements: " + std::to_string(key.numel));
  if (parts.size() == 6 && !parts[5].is_none()) {
    const Value& view = parts[5];
    if (!view.is_tuple() || view.size() != 3 || !view[1].is_int() || !view[2].is_int())
      fail("view_metadata must be (key, offset, size)");
    key.view = StorageId::View{word(view[0]), view[1].to_int(), view[2].to_int()};
  }
  last_storage_ = "storage " + key.key;
  push(load_storage_(key));
}

// ---- running ---------------------------------------------------------------------------------

detail::Nodes Unpickler::check_depth(const Value& value) const {
  return detail::each_reachable(value, [this](const Value& v, int depth) {
    if (depth <= options_.limits.depth || !detail::holds_values(v)) return;
    tenon::detail::raise<Error>("[load] ", in_.name(), ": containers are nested deeper than ",
                                options_.limits.depth, " (LoadLimits::depth)");
  });
}

/// Empties what the pickle made and dropped again, which may hold itself and would never be freed.
void Unpickler::drop_circles(const detail::Nodes& reachable) {
  if (gave_to_user_) return;
  empty_all([&](const Value& v) { return !reachable.contains(detail::Node::of(v)); });
}

Value Unpickler::run() {
  try {
    while (step()) {
    }
    Value result = pop();
    if (!stack_.empty())
      fail("the pickle ends with " + std::to_string(stack_.size()) + " values left over");
    drop_circles(check_depth(result));
    finished_ = true;
    return result;
  } catch (const Error& error) {
    // What an argument of the wrong kind or a key without a hash leads to has no place yet.
    if (std::string_view(error.what()).starts_with("[load]")) throw;
    fail(error.what());
  }
}

/// Runs one opcode; false for the last.
bool Unpickler::step() {
  opcode_at_ = in_.position();
  const auto opcode = static_cast<Opcode>(in_.take_number<uint8_t>());
  switch (opcode) {
  case Opcode::Proto: {
    const auto protocol = in_.take_number<uint8_t>();
    if (protocol > 5) fail("pickle protocol " + std::to_string(protocol) + " is not supported");
    return true;
  }
  case Opcode::Frame:
    if (in_.take_number<uint64_t>() > in_.left())
      fail("a frame reaches past the end of the pickle");
    return true;
  case Opcode::Stop: return false;
  case Opcode::Mark:
    if (marks_.size() >= kMaxMarks) fail("marks are nested too deep");
    marks_.push_back(stack_.size());
    return true;
  case Opcode::Pop:
    if (!marks_.empty() && marks_.back() == stack_.size()) {
      marks_.pop_back();
    } else {
      pop();
    }
    return true;
  case Opcode::PopMark: pop_to_mark(); return true;
  case Opcode::Dup: push(top()); return true;
  case Opcode::Global: {
    std::string module(in_.take_line());
    global(std::move(module), std::string(in_.take_line()));
    return true;
  }
  case Opcode::StackGlobal: {
    const Value name = pop(Kind::String);
    global(pop(Kind::String).to_string(), name.to_string());
    return true;
  }
  case Opcode::Reduce: reduce(); return true;
  case Opcode::NewObj: new_object(false); return true;
  case Opcode::NewObjEx: new_object(true); return true;
  case Opcode::Build: build(); return true;
  case Opcode::BinPersId: persistent_load(); return true;
  case Opcode::BinPut: put(in_.take_number<uint8_t>()); return true;
  case Opcode::LongBinPut: put(in_.take_number<uint32_t>()); return true;
  case Opcode::Memoize: put(memo_.size() + far_memo_.size()); return true;
  case Opcode::BinGet: get(in_.take_number<uint8_t>()); return true;
  case Opcode::LongBinGet: get(in_.take_number<uint32_t>()); return true;
  case Opcode::Put:
  case Opcode::Get: {
    const std::string_view digits = in_.take_line();
    if (digits.size() > kMaxIndexDigits) fail("the number of a memo entry has too many digits");
    const Value index = Value::int_of_decimal(digits);
    if (!index.fits_int64() || index.to_int() < 0) fail("a memo index must not be negative");
    const auto at = static_cast<uint64_t>(index.to_int());
    opcode == Opcode::Put ? put(at) : get(at);
    return true;
  }
  default: break;
  }
  if (step_number(opcode) || step_text(opcode) || step_container(opcode)) return true;
  if (const char* name = rejected_name(opcode))
    fail(std::string("opcode ") + name + " is not accepted");
  fail("opcode " + std::to_string(static_cast<int>(opcode)) + " is not supported");
}

bool Unpickler::step_container(Opcode opcode) {
  switch (opcode) {
  case Opcode::EmptyTuple:
  case Opcode::Tuple:
  case Opcode::EmptyList:
  case Opcode::List:
  case Opcode::EmptyDict:
  case Opcode::Dict:
  case Opcode::EmptySet:
  case Opcode::FrozenSet: budget_.spend(Budget::kNode); break;
  default: break;
  }
  switch (opcode) {
  case Opcode::EmptyTuple: push(Value::tuple()); return true;
  case Opcode::Tuple1: push_tuple(1); return true;
  case Opcode::Tuple2: push_tuple(2); return true;
  case Opcode::Tuple3: push_tuple(3); return true;
  case Opcode::Tuple: push(Value::tuple(pop_to_mark())); return true;
  case Opcode::EmptyList: push(track(Value::list())); return true;
  case Opcode::List: push(track(Value::list(pop_to_mark()))); return true;
  case Opcode::Append: {
    const Value item = pop();
    append({item});
    return true;
  }
  case Opcode::Appends: append(pop_to_mark()); return true;
  case Opcode::EmptyDict: push(track(Value::dict())); return true;
  case Opcode::Dict: push_dict(pop_to_mark()); return true;
  case Opcode::SetItem: {
    const Value value = pop();
    const Value key = pop();
    set_items({key, value});
    return true;
  }
  case Opcode::SetItems: set_items(pop_to_mark()); return true;
  case Opcode::EmptySet: push(track(Value::set())); return true;
  case Opcode::AddItems: add_items(pop_to_mark()); return true;
  case Opcode::FrozenSet: push_frozenset(pop_to_mark()); return true;
  default: return false;
  }
}

}  // namespace tenon::serialization
