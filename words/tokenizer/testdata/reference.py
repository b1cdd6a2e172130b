"""Writes tokenizer.json files, texts in many scripts and the ids that the Python package
tokenizers gives them, for the test of the same name: reference.py FOLDER TEXTS"""

import json
import random
import struct
import sys

from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, processors, trainers

LETTERS = {
    "latin": "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "accents": "àéîõüçñßøåæœşğıİŁžđÀÉÎÕÜÇÑẞŒǅﬁﬀªº",
    "greek": "αβγδεζηθικλμνξοπρσςτυφχψωΑΒΓΣΩάέὰᾳ",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщъыьэюяёЁЙЩ",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهويءآًٌٍَُِّْ٠١٢",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשתְֱֲֳִ",
    "devanagari": "अआइईउऊकखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ्ंःक़१२३",
    "tamil": "அஆஇஈஉகஙசஞடணதநபமயரலவழளறனாிீுூெேைொோௌ்",
    "thai": "กขคงจฉชซญฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสหอะาิีึืุูเแโใไ็่้๊๋์",
    "han": "你好世界猫狗鸟鱼花树山水火土金木日月大小中国人学生先生東京臺灣",
    "kana": "あいうえおかきくけこがぎぐげごアイウエオカキクケコパピプペポーｶﾞ゛",
    "hangul": "가나다라마바사아자차카타파하한국어각힣ᄀ까ᅢᆨᆩ",
    "emoji": ["😀", "👍🏽", "👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "1️⃣", "❤️", "🐈‍⬛", "☃", "🀄"],
    "marks": "\u0300\u0301\u0308\u0327\u0323\u0338\u0345\u05b0\u064b\u0f71\u3099\u20d0\u1ab0",
    "controls": "\t\n\r\v\f\x00\x01\x1b\x7f\x85\xad\u200b\u200d\u200e\u2028\u2029\ufeff\ufffd",
    "spaces": " \u00a0\u1680\u2003\u202f\u205f\u3000",
    "digits": "0123456789０１２３٣४½²Ⅷ①",
    "symbols": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~§©®™€£¥•…–—“”‘’«»∑√∞≈≠",
    "beyond": "𝔘𝔫𝔦𝐀𝟙𐍈𠀀𠮷\U000e0001\ue000",
    "singletons": "ÅΩKńǵΐ≯豈\ufb1d\u0958\u0344",
}
WORDS = ["it's", "they've", "I'M", "we'll", "don't", "'s", "'re", "a photo of a cat.", "<|endoftext|>", "</w>",
         "<|startoftext|>", "<unk>", "<pad>", "<s>", "</s>", "<0x41>", "▁", "▁▁▁", "<mask>", "\n\n", "x<sep>y",
         " <sep> ", "<b>", "the", "golden retriever", "e\u0301", "e\u0327\u0301", "ﬁne", "<extra>", "a<extra>", "é", "１"]


def word(draw):
    kind = draw.choice(list(LETTERS))
    return "".join(draw.choice(LETTERS[kind]) for _ in range(draw.choice([1, 2, 3, 5, 8])))


def text(draw):
    kind = draw.random()
    if kind < 0.02:  # a very long word
        return word(draw) * draw.randrange(30, 200)
    if kind < 0.04:  # more combining marks than normalization forms keep together
        return "a" + "".join(draw.choice(LETTERS["marks"]) for _ in range(draw.randrange(25, 80))) + "e"
    if kind < 0.06:
        return "".join(chr(draw.choice([draw.randrange(1, 0xD800), draw.randrange(0xE000, 0x2FFFF)]))
                       for _ in range(draw.randrange(1, 12)))
    parts = []
    for _ in range(draw.randrange(0, 9)):
        parts.append(draw.choice(WORDS) if draw.random() < 0.3 else word(draw))
        parts.append(draw.choice(["", " ", " ", "  ", "\n", "\t ", draw.choice(LETTERS["spaces"])]))
    return "".join(parts)


def known(line):
    """Leaves out characters that are newer than Unicode 15 or unassigned, which libraries treat by their age."""
    import unicodedata
    return "".join(c for c in line if unicodedata.category(c) not in ("Cn", "Cs"))


def charsmap(pairs):
    """A precompiled table of SentencePiece: its size, a double-array trie, the replacements."""
    texts, trie = b"", {}
    for key, value in pairs.items():
        node = trie
        for byte in key.encode():
            node = node.setdefault(byte, {})
        node[0] = len(texts)  # a leaf
        texts += value.encode() + b"\0"
    units, taken = [0] * (1 << 12), {0}

    def place(node, at):
        for base in range(1, len(units) - 256):
            if all((base ^ byte) not in taken for byte in node):
                break
        units[at] |= (at ^ base) << 10 | (1 << 8 if 0 in node else 0)
        taken.update(base ^ byte for byte in node)
        for byte, child in node.items():
            if byte == 0:
                units[base] = child | 1 << 31
            else:
                units[base ^ byte] = byte
        for byte, child in node.items():
            if byte:
                place(child, base ^ byte)

    place(trie, 0)
    return struct.pack("<I", 4 * len(units)) + struct.pack("<%dI" % len(units), *units) + texts


def clip(corpus):
    t = Tokenizer(models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>", continuing_subword_prefix=""))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "),
                                         normalizers.Lowercase()])
    split = Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+")
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(split, behavior="removed", invert=True),
                                               pre_tokenizers.ByteLevel(add_prefix_space=False)])
    t.train_from_iterator(corpus, trainers.BpeTrainer(
        vocab_size=2500, show_progress=False, end_of_word_suffix="</w>",
        special_tokens=["<|startoftext|>", "<|endoftext|>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    start, end = t.token_to_id("<|startoftext|>"), t.token_to_id("<|endoftext|>")
    t.post_processor = processors.RobertaProcessing(("<|endoftext|>", end), ("<|startoftext|>", start),
                                                    trim_offsets=False, add_prefix_space=False)
    t.enable_truncation(77)
    return t


def unigram(corpus, **options):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizers.Sequence([
        normalizers.Lowercase(), normalizers.Replace(Regex(r"[!\"#$%&'()*+,\-.\/:;=?@\[\\\]^_`{|}~]"), ""),
        normalizers.Replace(Regex(r"\s+"), " "), normalizers.Strip()])
    t.pre_tokenizer = pre_tokenizers.Metaspace(**options)
    t.train_from_iterator(corpus, trainers.UnigramTrainer(
        vocab_size=1500, show_progress=False, unk_token="<unk>", special_tokens=["<pad>", "</s>", "<unk>"]))
    t.post_processor = processors.TemplateProcessing(single="$A </s>",
                                                     special_tokens=[("</s>", t.token_to_id("</s>"))])
    t.enable_truncation(64)
    t.enable_padding(length=64, pad_id=1, pad_token="</s>")
    return t


def precompiled(corpus):
    t = unigram(corpus)
    pairs = {"ﬁ": "fi", "ﬀ": "ff", "１": "1", "０": "0", "e\u0301": "é", "e\u0327\u0301": "è", "\t": " ",
             "\u00a0": " ", "　": " ", "①": "1", "ｶ": "カ", "ﾞ": "", "\x01": "", "½": "1⁄2", "™": "TM"}
    t.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap(pairs)), normalizers.NFKC()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    return t


def gemma(corpus):
    t = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Replace(" ", "▁")
    t.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    special = ["<pad>", "<eos>", "<bos>", "<unk>"] + ["<0x%02X>" % b for b in range(256)]
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=2500, show_progress=False, special_tokens=special,
                                                      max_token_length=12, limit_alphabet=200))
    made = json.loads(t.to_str())  # bytes are tokens of the model alone
    made["added_tokens"] = made["added_tokens"][:4]
    t = Tokenizer.from_str(json.dumps(made))
    t.add_tokens([AddedToken("\n\n", normalized=False), AddedToken("▁▁▁", normalized=False),
                  AddedToken("<b>", normalized=False), AddedToken("<extra>", single_word=True, normalized=True),
                  AddedToken("<sep>", lstrip=True, rstrip=True, normalized=False)])
    t.post_processor = processors.TemplateProcessing(single="<bos> $A <eos>", special_tokens=[
        ("<bos>", t.token_to_id("<bos>")), ("<eos>", t.token_to_id("<eos>"))])
    return t


