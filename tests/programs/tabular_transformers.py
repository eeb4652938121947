"""Models of tables: rtdl's embeddings and transformers, and lucidrains' tab-transformer."""

import torch
from rtdl_num_embeddings import (
    LinearReLUEmbeddings,
    PeriodicEmbeddings,
    PiecewiseLinearEmbeddings,
    PiecewiseLinearEncoding,
    compute_bins,
)
from rtdl_revisiting_models import MLP, CategoricalEmbeddings, FTTransformer, ResNet
from tab_transformer_pytorch import FTTransformer as SmallTransformer

torch.manual_seed(0)
generator = torch.Generator().manual_seed(1)


def filled(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.2)
    return module.eval()


numbers, categories = torch.randn(20, 3, generator=generator), torch.randint(0, 2, (20, 2), generator=generator)
target = numbers.sum(1)
bins = compute_bins(numbers, n_bins=4)
print("bins", [part.tolist() for part in bins])
print(
    "trees",
    [
        len(part)
        for part in compute_bins(numbers, tree_kwargs={"min_samples_leaf": 4}, y=target, regression=True, n_bins=4)
    ],
)
print("encoding", PiecewiseLinearEncoding(bins)(numbers).sum(0)[:5].tolist())
for embedding in (
    PiecewiseLinearEmbeddings(bins, 4, activation=False, version="B"),
    PeriodicEmbeddings(3, 4, lite=True),
    LinearReLUEmbeddings(3, 4),
):
    print(type(embedding).__name__, filled(embedding)(numbers).square().mean().item())
mlp = filled(MLP(d_in=3, d_out=1, n_blocks=2, d_block=8, dropout=0.1))
resnet = filled(ResNet(d_in=3, d_out=1, n_blocks=2, d_block=8, d_hidden_multiplier=2.0, dropout1=0.1, dropout2=0.0))
print(
    "networks",
    mlp(numbers).sum().item(),
    resnet(numbers).sum().item(),
    CategoricalEmbeddings([2, 2], 4)(categories).shape,
)
transformer = filled(
    FTTransformer(n_cont_features=3, cat_cardinalities=[2, 2], d_out=1, n_blocks=2, d_block=8, attention_n_heads=2,
                  attention_dropout=0.1, ffn_d_hidden_multiplier=4 / 3, ffn_dropout=0.1, residual_dropout=0.0)
)  # fmt: skip
optimizer = torch.optim.AdamW(transformer.make_parameter_groups(), lr=1e-2, weight_decay=1e-3)
for _ in range(3):
    optimizer.zero_grad()
    loss = (transformer(numbers, categories)[:, 0] - target).square().mean()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
small = filled(SmallTransformer(categories=(2, 2), num_continuous=3, dim=8, dim_out=1, depth=2, heads=2))
output, attention = small(categories, numbers, return_attn=True)
print("small", output.flatten()[:3].tolist(), attention.shape)
