"""One training step of a small network: its graph, what took the time and the memory, and pictures of both.

python look.py [folder for graph.dot, step.svg and trace.json; this one by default]
"""

import pathlib
import sys

import tenon
import tenon.nn.functional as F

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")

tenon.manual_seed(0)
net = tenon.nn.Sequential(tenon.nn.Linear(784, 256), tenon.nn.ReLU(), tenon.nn.Linear(256, 10))
optimizer = tenon.optim.AdamW(net.parameters())
images, labels = tenon.randn(256, 784), tenon.randint(0, 10, (256,))


def step():
    optimizer.zero_grad()
    with tenon.profiler.record_function("forward"):
        loss = F.cross_entropy(net(images), labels)
    with tenon.profiler.record_function("backward"):
        loss.backward()
    with tenon.profiler.record_function("optimizer"):
        optimizer.step()


step()  # the first one makes the optimizer's state
with tenon.profiler.profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
    step()

print(prof.key_averages().table(row_limit=8))
prof.export_svg(folder / "step.svg")  # for a browser
prof.export_chrome_trace(folder / "trace.json")  # for ui.perfetto.dev
(folder / "graph.dot").write_text(tenon.autograd.to_dot(F.cross_entropy(net(images), labels)))
print(f"{folder}: step.svg, trace.json and graph.dot (`dot -Tsvg graph.dot -o graph.svg`)")
