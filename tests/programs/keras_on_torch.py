"""Keras with its backend for PyTorch: layers, training, metrics and a layer of one's own."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from keras import layers, ops

keras.utils.set_random_seed(0)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32")
y = (x[:, 0] * x[:, 1] > 0).astype("int32")

model = keras.Sequential(
    [layers.Input((8,)), layers.Dense(16, activation="gelu"), layers.BatchNormalization(), layers.Dense(2)]
)
for weight in model.weights:
    if "kernel" in weight.path:
        weight.assign(rng.normal(size=weight.shape).astype("float32") * 0.3)
model.compile(
    optimizer=keras.optimizers.AdamW(1e-2),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
history = model.fit(x, y, batch_size=16, epochs=3, shuffle=False, verbose=0)
print("fit", [round(value, 5) for value in history.history["loss"]])
print("evaluate", model.evaluate(x, y, verbose=0))
print("parameters", model.count_params(), model.predict(x[:3], verbose=0).round(4).tolist())

images = rng.normal(size=(8, 12, 12, 3)).astype("float32")
inputs = keras.Input((12, 12, 3))
hidden = layers.Conv2D(4, 3, padding="same", activation="relu")(inputs)
hidden = layers.MaxPooling2D()(hidden)
hidden = layers.DepthwiseConv2D(3, padding="same")(hidden)
hidden = layers.LayerNormalization()(hidden)
outputs = layers.Dense(1)(layers.GlobalAveragePooling2D()(hidden))
convolutional = keras.Model(inputs, outputs)
for weight in convolutional.weights:
    if "kernel" in weight.path:
        weight.assign(rng.normal(size=weight.shape).astype("float32") * 0.2)
convolutional.compile(optimizer="sgd", loss="mse")
print("convolution", convolutional.train_on_batch(images, np.ones((8, 1), "float32")))


class Scaled(layers.Layer):
    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones", name="scale")

    def call(self, inputs):
        return ops.softmax(inputs * self.scale, axis=-1)


tokens = rng.integers(1, 20, size=(4, 6))
sequence = keras.Sequential([layers.Embedding(20, 8, mask_zero=True), layers.GRU(8, return_sequences=True), Scaled()])
sequence.build((None, 6))
for weight in sequence.weights:
    weight.assign(rng.normal(size=weight.shape).astype("float32") * 0.5)
print("sequence", np.asarray(ops.convert_to_numpy(sequence(tokens)))[0, -1].round(4).tolist())

attention = layers.MultiHeadAttention(num_heads=2, key_dim=4)
query = ops.convert_to_tensor(rng.normal(size=(2, 5, 8)).astype("float32"))
attention.build(query.shape, query.shape)
for weight in attention.weights:
    weight.assign(rng.normal(size=weight.shape).astype("float32") * 0.5)
print("attention", float(ops.sum(ops.square(attention(query, query, use_causal_mask=True)))))
a = ops.convert_to_tensor(rng.normal(size=(3, 4)).astype("float32"))
print(
    "ops",
    float(ops.logsumexp(a)),
    ops.convert_to_numpy(ops.top_k(a, 2)[1]).tolist(),
    ops.einsum("ij,kj->ik", a, a).shape,
)
print(
    "segments",
    ops.convert_to_numpy(ops.segment_sum(a, ops.convert_to_tensor([0, 0, 1]), num_segments=2)).round(4).tolist(),
)
print("vectorized", ops.convert_to_numpy(ops.vectorized_map(lambda row: ops.sum(row * row), a)).round(4).tolist())
