"""Tests of the training parts: python3 -m unittest discover models/tests (needs requirements.txt)."""
import argparse
import contextlib
import io
import os
import sys
import tempfile
import unittest
import unittest.mock

import numpy as np
import onnx
import torch
import torch.nn.functional as F
from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import average_backbones
import onnx_file
import pack_images
import power_features
import train_backbone
from training import augment, averaging, contrast, convolution, evaluate, loop, nets
from training import onnx_writer, packed, schedule, warm_start

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
            with self.assertRaises(argparse.ArgumentTypeError):
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
        out = augment.resample(x, augment.affine(*augment.crop_boxes(6, policy, SIDE, "cpu"), torch.zeros(6),
                                                 torch.zeros(6)), SIDE)
        self.assertLess((out * 255 - (out * 255).round()).abs().max().item(), 0.05)

    def test_view_is_bounded_and_finite(self):
        x = torch.randint(0, 256, (16, 3, SIDE, SIDE), dtype=torch.uint8)
        v, turns = augment.view(x, augment.Policy(), 48)
        self.assertEqual(tuple(v.shape), (16, 3, 48, 48))
        self.assertTrue(torch.isfinite(v).all() and v.abs().max() < 2.7)
        self.assertTrue(((turns >= 0) & (turns < 4)).all())

    def test_small_view_is_half_the_size_and_keeps_the_turn(self):
        torch.manual_seed(0)
        x = torch.zeros(64, 3, SIDE, SIDE, dtype=torch.uint8)
        x[:, :, :, SIDE // 2:] = 255  # bright on the right; any crop of it is darker on its left or flat
        policy = augment.Policy(jitter=0, grey=0)
        for k, dim in ((0, 3), (1, 2)):
            v = augment.small_view(x, policy, 48, torch.full((64,), k))
            self.assertEqual(tuple(v.shape), (64, 3, 24, 24))
            across = v.std(5 - dim).mean(), v.std(dim).mean()
            self.assertLess(across[0], 1e-2)
            self.assertGreater(across[1], 1e-2)

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

    def test_cooldown_holds_the_rate_and_then_falls(self):
        s = schedule.Schedule(100, 10, 1.0, schedule.parse_sizes("0:64"), 0.9, cooldown=0.2)
        self.assertEqual([s.rate(4, 0.04), s.rate(50, 0.5)], [0.5, 1.0])
        self.assertAlmostEqual(s.rate(80, 0.8), 1)
        self.assertAlmostEqual(s.rate(90, 0.9), 0.5)
        self.assertAlmostEqual(s.rate(100, 1.0), 0)

    def test_sizes_must_rise_from_zero(self):
        for text in ("0.1:64", "0:64,0.5:84,0.4:32"):
            with self.assertRaises(ValueError):
                schedule.parse_sizes(text)


class ExportTest(unittest.TestCase):
    def test_onnx_equals_torch(self):
        for arch, limit in (("compact", 6e6), ("resnet18", 25e6), ("resnet18-7x7", 25e6), ("tiny", 1e6)):
            net = shake_batch_norm(nets.build(arch))
            model = onnx_writer.build(net, SIDE, {"pipeline.preprocess": onnx_writer.preprocess_spec(SIDE)})
            blob = model.SerializeToString()
            self.assertLess(len(blob), limit)
            worst, single, largest = onnx_writer.difference(blob, net, torch.randn(3, 3, SIDE, SIDE))
            self.assertLess(worst / largest, 5e-3)
            self.assertLess(single / largest, 1e-5)


class ConvolutionTest(unittest.TestCase):
    """Products against torch's own convolution and its gradients."""

    def gradients(self, convolve, x, weight, wanted):
        x, weight = x.clone().requires_grad_(), weight.clone().requires_grad_()
        out = convolve(x, weight)
        out.backward(wanted)
        return out.detach(), x.grad, weight.grad

    def test_products_equal_the_convolution(self):
        g = torch.Generator().manual_seed(0)
        shapes = ((512, 512, 2, 2, 1), (256, 512, 5, 4, 2), (512, 256, 3, 5, 1), (8, 256, 6, 7, 2), (256, 8, 9, 6, 1))
        for cin, cout, height, width, stride in shapes:
            x = torch.randn(3, cin, height, width, generator=g, dtype=torch.float64)
            weight = torch.randn(cout, cin, 3, 3, generator=g, dtype=torch.float64)
            reference = lambda a, b, stride=stride: F.conv2d(a, b, stride=stride, padding=1)
            wanted = torch.randn(reference(x, weight).shape, generator=g, dtype=torch.float64)
            products = lambda a, b, stride=stride: convolution.Products.apply(a, b, stride)
            ours = self.gradients(products, x, weight, wanted)
            theirs = self.gradients(reference, x, weight, wanted)
            for part, a, b in zip(("output", "input's gradient", "weights' gradient"), ours, theirs):
                self.assertLess((a - b).abs().max() / b.abs().max(), 1e-12, (part, cin, cout, height, width, stride))
        small = [convolution.small(torch.empty(1, c, h, w), torch.empty(o, c, 3, 3), s) for c, o, h, w, s in shapes]
        self.assertEqual(small, [True, True, True, False, False])  # both ways are tried

    def test_network_trains_with_the_same_gradients_in_bfloat16(self):
        torch.manual_seed(0)
        net, x = nets.build("resnet18-7x7"), torch.randn(8, 3, SIDE, SIDE)
        norms = []
        for wins in (convolution.Conv3x3.wins, lambda conv, x: False):
            with unittest.mock.patch.object(convolution.Conv3x3, "wins", wins), torch.autocast("cpu", torch.bfloat16):
                net.zero_grad()
                net(x).float().square().sum().backward()
            norms.append([p.grad.clone() for p in net.parameters()])
        for a, b in zip(*norms):
            self.assertGreater(F.cosine_similarity(a.flatten(), b.flatten(), 0), 0.98)


class WarmStartTest(unittest.TestCase):
    def test_network_comes_back_from_its_file(self):
        images = torch.randint(0, 256, (16, 3, SIDE, SIDE), dtype=torch.uint8)
        for arch in ("tiny", "resnet18-7x7"):
            net, back = shake_batch_norm(nets.build(arch)), nets.build(arch)
            with tempfile.TemporaryDirectory() as tmp:
                path = os.path.join(tmp, "b.onnx")
                onnx_writer.save(path, onnx_writer.build(net, SIDE, {}))
                warm_start.load(back, path, images)
                with self.assertRaisesRegex(SystemExit, "no weights for stem"):
                    warm_start.load(nets.build("resnet18"), path, images)
            with torch.no_grad():
                want, got = net(augment.plain(images)), back.eval()(augment.plain(images))
                self.assertLess((got - want).abs().max() / want.abs().max(), 5e-3)  # the file's float16
                trained = back.train()(augment.plain(images))  # the batch whose statistics were taken
                self.assertLess((trained - got).abs().max() / want.abs().max(), 1e-3)

    def test_classes_start_at_their_features(self):
        images = torch.randint(0, 256, (12, 3, SIDE, SIDE), dtype=torch.uint8)
        labels = torch.arange(12) % 3
        model = nets.Classifier("tiny", 3, 16)
        warm_start.class_weights(model, images, labels, 1, train_backbone.contextlib.nullcontext)
        x = evaluate.features(model.backbone, images, train_backbone.contextlib.nullcontext)
        means = torch.stack([x[labels == c].mean(0) for c in range(3)])
        want = F.normalize(means - means.mean(0))
        self.assertLess((model.head.weight - want).abs().max(), 1e-4)


class AveragingTest(unittest.TestCase):
    def test_channels_have_the_mean_statistics(self):
        """Two networks whose weights cancel in part: without the correction the mean's activations would shrink."""
        images = torch.randint(0, 256, (16, 3, SIDE, SIDE), dtype=torch.uint8)
        nets_, mean = [shake_batch_norm(nets.build("tiny")) for _ in range(2)], nets.build("tiny")
        with tempfile.TemporaryDirectory() as tmp:
            paths = [os.path.join(tmp, f"{i}.onnx") for i in range(2)]
            for path, net in zip(paths, nets_):
                onnx_writer.save(path, onnx_writer.build(net, SIDE, {}))
            averaging.average(mean, paths, images)
        first, second, got = (self.statistics(net, images) for net in (*nets_, mean))
        for name in got:
            for a, b, c in zip(first[name], second[name], got[name]):
                self.assertLess((c - (a + b) / 2).abs().max(), 5e-3 * (a.abs() + b.abs()).max(), name)
        for name, pair in warm_start.pairs(mean):
            folded = [dict(warm_start.pairs(net))[name] for net in nets_]
            want = sum(p.conv.weight * onnx_writer.gain(p.bn).view(-1, 1, 1, 1) for p in folded)
            cosine = F.cosine_similarity(pair.conv.weight.flatten(1), want.flatten(1))
            self.assertGreater(cosine.min(), 0.999, name)

    @staticmethod
    def statistics(net, images):
        """Mean and standard deviation of every channel before its ReLU."""
        found = {}
        for name, pair in warm_start.pairs(net):
            pair.bn.register_forward_hook(lambda bn, x, y,
                                          name=name: found.__setitem__(name, (y.mean((0, 2, 3)), y.std((0, 2, 3)))))
        with torch.no_grad():
            net.eval()(augment.plain(images))
        return found

    def test_mean_of_one_network_is_that_network(self):
        images = torch.randint(0, 256, (8, 3, SIDE, SIDE), dtype=torch.uint8)
        net = shake_batch_norm(nets.build("tiny"))
        with tempfile.TemporaryDirectory() as tmp:
            make_folder(os.path.join(tmp, "photos"))
            pack_images.main(["--folder", os.path.join(tmp, "photos"), "--out", os.path.join(tmp, "photos.npz")])
            paths = [os.path.join(tmp, f"{i}.onnx") for i in range(3)]
            for path in paths[:2]:
                info = {"recipe": {"arch": "tiny"}, "epochs": 3, "steps": 30, "train_seconds": 1, "classes": ["a"]}
                onnx_writer.save(path, onnx_writer.build(net, SIDE, {"pipeline.training": info}))
            with contextlib.redirect_stdout(io.StringIO()):
                average_backbones.main([*paths[:2], "--data", os.path.join(tmp, "photos.npz"), "--workers", "1",
                                        "--out", paths[2]])
            back = nets.build("tiny")
            warm_start.load(back, paths[2], images)
            self.assertEqual(onnx_writer.training(paths[2])["mean_of"][1]["epochs"], 3)
        with torch.no_grad():
            want, got = net(augment.plain(images)), back.eval()(augment.plain(images))
        self.assertLess((got - want).abs().max() / want.abs().max(), 5e-3)  # float16, twice

    def test_other_files_are_refused(self):
        with tempfile.TemporaryDirectory() as tmp:
            path = os.path.join(tmp, "b.onnx")
            onnx_writer.save(path, onnx_writer.build(nets.build("tiny"), SIDE, {}))
            with self.assertRaisesRegex(SystemExit, "does not say how it was trained"):
                average_backbones.main([path, path, "--data", "none.npz", "--out", os.path.join(tmp, "o.onnx")])
            with contextlib.redirect_stderr(io.StringIO()) as err, self.assertRaises(SystemExit):
                average_backbones.main([path, "--data", "none.npz", "--out", os.path.join(tmp, "o.onnx")])
            self.assertIn("name two or more", err.getvalue())


class PowerTest(unittest.TestCase):
    """power_features.py; features of both signs come from a network that puts x and −x side by side."""

    def network(self):
        helper = onnx.helper
        nodes = [helper.make_node("Neg", ["input"], ["minus"]),
                 helper.make_node("Concat", ["input", "minus"], ["features"], axis=1)]
        value = lambda name: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["N", None])
        model = helper.make_model(helper.make_graph(nodes, "both", [value("input")], [value("features")]),
                                  opset_imports=[helper.make_opsetid("", onnx_writer.OPSET)],
                                  ir_version=onnx_writer.IR_VERSION)
        helper.set_model_props(model, {onnx_file.TRAINING_KEY: '{"recipe": {"arch": "none"}}'})
        return model

    def features(self, model, x):
        import onnxruntime  # after onnx_file has turned its telemetry off
        return onnxruntime.InferenceSession(model.SerializeToString(),
                                            providers=["CPUExecutionProvider"]).run(["features"], {"input": x})[0]

    def test_values_keep_their_signs(self):
        x = np.array([[0, 1e-30, 0.25, 4]], np.float32)
        root = np.sqrt(x)
        got = self.features(power_features.raised(self.network(), 0.5), x)
        np.testing.assert_allclose(got, np.concatenate([root, -root], 1), rtol=1e-6)

    def test_powers_multiply(self):
        x = np.array([[0.3, 7]], np.float32)
        model = power_features.raised(power_features.raised(self.network(), 0.5), 0.25)
        np.testing.assert_allclose(self.features(model, x)[0, :2], x[0] ** 0.125, rtol=1e-6)
        self.assertIs(power_features.raised(model, 1), model)
        with tempfile.TemporaryDirectory() as tmp:
            plain, half, eighth = (os.path.join(tmp, name) for name in ("plain.onnx", "half.onnx", "eighth.onnx"))
            onnx.save(self.network(), plain)
            with contextlib.redirect_stdout(io.StringIO()):
                power_features.main([plain, "--power", "0.5", "--out", half])
                power_features.main([half, "--power", "0.25", "--out", eighth])
            self.assertEqual(onnx_writer.training(eighth)["recipe"]["power"], 0.125)
            np.testing.assert_allclose(self.features(onnx.load(eighth), x), self.features(model, x))

    def test_file_has_the_same_weights(self):
        with tempfile.TemporaryDirectory() as tmp:
            source, out = (os.path.join(tmp, name) for name in ("b.onnx", "raised.onnx"))
            onnx_writer.save(source, onnx_writer.build(nets.build("tiny"), SIDE, {}))
            for power in ("0", "-1", "nan", "inf", "half"):
                with contextlib.redirect_stderr(io.StringIO()), self.assertRaises(SystemExit):
                    power_features.main([source, "--power", power, "--out", out])
            with contextlib.redirect_stdout(io.StringIO()):
                power_features.main([source, "--power", "0.5", "--out", out])
            self.assertEqual(sorted(os.listdir(tmp)), ["b.onnx", "raised.onnx"])
            before, after = (onnx.load(path) for path in (source, out))
            self.assertEqual([w.SerializeToString() for w in after.graph.initializer][:-1],
                             [w.SerializeToString() for w in before.graph.initializer])
            x = np.random.default_rng(0).normal(size=(4, 3, SIDE, SIDE)).astype(np.float32)
            np.testing.assert_allclose(self.features(after, x), np.sqrt(self.features(before, x)), rtol=1e-5)


