"""Tests of the training parts: python3 -m unittest discover models/tests (needs requirements.txt)."""
import io
import os
import sys
import tempfile
import unittest

import numpy as np
import torch
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import pack_images  # noqa: E402
import train_backbone  # noqa: E402
from training import augment, evaluate, loop, nets, onnx_writer, packed, schedule  # noqa: E402

SIDE = 84


def jpeg(rng):
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 256, (SIDE, SIDE, 3), np.uint8)).save(out, "JPEG")
    return out.getvalue()


def make_folder(root, classes=3, images=8):
    rng = np.random.default_rng(0)
    for c in range(classes):
        os.makedirs(os.path.join(root, f"class{c}"))
        for i in range(images):
            with open(os.path.join(root, f"class{c}", f"{i}.jpg"), "wb") as f:
                f.write(jpeg(rng))


def shake_batch_norm(net):
    """Random statistics and gains: folding that forgets one of them must show."""
    torch.manual_seed(0)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.normal_(0, 0.2)
            m.running_var.uniform_(0.5, 2)
            torch.nn.init.uniform_(m.weight, 0.5, 1.5)
            torch.nn.init.normal_(m.bias, 0, 0.2)
    return net.eval()


class PackedTest(unittest.TestCase):
    def test_parts_hold_every_byte_once(self):
        with tempfile.TemporaryDirectory() as tmp:
            root = os.path.join(tmp, "photos")
            make_folder(root)
            parts = [os.path.join(tmp, f"{i}.npz") for i in (1, 2)]
            for i, path in enumerate(parts, 1):
                pack_images.main(["--folder", root, "--part", f"{i}/2", "--out", path])
            both = packed.load(parts)
            self.assertEqual(both.classes, ["class0", "class1", "class2"])
            self.assertEqual(sorted(both.names), pack_images.paths_of_folder(root))
            for i, name in enumerate(both.names):
                with open(os.path.join(root, name), "rb") as f:
                    self.assertEqual(both.jpeg(i), f.read())
                self.assertEqual(both.classes[both.labels[i]], os.path.dirname(name))
            self.assertEqual(packed.decode(both, SIDE, 1).shape, (24, 3, SIDE, SIDE))

    def test_list_strips_folders(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
            f.write("set/train/n01/a.jpg\n\nset/train/n02/b.jpg\n")
            f.flush()
            self.assertEqual(pack_images.paths_of_list(f.name, 1), ["train/n01/a.jpg", "train/n02/b.jpg"])

    def test_part_is_checked(self):
        for text in ("0/2", "3/2", "x/2", "1"):
            with self.assertRaises(Exception):
                pack_images.parse_part(text)


class AugmentTest(unittest.TestCase):
    def test_quarter_turns_are_exact(self):
        x = torch.randint(0, 256, (4, 3, SIDE, SIDE), dtype=torch.uint8)
        ones, zeros, turns = torch.ones(4), torch.zeros(4), torch.arange(4)
        out = augment.resample(x, augment.affine(ones, ones, zeros, zeros, zeros, turns), SIDE) * 255
        for k in range(4):
            want = torch.rot90(x[k].float(), k, (1, 2))
            self.assertLess((out[k] - want).abs().max().item(), 0.05)

    def test_native_views_move_whole_pixels(self):
        torch.manual_seed(0)
        policy = augment.Policy(native=1, shift=8)
        x = torch.randint(0, 256, (6, 3, SIDE, SIDE), dtype=torch.uint8)
        out = augment.resample(x, augment.affine(*augment.crop_boxes(6, policy, SIDE, "cpu"), torch.zeros(6), torch.zeros(6)), SIDE)
        self.assertLess((out * 255 - (out * 255).round()).abs().max().item(), 0.05)

    def test_view_is_bounded_and_finite(self):
        x = torch.randint(0, 256, (16, 3, SIDE, SIDE), dtype=torch.uint8)
        v, turns = augment.view(x, augment.Policy(), 48)
        self.assertEqual(tuple(v.shape), (16, 3, 48, 48))
        self.assertTrue(torch.isfinite(v).all() and v.abs().max() < 2.7)
        self.assertTrue(((turns >= 0) & (turns < 4)).all())

    def test_cutmix_share_is_the_visible_area(self):
        x = torch.stack([torch.full((3, 20, 20), float(i)) for i in range(8)])
        order = (torch.arange(8) + 1) % 8
        mixed, share = augment.cutmix(x, order)
        own = (mixed == torch.arange(8).view(-1, 1, 1, 1)).float().mean((1, 2, 3))
        self.assertTrue(torch.allclose(own, share))


class ScheduleTest(unittest.TestCase):
    def test_budget_rules_over_steps(self):
        s = schedule.Schedule(100, 10, 1.0, schedule.parse_sizes("0:64,0.5:84"), 0.9, budget=50)
        self.assertEqual(s.progress(99, 25), 0.5)
        self.assertEqual((s.size(0.49), s.size(0.5)), (64, 84))
        self.assertEqual(s.rate(0, 0.0), 0.1)
        self.assertAlmostEqual(s.rate(99, 1.0), 0)
        self.assertFalse(s.mixing(0.9))

    def test_sizes_must_rise_from_zero(self):
        for text in ("0.1:64", "0:64,0.5:84,0.4:32"):
            with self.assertRaises(ValueError):
                schedule.parse_sizes(text)


class ExportTest(unittest.TestCase):
    def test_onnx_equals_torch(self):
        for arch, limit in (("compact", 6e6), ("resnet18", 25e6)):
            net = shake_batch_norm(nets.build(arch))
            model = onnx_writer.build(net, SIDE, {"pipeline.preprocess": onnx_writer.preprocess_spec(SIDE)})
            blob = model.SerializeToString()
            self.assertLess(len(blob), limit)
            worst, single, largest = onnx_writer.difference(blob, net, torch.randn(3, 3, SIDE, SIDE))
            self.assertLess(worst / largest, 5e-3)
            self.assertLess(single / largest, 1e-5)


class EvaluateTest(unittest.TestCase):
    def test_pseudo_session_separates_and_confuses(self):
        x, y = torch.eye(6).repeat_interleave(10, 0), torch.arange(6).repeat_interleave(10)
        base, novel = y < 4, y >= 4
        self.assertEqual(evaluate.pseudo_session((x[base], y[base]), (x[base], y[base]), (x[novel], y[novel])), (100, 100))
        same = torch.zeros_like(x) + torch.eye(6)[0]
        _, low = evaluate.pseudo_session((x[base], y[base]), (x[base], y[base]), (same[novel], y[novel]))
        self.assertLess(low, 60)

    def test_clean_batch_norm_is_the_average_of_batches(self):
        net = nets.build("compact")
        x = torch.randint(0, 256, (4, 3, 32, 32), dtype=torch.uint8)
        evaluate.clean_batch_norm(net, x, train_backbone.contextlib.nullcontext, batch=4)
        first = net.blocks[0].convs[0]
        want = first.conv(augment.plain(x)).mean((0, 2, 3))
        self.assertTrue(torch.allclose(first.bn.running_mean, want, atol=1e-4))
        self.assertFalse(net.training)


class SplitTest(unittest.TestCase):
    def test_sets_are_disjoint_and_complete(self):
        labels = torch.arange(5).repeat_interleave(10)
        (train, held, novel), kept = train_backbone.split(labels, 3, 2, 0, seed=1)
        self.assertEqual((len(train), len(held), len(novel), len(kept)), (21, 9, 20, 3))
        self.assertEqual(sorted(torch.cat([train, held, novel]).tolist()), list(range(50)))
        self.assertFalse(set(labels[novel].tolist()) & set(kept))


class RunTest(unittest.TestCase):
    """Whole runs on a few tiny images."""

    def run_once(self, tmp, out, *extra):
        train_backbone.main(["--data", os.path.join(tmp, "p.npz"), "--out", os.path.join(tmp, out), "--sizes", "0:16",
                             "--batch", "8", "--workers", "1", "--device", "cpu", "--precision", "fp32", *extra])
        return torch.load(os.path.join(tmp, out, "checkpoint.pt"), weights_only=True)

    def test_resume_continues_exactly_and_teacher_is_used(self):
        with tempfile.TemporaryDirectory() as tmp:
            make_folder(os.path.join(tmp, "photos"))
            pack_images.main(["--folder", os.path.join(tmp, "photos"), "--out", os.path.join(tmp, "p.npz")])
            whole = self.run_once(tmp, "whole", "--epochs", "2")
            real_step = loop.Trainer.train_step

            def interrupted(trainer, *args):
                real_step(trainer, *args)
                trainer.o.stop_seconds = 1e-9 if trainer.step == 4 else 0
            loop.Trainer.train_step = interrupted
            try:
                half = self.run_once(tmp, "half", "--epochs", "2")
            finally:
                loop.Trainer.train_step = real_step
            self.assertEqual(half["position"][:3], (4, 1, 1))
            rest = self.run_once(tmp, "half", "--epochs", "2", "--resume")
            for key in ("model", "average"):
                for name, value in whole[key].items():
                    self.assertTrue(torch.equal(value, rest[key][name]), f"{key} {name}")
            self.assertTrue(os.path.exists(os.path.join(tmp, "half", "backbone.onnx")))
            taught = self.run_once(tmp, "taught", "--epochs", "2", "--teacher", os.path.join(tmp, "whole", "checkpoint.pt"))
            self.assertFalse(torch.equal(taught["model"]["head.weight"], whole["model"]["head.weight"]))


if __name__ == "__main__":
    unittest.main()
