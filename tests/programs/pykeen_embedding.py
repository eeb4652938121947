"""Embeddings of graphs with pykeen."""

import logging

import torch

logging.disable()
import numpy as np
from pykeen.models import TransE
from pykeen.triples import TriplesFactory

torch.manual_seed(0)
tf = TriplesFactory.from_labeled_triples(np.array([["a", "r", "b"], ["b", "r", "c"], ["c", "s", "a"]]))
m = TransE(triples_factory=tf, embedding_dim=4, random_seed=0)
print("transe", tuple(m.score_hrt(tf.mapped_triples).shape))
