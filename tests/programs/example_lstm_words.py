"""A word classifier in the style of PyTorch's examples: packed sequences, an LSTM, a sampler."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

torch.manual_seed(0)


class Words(Dataset):
    def __init__(self):
        self.items = [(torch.randint(1, 20, (int(n),)), int(n) % 2) for n in torch.randint(3, 9, (40,))]

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        return self.items[index]


def collate(batch):
    lengths = torch.tensor([len(words) for words, _ in batch])
    return (
        pad_sequence([words for words, _ in batch], batch_first=True),
        lengths,
        torch.tensor([label for _, label in batch]),
    )


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.lstm, self.out = (
            nn.Embedding(20, 8, padding_idx=0),
            nn.LSTM(8, 16, 2, batch_first=True, bidirectional=True),
            nn.Linear(32, 2),
        )

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.embedding(words), lengths, batch_first=True, enforce_sorted=False)
        outputs, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        return self.out(outputs.mean(1))


data = Words()
loader = DataLoader(data, batch_size=8, collate_fn=collate, sampler=WeightedRandomSampler([1.0] * 40, 40))
model, criterion = Tagger(), nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(2):
    for words, lengths, labels in loader:
        loss = criterion(model(words, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("loss", loss.item())
