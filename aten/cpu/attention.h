#pragma once

#include <cstdint>

namespace tenon::native {

/// [B, H, L, E] with contiguous rows: strides in elements.
template <class T>
struct Heads {
  T* data = nullptr;
  int64_t batch = 0, head = 0, row = 0;

  T* at(int64_t b, int64_t h) const { return data + b * batch + h * head; }
};

/// What is added to the scores [B, H, L, S], or which of them count. Strides may be 0.
template <class T>
struct AttentionMask {
  const T* added = nullptr;
  const bool* seen = nullptr;
  int64_t batch = 0, head = 0, row = 0, key = 0;
};

/// softmax(scale query key^T + mask) value. Each head of key and value serves `shared` of query's.
template <class T>
struct Attention {
  int64_t batches, heads, shared, rows, keys, width;
  T scale;
  bool causal;
  Heads<const T> query, key, value;
  AttentionMask<T> mask;
  Heads<T> out;        ///< read by the backward
  Heads<T> logsumexp;  ///< [B, H, L]: `row` is the stride of L

  int64_t key_heads() const { return heads / shared; }
};

/// Gradients, contiguous rows, from that of the output.
template <class T>
struct AttentionGradients {
  Heads<const T> out;
  Heads<T> query, key, value;
};

/// In tiles with a running maximum and sum (Dao et al. 2022), in O(L) memory. float and double.
template <class T>
void attention_forward(const Attention<T>& a);

/// Recomputes the tiles from logsumexp.
template <class T>
void attention_backward(const Attention<T>& a, const AttentionGradients<T>& g);

template <>
void attention_forward(const Attention<float>& a);
template <>
void attention_forward(const Attention<double>& a);
template <>
void attention_backward(const Attention<float>& a, const AttentionGradients<float>& g);
template <>
void attention_backward(const Attention<double>& a, const AttentionGradients<double>& g);

}  // namespace tenon::native
