"""The vectors of spaCy and navec, read with Python's standard library alone: an oracle for brr's readers.

Each gives (word, vector) in the order that brr promises. `shared` also gives the words of spaCy that have borrowed another's
vector.
"""

import array
import gzip
import io
import json
import struct
import tarfile
import zipfile

MASK = (1 << 64) - 1
# Words that spaCy knows by a number of their own.
LABELS = {"aux": 405, "root": 449}


def murmur(data, seed=1):
    """MurmurHash64A, by which spaCy names strings."""
    m, r = 0xC6A4A7935BD1E995, 47
    h = seed ^ (len(data) * m & MASK)
    whole = len(data) - len(data) % 8
    for (k,) in struct.iter_unpack("<Q", data[:whole]):
        k = k * m & MASK
        k = (k ^ k >> r) * m & MASK
        h = (h ^ k) * m & MASK
    if data[whole:]:
        h = (h ^ int.from_bytes(data[whole:], "little")) * m & MASK
    h = (h ^ h >> r) * m & MASK
    return h ^ h >> r


def read_map(data):
    """A MessagePack map from integers to integers, in its order."""
    stream = io.BytesIO(data)
    take = lambda form: struct.unpack(form, stream.read(struct.calcsize(form)))[0]
    forms = {0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q"}

    def number():
        kind = take("B")
        return kind if kind < 0x80 else take(forms[kind])

    kind = take("B")
    size = kind & 0x0F if kind >> 4 == 8 else take({0xDE: ">H", 0xDF: ">I"}[kind])
    return [(number(), number()) for _ in range(size)]


def read_npy(data):
    """Rows and columns of 32-bit floats, and the floats."""
    assert data[:6] == b"\x93NUMPY" and data[6] == 1
    (length,) = struct.unpack("<H", data[8:10])
    header = data[10 : 10 + length].decode()
    assert "'<f4'" in header and "'fortran_order': False" in header
    shape = header.split("'shape': (")[1].split(")")[0]
    rows, columns = (int(n) for n in shape.split(","))
    floats = array.array("f", data[10 + length :])
    assert len(floats) == rows * columns
    return columns, floats


def spacy(wheel, shared=False):
    with zipfile.ZipFile(wheel) as package:
        folder = next(n for n in package.namelist() if n.endswith("vocab/key2row"))[: -len("key2row")]
        keys = read_map(package.read(folder + "key2row"))
        strings = json.loads(package.read(folder + "strings.json"))
        columns, floats = read_npy(package.read(folder + "vectors"))
    names = {murmur(word.encode()): word for word in strings} | {key: word for word, key in LABELS.items()}
    seen = set()
    for key, row in keys:
        if shared or row not in seen:
            yield names[key], floats[row * columns : (row + 1) * columns]
        seen.add(row)


def navec(path):
    with tarfile.open(path) as archive:
        vocabulary = gzip.decompress(archive.extractfile("vocab.bin").read())
        packed = archive.extractfile("pq.bin").read()
    (size,) = struct.unpack_from("<I", vocabulary)
    counts = struct.unpack_from(f"<{size}I", vocabulary, 4)
    words = vocabulary[4 + 4 * size :].decode().splitlines()
    rows, columns, parts, centroids = struct.unpack_from("<4I", packed)
    assert rows == size == len(words)
    indexes = packed[16 : 16 + rows * parts]
    codes = array.array("f", packed[16 + rows * parts :])
    width = columns // parts
    assert len(codes) == parts * centroids * width
    for row in sorted(range(size), key=lambda row: -counts[row]):
        vector = array.array("f")
        for part, index in enumerate(indexes[row * parts : (row + 1) * parts]):
            start = (part * centroids + index) * width
            vector.extend(codes[start : start + width])
        yield words[row], vector
