"""A model that is trained, saved, loaded, and trained on as if nothing had been between."""

import io

torch.manual_seed(0)


def make():
    model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
    return model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def train(model, optimizer, steps):
    x = torch.linspace(-1, 1, 30).reshape(10, 3)
    target = x.sum(dim=1, keepdim=True)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), target)
        loss.backward()
        optimizer.step()
    return loss.item()


model, optimizer = make()
print(model)
print(list(model.state_dict()), sum(p.numel() for p in model.parameters()))
print(f"{train(model, optimizer, 20):.4f}")

file = io.BytesIO()
torch.save({"step": 20, "model": model.state_dict(), "optimizer": optimizer.state_dict()}, file)
file.seek(0)
checkpoint = torch.load(file, weights_only=True)
again, its_optimizer = make()
again.load_state_dict(checkpoint["model"])
its_optimizer.load_state_dict(checkpoint["optimizer"])
print(checkpoint["step"], sorted(checkpoint["optimizer"]))
one, other = train(model, optimizer, 20), train(again, its_optimizer, 20)
print(f"{one:.4f}", one == other)

again.eval()
with torch.no_grad():
    print(again(torch.zeros(1, 3)).shape[1], again.training)
del checkpoint["model"]["0.bias"]
print(make()[0].load_state_dict(checkpoint["model"], strict=False))
