#!/usr/bin/env python3
"""Trains a small image backbone on packed images and exports it as ONNX.

    python3 train_backbone.py --data base.npz --arch compact --out runs/compact
    python3 train_backbone.py @recipes/gpu.txt --data base.npz --out runs/resnet18 --resume

A file named with @ holds flags, one or more a line; later ones win. Defaults and
recipes are explained in training.md.
Images, augmentation and network are all on the device. A run can be stopped (SIGTERM,
--stop-seconds) and continued with --resume. The output folder gets checkpoint.pt,
log.csv, final.json and backbone.onnx.
"""
import argparse
import contextlib
import json
import os
import shlex
import signal
import time
from dataclasses import fields

import torch

import onnx_file
import power_features
from training import augment, evaluate, loop, nets, onnx_writer, packed, schedule, warm_start

CLEAN_BN_IMAGES = 8192  # enough for batch-norm statistics, and fast on a CPU
INIT_STATISTICS, INIT_IMAGES = 256, 3000  # for the batch norm and the class weights of --init and of a --teacher file


def parse_arguments(argv):
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                fromfile_prefix_chars="@")
    p.convert_arg_line_to_args = lambda line: shlex.split(line, comments=True)
    run, recipe, check = p.add_argument_group("run"), p.add_argument_group("recipe"), p.add_argument_group("validation")
    add_run_flags(run)
    add_recipe_flags(recipe)
    check.add_argument("--holdout", type=int, default=0, help="images of each base class to hold out (default 0)")
    check.add_argument("--pseudo-novel", type=int, default=0,
                       help="base classes left out and learned from 5 shots at the end (default 0)")
    check.add_argument("--limit", type=int, default=0, help="use only this many images of each class (for trials)")
    check.add_argument("--eval-every", type=int, default=10, help="epochs between accuracy checks (default 10)")
    check.add_argument("--bench", type=float, default=0, metavar="SECONDS",
                       help="only measure images/s for this long, then exit")
    return p.parse_args(argv)


def add_run_flags(g):
    g.add_argument("--data", nargs="+", required=True, help="file or parts written by pack_images.py")
    g.add_argument("--arch", choices=nets.ARCHS, default="compact")
    g.add_argument("--side", type=int, default=84,
                   help="side of the images in pixels, in training and in use (default 84)")
    g.add_argument("--out", required=True, help="output folder")
    g.add_argument("--resume", action="store_true", help="continue from the folder's checkpoint if there is one")
    g.add_argument("--seed", type=int, default=1)
    g.add_argument("--init", default="", metavar="FILE",
                   help="start from the weights of a backbone.onnx that this program wrote, of the same --arch")
    g.add_argument("--epochs", type=float, default=200, help="length of the schedule (default 200)")
    g.add_argument("--budget-seconds", type=float, default=0,
                   help="length of the schedule in training seconds, over all resumed runs "
                   "(on a CPU processor time per thread); replaces --epochs")
    g.add_argument("--stop-seconds", type=float, default=0,
                   help="stop this process with a checkpoint after this many seconds")
    g.add_argument("--checkpoint-minutes", type=float, default=2)
    g.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    g.add_argument("--precision", choices=("auto", "bf16", "fp32"), default="auto",
                   help="auto: bf16 where the hardware has it")
    g.add_argument("--compile", action="store_true",
                   help="torch.compile: faster steps after about a minute; falls back automatically")
    g.add_argument("--threads", type=int, default=0, help="CPU threads of torch (default: all)")
    g.add_argument("--workers", type=int, default=os.cpu_count(), help="processes that decode images at the start")


