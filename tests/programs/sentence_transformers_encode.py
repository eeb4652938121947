"""sentence-transformers: a model made of parts, a loss."""

import torch
from sentence_transformers import SentenceTransformer, util

torch.manual_seed(0)
a, b = torch.randn(4, 8), torch.randn(3, 8)
print("cosine", util.cos_sim(a, b).sum().item(), util.dot_score(a, b).sum().item())
print("search", [[hit["corpus_id"] for hit in hits] for hits in util.semantic_search(a, b, top_k=2)])
from sentence_transformers.models import Dense, Normalize

dense = Dense(8, 4)
model = SentenceTransformer(modules=[dense, Normalize()], device="cpu")
print("features", model({"sentence_embedding": a})["sentence_embedding"].sum().item())