def forms(corpus):
    """The parts that no known network uses together."""
    t = Tokenizer(models.BPE(unk_token="?", fuse_unk=False, ignore_merges=True, continuing_subword_prefix="##"))
    t.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.NFC(), normalizers.Prepend("_"),
                                         normalizers.Strip(left=False, right=True)])
    t.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(r"\d{2,}|[^\s\d]\S?"), "contiguous"),
        pre_tokenizers.Split(Regex("[ae]"), "isolated"),
        pre_tokenizers.Split("o", "merged_with_next"), pre_tokenizers.Metaspace()])
    t.train_from_iterator(corpus, trainers.BpeTrainer(vocab_size=1200, show_progress=False, special_tokens=["?"],
                                                      limit_alphabet=300, continuing_subword_prefix="##"))
    return t


def main(folder, count):
    draw = random.Random(26)
    corpus = [known(text(draw)) for _ in range(3000)]
    texts = [known(text(draw)) for _ in range(count)]
    made = {"clip": clip(corpus), "unigram": unigram(corpus),
            "never": unigram(corpus, prepend_scheme="never", split=False),
            "precompiled": precompiled(corpus), "gemma": gemma(corpus), "forms": forms(corpus)}
    for name, t in made.items():
        t.save(f"{folder}/{name}.json")
        ids = [e.ids for e in t.encode_batch(texts)]
        with open(f"{folder}/{name}.ids.json", "w") as f:
            json.dump(ids, f)
    with open(f"{folder}/texts.json", "w") as f:
        json.dump(texts, f)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
