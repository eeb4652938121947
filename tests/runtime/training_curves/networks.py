"""The trainings of curves.cpp, for Tenon and for PyTorch: they begin with the same seed and take the same steps."""

import math


class Training:
    def __init__(self, library, models, optimizers, schedulers, step):
        self.library, self.models, self.optimizers, self.schedulers = library, models, optimizers, schedulers
        self.step = step

    def state(self):
        return {
            kind: [one.state_dict() for one in getattr(self, kind)] for kind in ("models", "optimizers", "schedulers")
        }

    def load(self, state):
        for kind in ("models", "optimizers", "schedulers"):
            for one, saved in zip(getattr(self, kind), state[kind]):
                one.load_state_dict(saved)


def lenet(lib):
    nn = lib.nn
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
    images, labels = lib.randn(4, 8, 1, 28, 28), lib.randint(10, (4, 8))
    optimizer = lib.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3, nesterov=True)
    scheduler = lib.optim.lr_scheduler.MultiStepLR(optimizer, [6, 14], 0.5)

    def step(k):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(images[k % 4]), labels[k % 4])
        loss.backward()
        optimizer.step()
        return [loss.item()]

    return Training(lib, [net], [optimizer], [scheduler], step)


def transformer(lib):
    nn = lib.nn
    table = nn.Embedding(30, 16)
    block = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.0, activation="gelu")
    norm, head = nn.LayerNorm(16), nn.Linear(16, 30)
    words = lib.randint(30, (4, 7, 4))
    mask = lib.triu(lib.full((6, 6), -math.inf), 1)
    models = [table, block, norm, head]
    parameters = [p for model in models for p in model.parameters()]
    optimizer = lib.optim.AdamW(parameters, lr=3e-3, betas=(0.9, 0.98), weight_decay=0.05, amsgrad=True)
    scheduler = lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20, 1e-4)

    def step(k):
        optimizer.zero_grad()
        scores = head(norm(block(table(words[k % 4][:6]), mask)))
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), words[k % 4][1:].flatten())
        loss.backward()
        nn.utils.clip_grad_norm_(parameters, 1.0)
        optimizer.step()
        return [loss.item()]

    return Training(lib, models, [optimizer], [scheduler], step)


def gan(lib):
    nn = lib.nn
    generator = nn.Sequential(
        nn.ConvTranspose2d(8, 16, 4, bias=False),
        nn.BatchNorm2d(16),
        nn.ReLU(),
        nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1),
        nn.Tanh(),
    )
    critic = nn.Sequential(
        nn.Conv2d(1, 16, 4, stride=2, padding=1),
        nn.LeakyReLU(0.2),
        nn.Conv2d(16, 16, 3, bias=False),
        nn.BatchNorm2d(16),
        nn.LeakyReLU(0.2),
        nn.Flatten(),
        nn.Linear(64, 1),
    )
    images = lib.randn(4, 6, 1, 8, 8).tanh()
    noise = lib.randn(4, 6, 8, 1, 1)
    optimizers = [lib.optim.Adam(model.parameters(), lr=2e-4, betas=(0.5, 0.999)) for model in (generator, critic)]
    schedulers = [lib.optim.lr_scheduler.ExponentialLR(optimizer, 0.95) for optimizer in optimizers]
    loss_of, ones, none = nn.BCEWithLogitsLoss(), lib.ones(6, 1), lib.zeros(6, 1)

    def step(k):
        of_generator, of_critic = optimizers
        of_critic.zero_grad()
        fake = generator(noise[k % 4])
        of_real, of_fake = loss_of(critic(images[k % 4]), ones), loss_of(critic(fake.detach()), none)
        (of_real + of_fake).backward()
        of_critic.step()
        of_generator.zero_grad()
        of_fooled = loss_of(critic(fake), ones)
        of_fooled.backward()
        of_generator.step()
        return [of_real.item(), of_fake.item(), of_fooled.item()]

    return Training(lib, [generator, critic], optimizers, schedulers, step)


TRAININGS = {"LeNet": lenet, "transformer": transformer, "GAN": gan}


def train(lib, name, first, count, given, saved):
    """Steps `first` to `first + count`. The files are those of curves.cpp."""
    lib.manual_seed(11)
    training = TRAININGS[name](lib)
    if given != "-":
        training.load(lib.load(given))
    losses = []
    for k in range(first, first + count):
        losses += training.step(k)
        for scheduler in training.schedulers:
            scheduler.step()
    lib.save({**training.state(), "losses": losses}, saved)
