"""Graph convolutions of torch_geometric."""

import torch
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GATConv, GCNConv, SAGEConv, global_mean_pool

torch.manual_seed(0)
edges = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
graphs = [Data(x=torch.randn(4, 5), edge_index=edges) for _ in range(2)]
batch = Batch.from_data_list(graphs)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = GCNConv(5, 8), GATConv(8, 8), SAGEConv(8, 3)

    def forward(self, data):
        x = self.a(data.x, data.edge_index).relu()
        x = self.b(x, data.edge_index).relu()
        return global_mean_pool(self.c(x, data.edge_index), data.batch)


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(net(batch), torch.tensor([0, 2]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