class HeadTest(unittest.TestCase):
    def test_simplex_targets_are_unit_and_equiangular(self):
        w = nets.simplex(7, 10)
        want = torch.full((7, 7), -1 / 6) + (1 + 1 / 6) * torch.eye(7)
        self.assertTrue(torch.allclose(w @ w.T, want, atol=1e-6))
        with self.assertRaisesRegex(ValueError, "need 7 dimensions"):
            nets.simplex(7, 6)

    def test_dot_regression_loss_and_its_gradient(self):
        torch.manual_seed(0)
        head = nets.SimplexHead(12, 5, scale=16)
        target = torch.tensor([0, 3])
        logits = head(torch.randn(2, 12)).detach().requires_grad_()
        head.loss(logits, target, 0.1).sum().backward()
        cosine = logits.detach().gather(1, target[:, None])[:, 0] / 16
        want = torch.zeros(2, 5).scatter(1, target[:, None], (cosine - 1)[:, None])
        self.assertTrue(torch.allclose(logits.grad, want, atol=1e-6))
        self.assertAlmostEqual(head.loss(16 * head.targets[target] @ head.targets.T, target, 0).sum().item(), 0,
                               places=5)

    def test_margin_is_taken_off_the_right_cosine_only(self):
        logits, target = torch.tensor([[8.0, 4.0, 0.0]]), torch.tensor([0])
        got = nets.CosineHead(4, 3, scale=16, margin=0.25).loss(logits, target, 0)
        want = F.cross_entropy(torch.tensor([[4.0, 4.0, 0.0]]), target)
        self.assertAlmostEqual(got.item(), want.item(), places=6)
        self.assertTrue(torch.equal(nets.CosineHead(4, 3, 16).loss(logits, target, 0.1),
                                    F.cross_entropy(logits, target, reduction="none", label_smoothing=0.1)))