def add_recipe_flags(g):
    g.add_argument("--batch", type=int, default=256)
    g.add_argument("--lr", type=float, default=0.2, help="peak rate for the whole batch (default 0.2 at 256)")
    g.add_argument("--weight-decay", type=float, default=5e-4)
    g.add_argument("--warmup", type=float, default=2, help="epochs of linear warm-up (default 2)")
    g.add_argument("--cooldown", type=float, default=0,
                   help="hold the rate at its peak and let it fall only in this last share of the schedule, "
                   "e.g. 0.2; 0: cosine decay (default)")
    g.add_argument("--smoothing", type=float, default=0.05, help="label smoothing (default 0.05)")
    g.add_argument("--cosine-scale", type=float, default=16, help="scale of the cosine head (default 16)")
    g.add_argument("--margin", type=float, default=0,
                   help="taken off the cosine of the right class, e.g. 0.1 or -0.1 (default 0)")
    g.add_argument("--targets", choices=("learned", "simplex"), default="learned",
                   help="class weights: learned, or fixed at equal angles with a dot-regression loss")
    g.add_argument("--contrast", type=float, default=0,
                   help="weight of the supervised contrastive loss (default 0: none)")
    g.add_argument("--small-views", type=int, default=0, help="additional small crops of each image (default 0)")
    g.add_argument("--ema", type=float, default=0.999, help="decay of the moving average per step (default 0.999)")
    g.add_argument("--sizes", default="0:64,0.35:84",
                   help="side of views from each point of progress on (default 0:64,0.35:84)")
    g.add_argument("--mix-until", type=float, default=0.9, help="progress after which nothing is mixed (default 0.9)")
    g.add_argument("--clean-bn", type=int, default=1, choices=(0, 1),
                   help="re-estimate batch norm on plain images before export (default 1)")
    g.add_argument("--power", type=power_features.positive, default=1,
                   help="power to which the exported features are raised, e.g. 0.5 (default 1)")
    g.add_argument("--teacher", nargs="+", default=[],
                   help="networks to distil from, each a checkpoint.pt of a run on the same data or a backbone.onnx "
                   "that this program wrote, whose mean logits are the teacher's; or `average`: this run's own moving "
                   "average")
    g.add_argument("--distill", type=float, default=0.5,
                   help="weight of the distillation loss if there is a teacher (default 0.5)")
    d = augment.Policy()
    for name, text in (("scale", "smallest share of the image that a crop keeps"),
                       ("largest", "largest share that a crop keeps"),
                       ("native", "share of views that are only shifted, not resized"),
                       ("shift", "largest shift of those, in pixels"),
                       ("rotate",
                        "share of views turned by 90, 180 or 270°, each turn a separate class; 0: no such classes"),
                       ("jitter", "range of brightness, contrast and saturation around 1"),
                       ("grey", "share of grey views"),
                       ("erase", "share of views with a rectangle erased"), ("cutmix", "share of batches with CutMix"),
                       ("mixup", "share of batches with mixup")):
        value = getattr(d, name)
        g.add_argument("--" + name, type=type(value), default=value, help=f"{text} (default {value})")


# ---- data ----

def split(labels, holdout, pseudo_novel, limit, seed):
    """Index tensors (train, held out, pseudo-novel) and the kept classes, drawn by seed."""
    g = torch.Generator().manual_seed(seed)
    classes = int(labels.max()) + 1
    novel = set(torch.randperm(classes, generator=g)[:pseudo_novel].tolist())
    parts = ([], [], [])
    for c in range(classes):
        index = (labels == c).nonzero().flatten()
        index = index[torch.randperm(len(index), generator=g)]
        index = index[:limit] if limit else index
        if c in novel:
            parts[2].append(index)
        else:
            parts[0].append(index[holdout:])
            parts[1].append(index[:holdout])
    joined = [torch.cat(x) if x else torch.zeros(0, dtype=torch.long) for x in parts]
    return joined, [c for c in range(classes) if c not in novel]


class Data:
    """The three image sets on the device. Base labels are renumbered from 0; novel ones follow."""

    def __init__(self, o, device):
        begun = time.monotonic()
        pack = packed.load(o.data)
        pixels, labels = torch.from_numpy(packed.decode(pack, o.side, o.workers)), torch.from_numpy(pack.labels)
        (train, held, novel), kept = split(labels, o.holdout, o.pseudo_novel, o.limit, o.seed)
        left_out = sorted(set(labels.tolist()) - set(kept))
        number = {c: i for i, c in enumerate(kept + left_out)}
        labels = torch.tensor([number[c] for c in labels.tolist()])
        take = lambda index: (pixels[index].to(device), labels[index].to(device))
        self.train, self.held, self.novel = take(train), take(held), take(novel)
        self.classes = [pack.classes[c] for c in kept]
        print(f"{len(pack)} images of {len(pack.classes)} classes decoded in {time.monotonic() - begun:.1f} s; "
              f"train {len(train)}, held out {len(held)}, pseudo-novel {len(novel)}", flush=True)


# ---- setting up ----

