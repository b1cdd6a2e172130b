"""The training loop: a model, its moving average, and a resumable position."""
import copy
import csv
import os
import time
from collections import deque

import numpy as np
import torch
import torch.nn.functional as F

from . import augment, contrast, nets

COLUMNS = ("epoch", "step", "progress", "seconds", "loss", "lr", "size", "images_per_second", "train_acc", "held_acc")
OWN_AVERAGE = ["average"]  # the --teacher that is the run's own moving average
RUN_AHEAD = 8  # steps that the host may queue before it waits for the GPU


def atomic_save(path, state):
    torch.save(state, path + ".partial")
    os.replace(path + ".partial", path)


def make_optimizer(model, lr, weight_decay, device):
    """Nesterov SGD; batch-norm gains and biases are not decayed."""
    groups = [{"params": [p for p in model.parameters() if p.ndim > 1], "weight_decay": weight_decay},
              {"params": [p for p in model.parameters() if p.ndim <= 1], "weight_decay": 0.0}]
    settings = {"lr": lr, "momentum": 0.9, "nesterov": True}
    if device.type == "cuda":
        try:
            return torch.optim.SGD(groups, fused=True, **settings)
        except TypeError:  # torch < 2.3
            pass
    return torch.optim.SGD(groups, foreach=True, **settings)


class Average:
    """Exponential moving average of weights and batch-norm statistics."""

    def __init__(self, model, decay):
        self.model, self.decay = copy.deepcopy(model).eval().requires_grad_(False), decay
        self.pairs = list(zip(self._floats(self.model), self._floats(model)))

    @staticmethod
    def _floats(model):
        return [t for t in list(model.parameters()) + list(model.buffers()) if t.is_floating_point()]

    @torch.no_grad()
    def update(self, step):
        decay = min(self.decay, (1 + step) / (10 + step))
        mine, theirs = zip(*self.pairs)
        torch._foreach_lerp_(list(mine), [t.detach() for t in theirs], 1 - decay)


def mixed(loss, target, partner, share):
    """Mean of loss(labels) with both labels of each mixed image, in their shares."""
    return (share * loss(target) + (1 - share) * loss(partner)).mean()


def distillation_loss(logits, teacher, temperature=2.0):
    """KL divergence from the teacher's softened classes, scaled to the size of a cross-entropy."""
    return temperature ** 2 * F.kl_div(F.log_softmax(logits / temperature, 1),
                                       F.log_softmax(teacher / temperature, 1), reduction="batchmean", log_target=True)


