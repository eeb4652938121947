#pragma once

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
    const Key& key() const { return pair_.first; }
    Value& value() { return pair_.second; }
    const Value& value() const { return pair_.second; }
    Value& operator*() { return pair_.second; }
    const Value& operator*() const { return pair_.second; }
    Value* operator->() { return &pair_.second; }
    const Value* operator->() const { return &pair_.second; }
    const std::pair<Key, Value>& pair() const { return pair_; }

   private:
    std::pair<Key, Value> pair_;
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `description` is what one entry is called in error messages.
  explicit OrderedDict(std::string description = "Key") : description_(std::move(description)) {}
  OrderedDict(std::initializer_list<Item> items) : OrderedDict() {
    for (const Item& item : items) insert(item.key(), item.value());
  }

  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  size_t size() const { return items_.size(); }
  bool is_empty() const { return items_.empty(); }
  bool empty() const { return items_.empty(); }
  Item& front() { return items_.front(); }
  Item& back() { return items_.back(); }
  const std::vector<Item>& items() const { return items_; }

  Value* find(const Key& key) {
    const auto it = index_.find(key);
    return it == index_.end() ? nullptr : &items_[it->second].value();
  }
  const Value* find(const Key& key) const { return const_cast<OrderedDict*>(this)->find(key); }
  bool contains(const Key& key) const { return index_.count(key) != 0; }

  /// Error "Parameter 'weight' is not defined" if there is no such key.
  Value& operator[](const Key& key) {
    Value* value = find(key);
    TENON_CHECK(value, description_, " '", key, "' is not defined");
    return *value;
  }
  const Value& operator[](const Key& key) const { return (*const_cast<OrderedDict*>(this))[key]; }
  Item& operator[](size_t i) { return items_.at(i); }
  const Item& operator[](size_t i) const { return items_.at(i); }

  /// Error "Parameter 'weight' is already defined" if there is such a key.
  Value& insert(Key key, Value value) {
    TENON_CHECK(!contains(key), description_, " '", key, "' is already defined");
    index_.emplace(key, items_.size());
    items_.emplace_back(std::move(key), std::move(value));
    return items_.back().value();
  }
  /// Sets the value of a key, new or not.
  Value& set(Key key, Value value) {
    if (Value* present = find(key)) return *present = std::move(value);
    return insert(std::move(key), std::move(value));
  }
  void update(const OrderedDict& other) {
    for (const Item& item : other) insert(item.key(), item.value());
  }
  void erase(const Key& key) {
    const auto it = index_.find(key);
    TENON_CHECK(it != index_.end(), description_, " '", key, "' is not defined");
    const size_t at = it->second;
    items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
    index_.erase(it);
    for (auto& entry : index_) entry.second -= entry.second > at;
  }
  void clear() {
    items_.clear();
    index_.clear();
  }
  void reserve(size_t n) { items_.reserve(n); }

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

 private:
  std::string description_;
  std::vector<Item> items_;
  std::unordered_map<Key, size_t> index_;
};

}  // namespace tenon
