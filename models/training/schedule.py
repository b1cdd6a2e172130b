"""Training progress between 0 and 1, and what depends on it: learning rate, image size, mixing."""
import math


def parse_sizes(text):
    """"0:64,0.4:84" as [(0.0, 64), (0.4, 84)]: from that progress on, that image size."""
    pairs = [item.split(":") for item in text.split(",")]
    sizes = [(float(a), int(b)) for a, b in pairs]
    if sizes != sorted(sizes) or sizes[0][0] != 0:
        raise ValueError(f"sizes {text!r}: progress must start at 0 and rise")
    return sizes


class Schedule:
    """The peak rate decays by progress after a warm-up counted in steps: as a cosine, or,
    with a `cooldown`, not at all until that last share of the schedule, then linearly to 0.

    Progress is step/total, or elapsed/budget seconds if a budget is set, which makes
    full use of a machine for a fixed time, however fast it is.
    """

    def __init__(self, total_steps, warm_steps, peak, sizes, mix_until, budget=None, cooldown=None):
        self.total_steps, self.warm_steps, self.peak = total_steps, max(1, warm_steps), peak
        self.sizes, self.mix_until, self.budget, self.cooldown = sizes, mix_until, budget, cooldown

    def progress(self, step, elapsed):
        done = elapsed / self.budget if self.budget else step / self.total_steps
        return min(1.0, done)

    def rate(self, step, progress):
        warm = min(1.0, (step + 1) / self.warm_steps)
        left = min(1.0, (1 - progress) / self.cooldown) if self.cooldown else 0.5 * (1 + math.cos(math.pi * progress))
        return self.peak * warm * left

    def size(self, progress):
        return [s for start, s in self.sizes if start <= progress][-1]

    def mixing(self, progress):
        return progress < self.mix_until