class ContrastTest(unittest.TestCase):
    def test_one_positive_is_a_cross_entropy(self):
        torch.manual_seed(0)
        q, k = F.normalize(torch.randn(4, 8)), F.normalize(torch.randn(4, 8))
        got = contrast.loss(q, torch.arange(4), k, torch.arange(4), temperature=0.5)
        self.assertTrue(torch.allclose(got, F.cross_entropy(q @ k.T / 0.5, torch.arange(4), reduction="none"),
                                       atol=1e-6))

    def test_positives_are_averaged_and_empty_places_ignored(self):
        torch.manual_seed(0)
        q, k = F.normalize(torch.randn(1, 8)), F.normalize(torch.randn(5, 8))
        labels = torch.tensor([2, 2, 1, -1, -1])
        share = (q @ k[:3].T / 0.1).softmax(1)[0]
        got = contrast.loss(q, torch.tensor([2]), k, labels, temperature=0.1)
        self.assertAlmostEqual(got.item(), -(share[0].log() + share[1].log()).item() / 2, places=5)
        self.assertEqual(contrast.loss(q, torch.tensor([7]), k, labels).item(), 0)

    def test_queue_forgets_the_oldest(self):
        queue = contrast.Queue(2, "cpu", size=5)
        for n in range(4):
            queue.push(torch.full((2, 2), float(n)), torch.tensor([n, n]))
        self.assertEqual(sorted(queue.labels.tolist()), [1, 2, 2, 3, 3])
        self.assertTrue(torch.equal(queue.keys[:, 0], queue.labels.float()))


