"""PPO and DQN of stable-baselines3 on CartPole."""

from stable_baselines3 import A2C, DQN, PPO

for algorithm, options in ((PPO, {"n_steps": 64, "batch_size": 32}), (A2C, {}), (DQN, {"learning_starts": 50})):
    model = algorithm("MlpPolicy", "CartPole-v1", seed=0, device="cpu", **options)
    model.learn(200)
    print(algorithm.__name__, sum(float(p.sum()) for p in model.policy.parameters()))
