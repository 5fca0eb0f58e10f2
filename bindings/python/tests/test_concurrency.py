"""Threads, processes, signals."""

import hashlib
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import brr

# The work takes a minute, and is left alone after a few turns of the other thread. With the
# lock held these turns would have to wait for its end.
MEANWHILE = """
import os, threading, time
import brr
privatizer, done = brr.Privatizer(epsilon=0.05), threading.Event()
def work():
    privatizer.privatize_batch(["the film was good"] * 1_000_000, threads=1)
    done.set()
threading.Thread(target=work).start()
for _ in range(100):
    time.sleep(0.001)
print("held" if done.is_set() else "free", flush=True)
os._exit(0)
"""


def test_other_threads_run_meanwhile():
    done = subprocess.run(
        [sys.executable, "-c", MEANWHILE], capture_output=True, text=True, check=True
    )
    assert done.stdout == "free\n"


def _privatize(privatizer, texts, results):
    results.put(privatizer.privatize_batch(texts))


def test_forked_processes_draw_noise_of_their_own(noisy):
    texts = ["the film was good that evening"] * 200
    noisy.privatize_batch(texts)
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    children = [
        context.Process(target=_privatize, args=(noisy, texts, results)) for _ in range(4)
    ]
    for child in children:
        child.start()
    drawn = [results.get(timeout=600) for _ in children]
    for child in children:
        child.join()
    drawn.append(noisy.privatize_batch(texts))
    for i, rows in enumerate(drawn):
        for other in drawn[:i]:
            assert sum(a == b for a, b in zip(rows, other)) < 3


def test_spawned_processes_get_the_privatizer_by_pickle(sure):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(sure.privatize, ("Film",)) == "film"


# All take half a minute at least, on any machine: their threads are few.
BATCH = """
import brr
p = brr.Privatizer(epsilon=0.05)
texts = ['the film was good that evening'] * 5_000_000
print('ready', flush=True)
p.privatize_batch(texts, threads=2)
"""
BUILD = """
import brr, random, tempfile
letters = "abcdefghij"
words = (a + b + c + d for a in letters for b in letters for c in letters for d in letters)
with tempfile.NamedTemporaryFile("w") as file:
    for word in words:
        print(word, *(round(random.gauss(0, 1), 3) for _ in range(100)), file=file)
    file.flush()
    print('ready', flush=True)
    brr.build(file.name, bits=512, threads=1)
"""
TEXT = """
import brr
p = brr.Privatizer(epsilon=0.05)
text = 'the film was good that evening ' * 1_000_000
print('ready', flush=True)
p.CALL
"""
WORD = """
import brr
p = brr.Privatizer(mechanism='brr', epsilon=0.3)
print('ready', flush=True)
p.CALL
"""
LONG = [
    BATCH,
    BUILD,
    TEXT.replace("CALL", "privatize(text, threads=1)"),
    TEXT.replace("CALL", "privatize_batch([text, 'film'], threads=2)"),
    TEXT.replace("CALL", "trace(text)"),
    WORD.replace("CALL", "outcomes('film', draws=20_000_000)"),
    WORD.replace("CALL", "posterior('film', draws=20_000_000)"),
]


@pytest.mark.parametrize("code", LONG)
def test_ctrl_c_ends_long_work(code):
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout.readline() == "ready\n"
    # Into the work; earlier or later it ends the same way.
    time.sleep(1)
    child.send_signal(signal.SIGINT)
    try:
        _, errors = child.communicate(timeout=600)
    finally:
        child.kill()
    assert "KeyboardInterrupt" in errors


def test_ctrl_c_ends_a_check():
    data = bytearray(brr.Model.english().to_bytes())
    # Another remark makes another file, which nobody has checked.
    data[data.rfind(b"built-by")] ^= 1
    data[16:48] = hashlib.sha256(data[48:]).digest()
    model = brr.Model.from_bytes(bytes(data))
    pressed = threading.Event()

    def press(share):
        if not pressed.is_set():
            pressed.set()
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        model.check(threads=1, progress=press)
    assert model.standing == "unchecked", "the call did not wait for the end of the work"


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="Linux only")
def test_a_process_on_one_core_still_works():
    code = "import os, brr; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    code += "sure = brr.Privatizer(mechanism='brr', epsilon=30.0); "
    code += "print(sure.privatize_batch(['film'] * 3000).count('film'))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3000\n"


def test_one_privatizer_in_many_threads(sure):
    texts = ["film", "good", None] * 500
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(sure.privatize_batch(texts)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [texts] * 8
    assert brr.Privatizer is type(sure)