class EvaluateTest(unittest.TestCase):
    def test_pseudo_session_separates_and_confuses(self):
        x, y = torch.eye(6).repeat_interleave(10, 0), torch.arange(6).repeat_interleave(10)
        x = x + 0.01 * torch.randn(x.shape, generator=torch.Generator().manual_seed(0))
        base, novel = y < 4, y >= 4
        for head in evaluate.HEADS.values():
            found = evaluate.pseudo_session(head, (x[base], y[base]), (x[base], y[base]), (x[novel], y[novel]))
            self.assertEqual(found, (100, 100, 100))
            same = torch.zeros_like(x) + torch.eye(6)[0]
            _, low, _ = evaluate.pseudo_session(head, (x[base], y[base]), (x[base], y[base]), (same[novel], y[novel]))
            self.assertLess(low, 60)

    def test_shared_covariance_is_the_gaussian_predictive(self):
        """Scores against log densities of NumPy's covariances, up to a constant for each image."""
        g = torch.Generator().manual_seed(0)
        mix, means = torch.randn(3, 3, generator=g), torch.randn(20, 3, generator=g)
        y = torch.arange(20).repeat_interleave(30)
        x = F.normalize(means[y] + 0.3 * torch.randn(600, 3, generator=g) @ mix)
        head = evaluate.SharedCovariance((x, y))
        learned = head.learn(x[:45], y[:45], torch.tensor([0, 1]))
        got = head.scores(x[60:70], [learned]).numpy()
        back = np.linalg.inv(head.space.numpy())
        within, between = back.T @ back, back.T @ np.diag(head.between.numpy()) @ back
        want = []
        for c, n in ((0, 30), (1, 15)):
            own = x[:45][y[:45] == c].double().numpy()
            self.assertEqual(len(own), n)
            gain = between @ np.linalg.inv(between + within / n)
            mean = head.centre.numpy() + gain @ (own.mean(0) - head.centre.numpy())
            covariance = within + between - gain @ between
            r = x[60:70].double().numpy() - mean
            want.append(-0.5 * (np.einsum("ni,ij,nj->n", r, np.linalg.inv(covariance),
                                          r) + np.linalg.slogdet(covariance)[1]))
        np.testing.assert_allclose(got[:, 0] - got[:, 1], want[0] - want[1], rtol=1e-5)

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
                             "--batch", "8", "--side", "24", "--workers", "1", "--threads", "1", "--device", "cpu",
                             "--precision", "fp32", *extra])
        return torch.load(os.path.join(tmp, out, "checkpoint.pt"), weights_only=True)

    def prepared(self, tmp):
        make_folder(os.path.join(tmp, "photos"))
        pack_images.main(["--folder", os.path.join(tmp, "photos"), "--out", os.path.join(tmp, "p.npz")])

    def resumed(self, tmp, *extra):
        """A run in one piece and one stopped after four steps and continued: both checkpoints."""
        whole = self.run_once(tmp, "whole", "--epochs", "2", *extra)
        real_step = loop.Trainer.train_step

        def interrupted(trainer, *args):
            real_step(trainer, *args)
            trainer.o.stop_seconds = 1e-9 if trainer.step == 4 else 0
        loop.Trainer.train_step = interrupted
        try:
            half = self.run_once(tmp, "half", "--epochs", "2", *extra)
        finally:
            loop.Trainer.train_step = real_step
        self.assertEqual(half["position"][:3], (4, 1, 1))
        rest = self.run_once(tmp, "half", "--epochs", "2", "--resume", *extra)
        for key in ("model", "average"):
            for name, value in whole[key].items():
                self.assertTrue(torch.equal(value, rest[key][name]), f"{key} {name} {extra}")
        return whole

    def test_every_part_of_the_recipe_resumes_exactly_and_counts(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            first = "backbone.blocks.0.convs.0.conv.weight"
            plain = self.resumed(tmp)["model"][first]
            whole = ("--contrast", "0.5", "--small-views", "1", "--teacher", "average", "--targets", "simplex")
            self.assertTrue(torch.isfinite(self.resumed(tmp, *whole)["model"][first]).all())
            for extra in (("--contrast", "0.5"), ("--small-views", "1"), ("--teacher", "average"),
                          ("--targets", "simplex"), ("--margin", "-0.1")):
                other = self.run_once(tmp, "whole", "--epochs", "2", *extra)["model"][first]
                self.assertTrue(torch.isfinite(other).all(), extra)
                self.assertFalse(torch.equal(plain, other), extra)

    def test_training_starts_from_a_file(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            self.run_once(tmp, "first", "--arch", "tiny", "--epochs", "2")
            still = ("--arch", "tiny", "--epochs", "0.4", "--lr", "1e-9")  # one step, too small to move anything
            self.run_once(tmp, "second", *still, "--init", os.path.join(tmp, "first", "backbone.onnx"))
            self.run_once(tmp, "second", *still, "--init", os.path.join(tmp, "gone.onnx"),
                          "--resume")  # has its weights
            self.run_once(tmp, "unrelated", *still)
            first, second, unrelated = (self.features_of(os.path.join(tmp, run, "backbone.onnx"))
                                        for run in ("first", "second", "unrelated"))
            self.assertLess(np.abs(second - first).max() / np.abs(first).max(), 1e-2)
            self.assertGreater(np.abs(unrelated - first).max() / np.abs(first).max(), 0.1)

    def test_power_is_of_the_exported_features_alone(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            runs = {power: self.run_once(tmp, power, "--arch", "tiny", "--epochs", "2", "--power", power)
                    for power in ("1", "0.5")}
            first = "backbone.blocks.0.convs.0.conv.weight"
            self.assertTrue(torch.equal(*(run["model"][first] for run in runs.values())))
            paths = [os.path.join(tmp, power, "backbone.onnx") for power in runs]
            plain, root = (self.features_of(path) for path in paths)
            np.testing.assert_allclose(root, np.sqrt(plain), rtol=1e-5)
            mean = os.path.join(tmp, "mean.onnx")
            average_backbones.main([paths[1], paths[1], "--data", os.path.join(tmp, "p.npz"), "--images", "24",
                                    "--workers", "1", "--out", mean])
            self.assertLess(np.abs(self.features_of(mean) ** 2 - plain).max() / plain.max(), 2e-2)  # float16, twice
            self.assertEqual(onnx_writer.training(mean)["recipe"]["power"], 0.5)

    def features_of(self, path, x=None):
        import onnxruntime  # after onnx_writer has turned its telemetry off
        if x is None:
            x = np.random.default_rng(0).normal(size=(2, 3, 24, 24)).astype(np.float32)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        return session.run(None, {"input": x})[0]

    def test_recipes_are_read(self):
        folder = os.path.join(os.path.dirname(os.path.abspath(train_backbone.__file__)), "recipes")
        for name in sorted(os.listdir(folder)):
            o = train_backbone.parse_arguments(["@" + os.path.join(folder, name), "--data", "x", "--out", "y",
                                                "--seed", "2"])
            self.assertEqual((o.seed, o.data), (2, ["x"]), name)
            self.assertIn(o.arch, nets.ARCHS)

    def test_teacher_is_used_and_a_recipe_file_read(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            recipe = os.path.join(tmp, "recipe.txt")
            with open(recipe, "w", encoding="utf-8") as f:
                f.write("# short\n--epochs 2  # two\n--margin 0.1\n")
            whole = self.run_once(tmp, "whole", "@" + recipe)
            self.assertEqual((whole["options"]["epochs"], whole["options"]["margin"]), (2, 0.1))
            self.assertTrue(os.path.exists(os.path.join(tmp, "whole", "backbone.onnx")))
            taught = self.run_once(tmp, "taught", "@" + recipe,
                                   "--teacher", os.path.join(tmp, "whole", "checkpoint.pt"))
            self.assertFalse(torch.equal(taught["model"]["head.weight"], whole["model"]["head.weight"]))
            published = os.path.join(tmp, "whole", "backbone.onnx")
            again = self.run_once(tmp, "published", "@" + recipe, "--arch", "tiny", "--teacher", published)
            alone = self.run_once(tmp, "alone", "@" + recipe, "--arch", "tiny")
            self.assertFalse(torch.equal(again["model"]["head.weight"], alone["model"]["head.weight"]))

    def test_teacher_from_a_file_is_that_network(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            self.run_once(tmp, "whole", "--arch", "tiny", "--epochs", "8")
            path = os.path.join(tmp, "whole", "backbone.onnx")
            o = train_backbone.parse_arguments(["--data", os.path.join(tmp, "p.npz"), "--out", tmp, "--side", "24",
                                                "--arch", "compact", "--teacher", path])
            data = train_backbone.Data(o, torch.device("cpu"))
            teacher = train_backbone.load_teacher(o, path, data, 4, torch.device("cpu"))
            x = augment.plain(data.train[0][:2]).contiguous()
            wanted = self.features_of(path, x.numpy())
            self.assertLess(np.abs(teacher.backbone(x).numpy() - wanted).max() / np.abs(wanted).max(), 1e-2)
            self.assertEqual(teacher(x)[0].shape, (2, 12))
            self.assertFalse(any(p.requires_grad for p in teacher.parameters()))
            with self.assertRaisesRegex(SystemExit, "does not say how it was trained"):
                plain = os.path.join(tmp, "plain.onnx")
                onnx_writer.save(plain, onnx_writer.build(teacher.backbone, 24, {}))
                onnx_writer.training(plain)

    def test_teachers_are_averaged(self):
        with tempfile.TemporaryDirectory() as tmp:
            self.prepared(tmp)
            paths = []
            for seed in "1", "2":
                self.run_once(tmp, seed, "--arch", "tiny", "--epochs", "4", "--seed", seed)
                paths.append(os.path.join(tmp, seed, "backbone.onnx"))

            def trainer(*teachers):
                o = train_backbone.parse_arguments(["--data", os.path.join(tmp, "p.npz"), "--out", tmp, "--side", "24",
                                                    "--arch", "tiny", "--batch", "8", "--precision", "fp32",
                                                    "--teacher", *teachers])
                data = train_backbone.Data(o, torch.device("cpu"))
                return train_backbone.make_trainer(o, data, torch.device("cpu")), data

            both, data = trainer(*paths)
            x = augment.plain(data.train[0][:5]).contiguous()
            one, other = (trainer(path)[0].taught(x) for path in paths)
            self.assertFalse(torch.equal(one, other))
            self.assertTrue(torch.allclose(both.taught(x), (one + other) / 2, atol=1e-5))


if __name__ == "__main__":
    unittest.main()
