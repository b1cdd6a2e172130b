"""Accuracy on images that training did not see: the classifier, and few-shot heads in a 5-shot pseudo-session."""
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


class NearestMean:
    """Cosine to the unit mean of unit features. Labels are numbers, in the order of `classes`."""

    def __init__(self, base):
        pass

    def learn(self, x, labels, classes):
        x = F.normalize(x)
        return F.normalize(torch.stack([x[labels == c].mean(0) for c in classes]))

    def scores(self, x, learned):
        return F.normalize(x) @ torch.cat(learned).T


class SharedCovariance:
    """PLDA: Gaussian classes with one covariance and a Gaussian prior of their means, both estimated from base images.

    Learned classes are rows of (posterior mean, predictive variance) in the space where
    the covariance within classes is 1 and that between them diagonal.
    """

    def __init__(self, base, shrink=0.01):
        x, labels = F.normalize(base[0]).double(), base[1]
        classes, number = labels.unique(return_inverse=True)
        means = torch.stack([x[labels == c].mean(0) for c in classes])
        rest = x - means[number]
        within = rest.T @ rest / (len(x) - len(classes))
        within += shrink * within.trace() / len(within) * torch.eye(len(within), dtype=x.dtype, device=x.device)
        spread, axes = torch.linalg.eigh(within)
        white = axes / spread.sqrt()
        self.centre = means.mean(0)
        between = ((means - self.centre) @ white).T.cov()
        spread, axes = torch.linalg.eigh(between)
        self.space, self.between = white @ axes, (spread - len(classes) / len(x)).clamp(min=0)

    def coordinates(self, x):
        return (F.normalize(x).double() - self.centre) @ self.space

    def learn(self, x, labels, classes):
        z, rows = self.coordinates(x), []
        for c in classes:
            own = z[labels == c]
            gain = self.between / (self.between + 1 / len(own))
            rows.append(torch.stack([gain * own.mean(0), 1 + gain / len(own)]))
        return torch.stack(rows)

    def scores(self, x, learned):
        z, (means, variances) = self.coordinates(x), torch.cat(learned).unbind(1)
        squares = z ** 2 @ (1 / variances).T - 2 * z @ (means / variances).T + (means ** 2 / variances).sum(1)
        return -(squares + variances.log().sum(1)) / 2


HEADS = {"ncm": NearestMean, "plda": SharedCovariance}


def pseudo_session(head, base, held, novel, shots=5, draws=20, seed=0):
    """Accuracy (base, novel, harmonic mean) in percent of a head with the pseudo-novel classes learned from `shots`
    images.

    Each set is (features, labels): base training images, base images held out,
    images of classes never trained on. Mean over `draws` random draws of the shots.
    """
    classes, novel_classes = base[1].unique(), novel[1].unique()
    names = torch.cat([classes, novel_classes])
    head = head(base)
    known = head.learn(*base, classes)
    rng, found = np.random.default_rng(seed), []
    for _ in range(draws):
        shot = torch.zeros(len(novel[1]), dtype=torch.bool, device=novel[1].device)
        for c in novel_classes:
            shot[torch.from_numpy(rng.permutation((novel[1] == c).nonzero().flatten().cpu().numpy())[:shots])] = True
        learned = [known, head.learn(novel[0][shot], novel[1][shot], novel_classes)]
        b, n = (100 * (names[head.scores(x, learned).argmax(1)] == y).float().mean().item()
                for x, y in (held, (novel[0][~shot], novel[1][~shot])))
        found.append((b, n, 2 * b * n / max(b + n, 1e-9)))
    return tuple(np.mean(found, 0))


def base_accuracy(head, train, held):
    """Accuracy in percent of a head on held-out base images among the base classes."""
    classes, head = train[1].unique(), head(train)
    scores = head.scores(held[0], [head.learn(*train, classes)])
    return 100 * (classes[scores.argmax(1)] == held[1]).float().mean().item()


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
