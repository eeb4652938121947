"""SAC and TD3 of stable-baselines3, saved and loaded."""

from stable_baselines3 import SAC, TD3

for A in (SAC, TD3):
    m = A("MlpPolicy", "Pendulum-v1", seed=0, learning_starts=20, device="cpu")
    m.learn(60)
    print(A.__name__, m.num_timesteps)
    m.save("/tmp/sb3_test")
    m2 = A.load("/tmp/sb3_test", device="cpu")
    print(type(m2).__name__)