def has_cpu_bf16():
    """Whether this CPU multiplies bfloat16 in hardware (AVX512-BF16 or AMX)."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return False
    return "avx512_bf16" in text or "amx_bf16" in text


def autocast(device, wanted):
    """A context-manager factory for the forward pass."""
    if wanted == "auto":
        wanted = "bf16" if device.type == "cuda" or has_cpu_bf16() else "fp32"
    if wanted == "fp32":
        return contextlib.nullcontext
    return lambda: torch.autocast(device.type, dtype=torch.bfloat16)


def configure_torch(o):
    torch.manual_seed(o.seed)
    if o.threads:
        torch.set_num_threads(o.threads)
    torch.backends.cudnn.benchmark = True
    torch.set_float32_matmul_precision("high")
    if o.compile:
        import torch._dynamo as dynamo
        dynamo.config.suppress_errors = True  # a graph that does not compile runs as it is


def make_classifier(o, classes):
    return nets.Classifier(o.arch, classes, o.cosine_scale, o.targets, o.margin, o.contrast > 0)


def load_teacher(o, path, data, turns, device):
    """The averaged network of another run's checkpoint, or that of a published file, frozen."""
    classes = len(data.classes) * turns
    if path.endswith(".onnx"):
        model = nets.Classifier(onnx_writer.training(path)["recipe"]["arch"], classes,
                                o.cosine_scale).to(device, memory_format=torch.channels_last)
        start_from(o, path, model, data, turns)
    else:
        state = torch.load(path, map_location=device, weights_only=True)
        model = make_classifier(argparse.Namespace(**state["options"]), classes)
        model = model.to(device, memory_format=torch.channels_last)
        model.load_state_dict(state["average"])
    return model.eval().requires_grad_(False)


def start_from(o, path, model, data, turns):
    """The weights of the file at `path`, and class weights from the features they give."""
    images, labels = (t[shuffled_order(data.train[1])[:INIT_IMAGES]] for t in data.train)
    warm_start.load(model.backbone, path, images[:INIT_STATISTICS])
    if isinstance(model.head, nets.CosineHead):
        warm_start.class_weights(model, images, labels, turns, autocast(images.device, o.precision))


def make_trainer(o, data, device, resumed=False):
    """A trainer at the start of its schedule; the weights of --init would be lost on one that is `resumed`."""
    policy = augment.Policy(**{f.name: getattr(o, f.name) for f in fields(augment.Policy)})
    turns = 4 if policy.rotate else 1
    outputs = len(data.classes) * turns
    model = make_classifier(o, outputs).to(device, memory_format=torch.channels_last)
    if o.init and not resumed:
        start_from(o, o.init, model, data, turns)
    per_epoch = len(data.train[1]) // o.batch
    if not per_epoch:
        raise SystemExit(f"--batch {o.batch} is more than the {len(data.train[1])} training images")
    plan = schedule.Schedule(o.epochs * per_epoch, o.warmup * per_epoch, o.lr, schedule.parse_sizes(o.sizes),
                             o.mix_until, o.budget_seconds or None, o.cooldown or None)
    trainer = loop.Trainer(model, *data.train, o, plan, policy, autocast(device, o.precision), device)
    if o.teacher and o.teacher != loop.OWN_AVERAGE:
        teachers = [load_teacher(o, path, data, turns, device) for path in o.teacher]
        trainer.teachers = [torch.compile(t, dynamic=False) for t in teachers] if o.compile else teachers
    return trainer


def stopper(o, begun):
    """A function that reports whether this process must stop: SIGTERM, SIGINT or --stop-seconds."""
    asked = []
    for s in (signal.SIGTERM, signal.SIGINT):
        signal.signal(s, lambda *_: asked.append(True))
    return lambda: bool(asked) or bool(o.stop_seconds and time.monotonic() - begun > o.stop_seconds)


def epoch_hook(o, data, log):
    """Adds accuracies every --eval-every epochs and writes the row."""
    def hook(trainer, row):
        if trainer.epoch % o.eval_every == o.eval_every - 1:
            sets = {"train_acc": [t[:2000] for t in shuffled(data.train)], "held_acc": data.held}
            for name, (x, y) in sets.items():
                if len(y):
                    right = evaluate.classifier_accuracy(trainer.average.model, x, y, o.rotate > 0, trainer.precision)
                    row[name] = f"{right:.4f}"
        log.write(row)
    return hook


def shuffled(pair):
    """The first 2000 of a fixed random order: the subset whose accuracy is logged."""
    index = shuffled_order(pair[1])[:2000]
    return pair[0][index], pair[1][index]


def shuffled_order(values):
    """A fixed random order of the places in a tensor."""
    return torch.randperm(len(values), generator=torch.Generator().manual_seed(0)).to(values.device)


# ---- the end ----

def final_numbers(o, data, trainer):
    """Accuracy of the averaged backbone on images that training did not see."""
    if not o.holdout:
        return {}
    backbone, out = trainer.average.model.backbone, {}
    pairs = [(evaluate.features(backbone, x, trainer.precision) ** o.power, y)
             for x, y in (data.train, data.held, data.novel) if len(y)]
    held = evaluate.classifier_accuracy(trainer.average.model, *data.held, o.rotate > 0, trainer.precision)
    out["classifier_held"] = 100 * held
    for name, head in evaluate.HEADS.items():
        out[name + "_held"] = evaluate.base_accuracy(head, *pairs[:2])
        if o.pseudo_novel:
            for part, value in zip(("base", "novel", "harmonic"), evaluate.pseudo_session(head, *pairs)):
                out[f"{name}_session_{part}"] = value
    return {k: round(v, 2) for k, v in out.items()}


