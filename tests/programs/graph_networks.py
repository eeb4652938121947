"""More layers of graphs: torch_geometric."""

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import (
    GATConv,
    GINConv,
    GraphConv,
    SAGEConv,
    TransformerConv,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)
from torch_geometric.transforms import AddSelfLoops, ToUndirected
from torch_geometric.utils import degree, remove_self_loops, softmax, subgraph, to_dense_adj

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 2, 3, 0], [1, 2, 3, 0, 2]])
x = torch.randn(4, 3)
for layer in (
    GATConv(3, 2, heads=2),
    SAGEConv(3, 4),
    GraphConv(3, 4),
    TransformerConv(3, 2, heads=2),
    GINConv(torch.nn.Linear(3, 4)),
):
    out = layer(x, edges)
    out.sum().backward()
    grad = sum(p.grad.abs().sum().item() for p in layer.parameters() if p.grad is not None)
    print(type(layer).__name__, tuple(out.shape), round(out.sum().item(), 4), round(grad, 3))
data = AddSelfLoops()(ToUndirected()(Data(x=x, edge_index=edges)))
print(data, degree(data.edge_index[0]).tolist(), remove_self_loops(data.edge_index)[0].shape[1])
batch = Batch.from_data_list([data, Data(x=torch.ones(2, 3), edge_index=torch.tensor([[0], [1]]))])
print(batch, batch.ptr.tolist())
for pool in (global_add_pool, global_mean_pool, global_max_pool):
    print(pool.__name__, [[round(v, 3) for v in row] for row in pool(batch.x, batch.batch).tolist()])
print(to_dense_adj(edges).sum().item(), subgraph([0, 1, 2], edges)[0].tolist())
print([round(v, 4) for v in softmax(torch.arange(5.0), edges[1]).tolist()])
for part in DataLoader([data] * 3, batch_size=2):
    print(part.num_graphs, part.x.shape)
