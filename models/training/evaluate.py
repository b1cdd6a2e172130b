"""Accuracy on images that training did not see: classifier, nearest mean, 5-shot pseudo-session."""
import numpy as np
import torch
import torch.nn.functional as F

from . import augment


@torch.no_grad()
def features(backbone, images, precision, batch=512):
    """N×dim float32 features of uint8 images, untouched by augmentation."""
    backbone.eval()
    out = []
    for i in range(0, len(images), batch):
        with precision():
            out.append(backbone(augment.plain(images[i:i + batch])).float())
    return torch.cat(out)


@torch.no_grad()
def classifier_accuracy(model, images, labels, turned, precision):
    """Share of images whose best class is right; of `turned` heads only the unturned outputs count."""
    logits = model.head(features(model.backbone, images, precision))
    if turned:
        logits = logits[:, ::4]
    return (logits.argmax(1) == labels).float().mean().item()


def class_means(x, labels, classes):
    """Unit means of unit features, one row for each number in `classes`."""
    x = F.normalize(x)
    return F.normalize(torch.stack([x[labels == c].mean(0) for c in classes]))


def nearest(x, means):
    return (F.normalize(x) @ means.T).argmax(1)


def pseudo_session(base, held, novel, shots=5, draws=20, seed=0):
    """Nearest-mean accuracy (base, novel) in percent with the pseudo-novel classes learned from `shots` images.

    Each argument is (features, labels): base training images, base images held out,
    images of classes never trained on. Mean over `draws` random draws of the shots.
    """
    classes, novel_classes = base[1].unique(), novel[1].unique()
    means = class_means(*base, classes)
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        shot = torch.zeros(len(novel[1]), dtype=torch.bool, device=novel[1].device)
        for c in novel_classes:
            shot[torch.from_numpy(rng.permutation((novel[1] == c).nonzero().flatten().cpu().numpy())[:shots])] = True
        every = torch.cat([means, class_means(novel[0][shot], novel[1][shot], novel_classes)])
        names = torch.cat([classes, novel_classes])
        right = [names[nearest(x, every)] == y for x, y in (held, (novel[0][~shot], novel[1][~shot]))]
        found.append([100 * r.float().mean().item() for r in right])
    return tuple(np.mean(found, 0))


def nearest_mean(train, held):
    """Nearest-mean accuracy in percent of held-out base images among the base classes."""
    classes = train[1].unique()
    return 100 * (classes[nearest(held[0], class_means(*train, classes))] == held[1]).float().mean().item()


@torch.no_grad()
def clean_batch_norm(backbone, images, precision, batch=512):
    """Re-estimates batch-norm statistics from unaugmented images, as used at test time."""
    norms = [m for m in backbone.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    momenta = [m.momentum for m in norms]
    for m in norms:
        m.reset_running_stats()
        m.momentum = None  # cumulative average
    backbone.train()
    for i in range(0, len(images) - batch + 1, batch) if len(images) >= batch else [0]:
        with precision():
            backbone(augment.plain(images[i:i + batch]))
    for m, old in zip(norms, momenta):
        m.momentum = old
    backbone.eval()
