#pragma once

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "aten/core/error.h"

namespace tenon {

/// A map that iterates in the order of insertion. Items have key() and value().
template <class Key, class Value>
class OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    const Key& key() const noexcept { return pair_.first; }
    Value& value() noexcept { return pair_.second; }
    const Value& value() const noexcept { return pair_.second; }
    Value& operator*() noexcept { return pair_.second; }
    const Value& operator*() const noexcept { return pair_.second; }
    Value* operator->() noexcept { return &pair_.second; }
    const Value* operator->() const noexcept { return &pair_.second; }
    const std::pair<Key, Value>& pair() const noexcept { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` is what one key is called in error messages.
  explicit OrderedDict(std::string key_description = "Key")
      : key_description_(std::move(key_description)) {}
  /// Error if a key occurs twice.
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    items_.reserve(items.size());
    for (const Item& item : items) insert(item.key(), item.value());
  }
  const std::string& key_description() const noexcept { return key_description_; }

  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  bool empty() const noexcept { return items_.empty(); }
  /// Error "Called front() on an empty OrderedDict".
  Item& front() {
    TENON_CHECK(!is_empty(), "Called front() on an empty OrderedDict");
    return items_.front();
  }
  const Item& front() const { return const_cast<OrderedDict*>(this)->front(); }
  Item& back() {
    TENON_CHECK(!is_empty(), "Called back() on an empty OrderedDict");
    return items_.back();
  }
  const Item& back() const { return const_cast<OrderedDict*>(this)->back(); }
  const std::vector<Item>& items() const noexcept { return items_; }

  Value* find(const Key& key) noexcept {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  const Value* find(const Key& key) const noexcept {
    return const_cast<OrderedDict*>(this)->find(key);
  }
  bool contains(const Key& key) const noexcept { return index_.count(key) != 0; }

  /// Error "Parameter 'weight' is not defined" if there is no such key.
  Value& operator[](const Key& key) {
    Value* value = find(key);
    TENON_CHECK(value, key_description_, " '", key, "' is not defined");
    return *value;
  }
  const Value& operator[](const Key& key) const { return (*const_cast<OrderedDict*>(this))[key]; }
  /// IndexError "Index 3 is out of bounds" if there are no more than i items.
  Item& operator[](size_t i) {
    TENON_CHECK_INDEX(i < size(), "Index ", i, " is out of bounds");
    return items_[i];
  }
  const Item& operator[](size_t i) const { return (*const_cast<OrderedDict*>(this))[i]; }

  /// Error "Parameter 'weight' already defined" if there is such a key.
  Value& insert(Key key, Value value) {
    TENON_CHECK(!contains(key), key_description_, " '", key, "' already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  /// Sets the value of a key, new or not.
  Value& set(Key key, Value value) {
    if (Value* present = find(key)) return *present = std::move(value);
    return insert(std::move(key), std::move(value));
  }
  /// Appends the items of `other`. Error if one of its keys is present.
  void update(const OrderedDict& other) {
    reserve(size() + other.size());
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void update(OrderedDict&& other) {
    reserve(size() + other.size());
    for (Item& item : other) insert(item.key(), std::move(item.value()));
  }
  void erase(const Key& key) {
    const auto it = index_.find(key);
    TENON_CHECK(it != index_.end(), key_description_, " '", key, "' is not defined");
    const size_t at = it->second;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    index_.erase(it);
    for (auto& entry : index_) entry.second -= entry.second > at;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }
  void reserve(size_t n) {
    items_.reserve(n);
    index_.reserve(n);
  }

  std::vector<Key> keys() const {
    std::vector<Key> all;
    all.reserve(size());
    for (const Item& item : items_) all.push_back(item.key());
    return all;
  }
  std::vector<Value> values() const {
    std::vector<Value> all;
    all.reserve(size());
    for (const Item& item : items_) all.push_back(item.value());
    return all;
  }
  std::vector<std::pair<Key, Value>> pairs() const {
    std::vector<std::pair<Key, Value>> all;
    all.reserve(size());
    for (const Item& item : items_) all.push_back(item.pair());
    return all;
  }

 private:
  std::string key_description_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace tenon
