"""d3rlpy: learning from recorded transitions."""

import logging

import d3rlpy
import numpy as np
import structlog

structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
d3rlpy.seed(0)
rng = np.random.default_rng(0)
steps = 60
observations = rng.normal(size=(steps, 4)).astype(np.float32)
terminals = np.zeros(steps, np.float32)
terminals[19::20] = 1
rewards = rng.normal(size=(steps, 1)).astype(np.float32)
discrete = d3rlpy.dataset.MDPDataset(observations, rng.integers(0, 3, size=(steps, 1)), rewards, terminals)
continuous = d3rlpy.dataset.MDPDataset(
    observations, rng.uniform(-1, 1, (steps, 2)).astype(np.float32), rewards, terminals
)
print("dataset", discrete.size(), discrete.transition_count, discrete.dataset_info.action_space.name)
encoder = d3rlpy.models.VectorEncoderFactory([16])
for config, data in (
    (d3rlpy.algos.DQNConfig(batch_size=8, encoder_factory=encoder), discrete),
    (d3rlpy.algos.DiscreteCQLConfig(batch_size=8, encoder_factory=encoder), discrete),
    (
        d3rlpy.algos.TD3PlusBCConfig(batch_size=8, actor_encoder_factory=encoder, critic_encoder_factory=encoder),
        continuous,
    ),
    (d3rlpy.algos.IQLConfig(batch_size=8, actor_encoder_factory=encoder, critic_encoder_factory=encoder), continuous),
):
    algorithm = config.create(device="cpu:0")
    algorithm.build_with_dataset(data)
    results = algorithm.fit(
        data, n_steps=6, n_steps_per_epoch=3, show_progress=False,
        logger_adapter=d3rlpy.logging.NoopAdapterFactory(), evaluators={"td": d3rlpy.metrics.TDErrorEvaluator()},
    )  # fmt: skip
    print(
        type(algorithm).__name__,
        [(epoch, sorted(metrics)) for epoch, metrics in results],
        algorithm.predict(observations[:2]).shape,
    )
transformer = d3rlpy.algos.DecisionTransformerConfig(
    batch_size=4, context_size=5, encoder_factory=encoder, num_heads=1
).create()
transformer.fit(
    continuous, n_steps=2, n_steps_per_epoch=2, show_progress=False, logger_adapter=d3rlpy.logging.NoopAdapterFactory()
)
print("transformer", transformer.as_stateful_wrapper(target_return=1.0).predict(observations[0], 0.5).shape)
