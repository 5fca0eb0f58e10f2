"""Memory stays flat over a million rows."""

import subprocess
import sys

import brr

CODE = """
import resource, sys
import pyarrow as pa
import brr

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

# A small model: the rows matter here, not the search.
privatizer = brr.Privatizer(sys.argv[1], epsilon=0.5)
words = ["film", "good", None, "evening"]
rows = 50_000
texts = [words[i % 4] for i in range(rows)]
array = pa.array(texts)
for batch in range(20):
    # One thread: others have heaps of their own, which fill as chance wants.
    private = privatizer.privatize_batch(array if batch % 2 else texts, threads=1)
    assert len(private) == rows
    if batch == 3:
        warm = peak()
print(warm, peak())
"""


def test_a_million_rows_in_batches_need_the_memory_of_one(vectors, tmp_path):
    model = tmp_path / "small.brr"
    model.write_bytes(
        brr.build(vectors, bits=64, binarizer="hyperplane", certify=[]).to_bytes()
    )
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(model)], capture_output=True, text=True, check=True
    )
    warm, end = map(float, done.stdout.split())
    # It is 0.5; batches that are kept by mistake make it 27.
    assert end - warm < 8, f"from {warm:.0f} MiB after four batches to {end:.0f} MiB"