def export(o, data, trainer, numbers):
    """backbone.onnx from the averaged weights, checked against torch."""
    backbone = trainer.average.model.backbone.float()
    recipe = {k: v for k, v in vars(o).items()
              if k not in ("data", "out", "teacher", "init", "device", "resume", "workers", "threads")}
    info = {"recipe": recipe, "epochs": trainer.epoch, "steps": trainer.step, "train_seconds": round(trainer.elapsed),
            "images": len(data.train[1]), "classes": data.classes, "validation": numbers}
    model = onnx_writer.build(backbone.cpu(), o.side, {
        onnx_file.PREPROCESS_KEY: onnx_writer.preprocess_spec(o.side), onnx_file.TRAINING_KEY: info})
    path = os.path.join(o.out, "backbone.onnx")
    size = onnx_writer.save(path, power_features.raised(model, o.power))
    sample = augment.plain(data.train[0][:8].cpu()).contiguous()
    worst, single, largest = onnx_writer.difference(model.SerializeToString(), backbone, sample)
    print(f"{path}: {size} bytes; max |onnx − torch| {worst:.2e}, batch 1 against 8 {single:.2e}, "
          f"largest feature {largest:.2f}", flush=True)


def finish(o, data, trainer):
    numbers = final_numbers(o, data, trainer)
    if o.clean_bn:
        evaluate.clean_batch_norm(trainer.average.model.backbone,
                                  data.train[0][shuffled_order(data.train[0])[:CLEAN_BN_IMAGES]], trainer.precision)
        numbers = {"averaged": numbers, "clean": final_numbers(o, data, trainer)}
    print("final", json.dumps(numbers), flush=True)
    with open(os.path.join(o.out, "final.json"), "w", encoding="utf-8") as f:
        json.dump({"epochs": trainer.epoch, "steps": trainer.step, "seconds": trainer.elapsed, "validation": numbers},
                  f, indent=1)
    export(o, data, trainer, numbers)


def bench(o, trainer):
    """Prints images/s, processor time for an epoch and the peak memory, at each image size."""
    order, sizes = trainer.order(), trainer.schedule.sizes
    for start, size in sizes:
        index = order[:o.batch]
        for _ in range(5):
            trainer.train_step(index, start)
        trainer.loss_sum.item()
        begun, worked, steps = time.monotonic(), time.process_time(), 0
        while time.monotonic() - begun < o.bench / len(sizes):
            trainer.train_step(index, start)
            steps += 1
        trainer.loss_sum.item()
        took, worked = time.monotonic() - begun, time.process_time() - worked
        peak = torch.cuda.max_memory_allocated() / 2 ** 30 if trainer.device.type == "cuda" else 0
        print(f"bench {o.arch} size {size} batch {o.batch} compile {o.compile}: {steps * o.batch / took:.0f} images/s, "
              f"{1000 * took / steps:.1f} ms a step, "
              f"{worked * trainer.steps_per_epoch() / steps:.0f} s of processor time an epoch, "
              f"peak {peak:.1f} GiB", flush=True)


def main(argv=None):
    begun = time.monotonic()
    o = parse_arguments(argv)
    os.makedirs(o.out, exist_ok=True)
    configure_torch(o)
    device = torch.device(o.device)
    data = Data(o, device)
    torch.manual_seed(o.seed)
    checkpoint = os.path.join(o.out, "checkpoint.pt")
    resumed = o.resume and os.path.exists(checkpoint)
    trainer = make_trainer(o, data, device, resumed)
    if o.bench:
        return bench(o, trainer)
    if resumed:
        trainer.restore(torch.load(checkpoint, map_location=device, weights_only=True))
        print(f"resumed at epoch {trainer.epoch}, step {trainer.step}, {trainer.elapsed:.0f} s", flush=True)
    log = loop.Log(os.path.join(o.out, "log.csv"), trainer.history)
    done = trainer.run(stopper(o, begun), epoch_hook(o, data, log), lambda t: loop.atomic_save(checkpoint, t.state()))
    print(f"{'finished' if done else 'stopped'} at epoch {trainer.epoch}, step {trainer.step}, {trainer.elapsed:.0f} s",
          flush=True)
    if done:
        finish(o, data, trainer)


if __name__ == "__main__":
    main()