class Trainer:
    """Holds everything that a checkpoint must restore.

    `images` are N×3×S×S uint8 and `labels` N int64, both on the device.
    """

    def __init__(self, model, images, labels, options, schedule, policy, precision, device):
        self.model, self.images, self.labels = model, images, labels
        self.o, self.schedule, self.policy = options, schedule, policy
        self.precision, self.device = precision, device
        self.average = Average(model, options.ema)
        self.optimizer = make_optimizer(model, options.lr, options.weight_decay, device)
        compiled = lambda m: torch.compile(m, dynamic=False) if options.compile else m
        self.forward, self.momentum = compiled(model), compiled(self.average.model)
        self.teachers = [self.momentum] if options.teacher == OWN_AVERAGE else []
        self.queue = contrast.Queue(nets.PROJECTED, device) if options.contrast else None
        self.rng = np.random.default_rng(options.seed)
        self.step = self.epoch = self.position = 0
        self.elapsed = 0.0
        self.history = []
        self.loss_sum = torch.zeros((), device=device)
        self.events = deque()
        self.size = None

    def clock(self):
        """Seconds of work: wall-clock time on a GPU; on a CPU processor time per thread, whatever else the machine
        does."""
        return time.monotonic() if self.device.type == "cuda" else time.process_time() / torch.get_num_threads()

    # ---- position ----

    def steps_per_epoch(self):
        return len(self.labels) // self.o.batch

    def order(self):
        """This epoch's order of images: a function of seed and epoch alone."""
        g = torch.Generator().manual_seed(self.o.seed * 1_000_003 + self.epoch)
        return torch.randperm(len(self.labels), generator=g).to(self.device)

    def state(self):
        cuda = torch.cuda.get_rng_state() if self.device.type == "cuda" else None
        return {"model": self.model.state_dict(), "average": self.average.model.state_dict(),
                "optimizer": self.optimizer.state_dict(), "queue": self.queue.state() if self.queue else None,
                "rng": (torch.get_rng_state(), cuda, self.rng.bit_generator.state),
                "position": (self.step, self.epoch, self.position, self.elapsed), "loss_sum": self.loss_sum.item(),
                "history": self.history, "options": vars(self.o)}

    def restore(self, state):
        """Continues from a saved state; the flags that determine the position must be the same."""
        for key in ("arch", "side", "seed", "batch", "holdout", "pseudo_novel", "rotate", "targets", "contrast"):
            if state["options"][key] != getattr(self.o, key):
                raise SystemExit(f"--resume: the checkpoint has --{key.replace('_', '-')} {state['options'][key]}, "
                                 f"this run {getattr(self.o, key)}; use the same value or start a new run")
        self.model.load_state_dict(state["model"])
        self.average.model.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        if self.queue:
            self.queue.restore(state["queue"])
        cpu, cuda, numpy_state = state["rng"]
        torch.set_rng_state(cpu.cpu())
        if cuda is not None and self.device.type == "cuda":
            torch.cuda.set_rng_state(cuda.cpu())
        self.rng.bit_generator.state = numpy_state
        self.step, self.epoch, self.position, self.elapsed = state["position"]
        self.loss_sum.fill_(state["loss_sum"])
        self.history = state["history"]

    # ---- one step ----

    def loss(self, index, progress):
        """Mean over the views of a batch: one of full size, possibly mixed, and the small ones."""
        size = self.size = self.schedule.size(progress)
        images = self.images[index]
        x, turns = augment.view(images, self.policy, size)
        target = self.labels[index] * 4 + turns if self.policy.rotate else self.labels[index]
        keys = self.keys(images, turns, size, target)
        if self.schedule.mixing(progress):
            x, partner, share = augment.mix(x, self.policy, self.rng)
        else:
            partner, share = torch.arange(len(x), device=self.device), torch.ones(len(x), device=self.device)
        value = self.view_loss(x, target, target[partner], share, keys)
        for _ in range(self.o.small_views):
            part = augment.small_view(images, self.policy, size, turns)
            value = value + self.view_loss(part, target, target, torch.ones_like(share), keys)
        return value / (1 + self.o.small_views)

    def keys(self, images, turns, size, target):
        """Keys and labels to contrast with: second views of these images through the moving average, then the queue."""
        if not self.queue:
            return None
        with torch.no_grad(), self.precision():
            _, fresh = self.momentum(augment.view(images, self.policy, size, turns)[0])
        every = torch.cat([fresh, self.queue.keys]), torch.cat([target, self.queue.labels])
        self.queue.push(fresh, target)
        return every

    def view_loss(self, x, target, partner, share, keys):
        """Classification, distillation and contrast of one view of each image."""
        with self.precision():
            logits, query = self.forward(x)
        logits = logits.float()
        value = mixed(lambda y: self.model.head.loss(logits, y, self.o.smoothing), target, partner, share)
        if self.teachers:
            value = (1 - self.o.distill) * value + self.o.distill * distillation_loss(logits, self.taught(x))
        if keys is not None:
            value = value + self.o.contrast * mixed(lambda y: contrast.loss(query, y, *keys), target, partner, share)
        return value

    @torch.no_grad()
    def taught(self, x):
        """The teachers' mean logits: softened, the geometric mean of their class probabilities."""
        with self.precision():
            return sum(teacher(x)[0].float() for teacher in self.teachers) / len(self.teachers)

    def train_step(self, index, progress):
        rate = self.schedule.rate(self.step, progress)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        loss = self.loss(index, progress)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.average.update(self.step)
        self.loss_sum += loss.detach()
        self.step += 1
        self.position += 1
        self._bound_queue()

    def _bound_queue(self):
        """Keeps the host at most RUN_AHEAD steps before the GPU, so that elapsed time means work done."""
        if self.device.type != "cuda":
            return
        event = torch.cuda.Event()
        event.record()
        self.events.append(event)
        if len(self.events) > RUN_AHEAD:
            self.events.popleft().synchronize()

    # ---- the run ----

    def run(self, stop, on_epoch, save):
        """Trains to the end of the schedule or until stop() asks; returns whether it reached the end.

        `on_epoch(trainer, row)` may add to each finished epoch's row before it is logged.
        """
        begun, before, saved = self.clock(), self.elapsed, time.monotonic()
        self.model.train()
        while True:
            order, at_step, at_time = self.order(), self.step, time.monotonic()
            while self.position < self.steps_per_epoch():
                self.elapsed = before + self.clock() - begun
                progress = self.schedule.progress(self.step, self.elapsed)
                if progress >= 1 or stop():
                    save(self)
                    return progress >= 1
                at = self.position * self.o.batch
                self.train_step(order[at:at + self.o.batch], progress)
            self._end_epoch(at_step, at_time, on_epoch)
            if time.monotonic() - saved > 60 * self.o.checkpoint_minutes:
                save(self)
                saved = time.monotonic()

    def _end_epoch(self, at_step, at_time, on_epoch):
        loss = self.loss_sum.item() / self.steps_per_epoch()  # the one wait per epoch
        took = time.monotonic() - at_time
        progress = self.schedule.progress(self.step, self.elapsed)
        row = dict.fromkeys(COLUMNS, "")
        row.update(epoch=self.epoch + 1, step=self.step, progress=f"{progress:.4f}", seconds=f"{self.elapsed:.1f}",
                   loss=f"{loss:.4f}", lr=f"{self.optimizer.param_groups[0]['lr']:.5f}", size=self.size,
                   images_per_second=f"{(self.step - at_step) * self.o.batch / took:.0f}")
        on_epoch(self, row)
        self.history.append(row)
        self.epoch, self.position = self.epoch + 1, 0
        self.loss_sum.zero_()
        self.model.train()


class Log:
    """Epoch rows to a CSV file and to stdout."""

    def __init__(self, path, history):
        self.path = path
        with open(path, "w", newline="", encoding="utf-8") as f:
            writer = csv.DictWriter(f, COLUMNS)
            writer.writeheader()
            writer.writerows(history)

    def write(self, row):
        with open(self.path, "a", newline="", encoding="utf-8") as f:
            csv.DictWriter(f, COLUMNS).writerow(row)
        print(" ".join(f"{k}={v}" for k, v in row.items() if v != ""), flush=True)
