"""Upstreams and clients that misbehave, each many times at once, and conversations beside them that must not notice."""
import collections
import json
import os
import re
import socket
import struct
import threading
import time

PATH = "/v1/chat/completions"
STREAM = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
BESIDE = 8
# The largest body, and the most that is read of an answer.
LARGE, MOST = 100_000_000, 200_000_000


def chunk(text):
    event = text.encode()
    return b"%x\r\n%s\r\n" % (len(event), event)


def piece(text):
    return chunk("data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": None}]}) + "\n\n")


def answer(text):
    body = json.dumps({"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def reset(connection):
    """Ends a connection with a reset instead of an end."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    # Whatever else refers to it.
    os.close(connection.detach())


def send(*parts, then=None):
    def behave(connection, said):
        for part in parts:
            connection.sendall(part)
        if then:
            then(connection)
    return behave


def endless(connection, said):
    connection.sendall(STREAM)
    text = piece("word " * 2000)
    for _ in range(MOST // len(text)):
        connection.sendall(text)


def stall(_):
    time.sleep(6)


def close(connection):
    connection.shutdown(socket.SHUT_RDWR)


# What the upstream does with a request for the model of this name.
UPSTREAMS = {
    "never answers": send(then=stall),
    "stops within a stream": send(STREAM, piece("half "), then=stall),
    "resets the connection before it answers": send(then=reset),
    "resets it within a stream": send(STREAM, piece("half "), then=reset),
    "closes within a chunk": send(STREAM, piece("half "), b"ff\r\ndata: {\"ch", then=close),
    "ends the stream within an event": send(STREAM, piece("half "), b"6\r\ndata: \r\n0\r\n\r\n"),
    "ends the stream without its end": send(STREAM, piece("half "), b"0\r\n\r\n"),
    "closes within a JSON answer": send(b"HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n{\"choices\"", then=close),
    "answers with a page": send(b"HTTP/1.1 500 Oops\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>"),
    "streams nonsense": send(STREAM, chunk("data: nonsense\n\n"), b"0\r\n\r\n"),
    "streams without end": endless,
}


class Upstream:
    """Records the bodies that arrive, and behaves as the model's name says; without such a name it says back what it heard."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=200)
        self.address = "%s:%d" % self.listener.getsockname()
        self.bodies = []
        self.let_go = 0
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[connection], daemon=True).start()

    def serve(self, connection):
        try:
            with connection, connection.makefile("rb") as lines:
                while line := lines.readline():
                    length = 0
                    while line.strip():
                        if line.lower().startswith(b"content-length:"):
                            length = int(line.split(b":")[1])
                        line = lines.readline()
                    body = lines.read(length)
                    self.bodies.append(body)
                    asked = json.loads(body)
                    said = asked["messages"][0]["content"]
                    kind = UPSTREAMS.get(asked["model"].replace("_", " "))
                    kind(connection, said) if kind else connection.sendall(answer(f"It was {said}."))
        except OSError:
            self.let_go += 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def head(length, more=""):
    return (f"POST {PATH} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer sk-fault\r\n"
            f"content-type: application/json\r\n{more}{length}\r\n\r\n").encode()


def request(model, text, stream, more=""):
    body = json.dumps({"model": model.replace(" ", "_"), "stream": stream, "messages": [{"role": "user", "content": text}]}).encode()
    return head(f"content-length: {len(body)}", more) + body


class Client:
    """A connection to the gateway."""

    def __init__(self, address):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)

    def write(self, data):
        """All of it, or up to where the gateway has heard enough."""
        try:
            self.socket.sendall(data)
        except OSError:
            pass

    def read(self):
        """How the answer ended: its bytes, no more of them than are kept, and whether the connection was closed in order."""
        kept, total = b"", 0
        try:
            while data := self.socket.recv(1 << 16):
                total += len(data)
                kept = (kept + data)[-(1 << 16):] if total > 1 << 17 else kept + data
                if total > MOST:
                    return kept, "no end"
        except OSError as error:
            return kept, type(error).__name__
        return kept, "closed"


def ending(kept, closed):
    """In words: a clean error is the interface's own, as the whole answer or as the stream's last event."""
    status = re.match(rb"HTTP/1.1 (\d+)", kept)
    found = re.findall(rb'"error":\{"message":"brr-gateway: ([^";(]*)', kept)
    if found and closed == "closed":
        how = "in its last event" if status and status[1] == b"200" or not status else f"with status {status[1].decode()}"
        return f"error {how}: {found[-1].decode().strip()}"
    return f"{'no answer' if not kept else 'answer without an error'}, connection {closed}"


def asks(model):
    def once(client):
        client.write(request(model, "hello", "stream" in model or "chunk" in model))
        return ending(*client.read())
    return once


def large(client):
    client.write(head(f"content-length: {LARGE}"))
    for _ in range(LARGE // 1_000_000):
        client.write(b"x" * 1_000_000)
    return ending(*client.read())


def large_in_chunks(client):
    client.write(head("transfer-encoding: chunked"))
    for _ in range(LARGE // 1_000_000):
        client.write(b"f4240\r\n" + b"x" * 1_000_000 + b"\r\n")
    client.write(b"0\r\n\r\n")
    return ending(*client.read())


def stops_within_its_body(client):
    client.write(request("m", "hello", False)[:-5])
    return ending(*client.read())


def drips(client):
    """A byte now and then, each in time."""
    client.write(head("content-length: 100000"))
    for _ in range(60):
        client.write(b" ")
        time.sleep(0.5)
        client.socket.setblocking(False)
        try:
            begun = client.socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            begun = None
        finally:
            client.socket.settimeout(60)
        if begun is not None:
            return ending(*client.read())
    return "it was waited for"


def stops_within_its_headers(client):
    client.write(b"POST " + PATH.encode() + b" HTTP/1.1\r\nhost: loc")
    return ending(*client.read())


def takes_nothing(client):
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.write(request("streams without end", "hello", True))
    time.sleep(8)
    kept, closed = client.read()
    return "answer broken off, connection closed" if closed != "no end" else "all of it was kept for the client"


def goes_away(client):
    client.write(request("streams without end", "hello", True))
    client.socket.recv(20)
    reset(client.socket)
    return "the client is gone"


CLIENTS = {
    "client sends 100 MB": large,
    "client sends 100 MB in chunks": large_in_chunks,
    "client stops within its body": stops_within_its_body,
    "client sends a byte each half second": drips,
    "client stops within its headers": stops_within_its_headers,
    "client takes nothing of an answer": takes_nothing,
    "client goes away within an answer": goes_away,
}


def beside(address, number, ended, told):
    """A conversation that goes on all the while: its answers hold its own original, and no other's."""
    own = f"Qwx{'abcdefgh'[number]}zvj"
    others = [f"Qwx{letter}zvj".encode() for letter in "abcdefgh"[:BESIDE] if letter != "abcdefgh"[number]]
    while not ended.is_set():
        client = Client(address)
        client.write(request("m", own, False, f"x-brr-conversation: {number}\r\n"))
        kept, _ = client.read()
        told["answers"] += 1
        told["own"] += own.encode() in kept
        told["others"] += any(other in kept for other in others)
        time.sleep(0.05)


def measure(address, upstream, times):
    ended, told = threading.Event(), [collections.Counter() for _ in range(BESIDE)]
    running = [threading.Thread(target=beside, args=[address, number, ended, told[number]]) for number in range(BESIDE)]
    for thread in running:
        thread.start()
    rows = []
    for fault, once in [*((f"upstream {name}", asks(name)) for name in UPSTREAMS), *CLIENTS.items()]:
        endings = collections.Counter()

        def run():
            endings[once(Client(address))] += 1

        # Hundreds of megabytes at a time are enough.
        for _ in range(0, times, 5):
            threads = [threading.Thread(target=run) for _ in range(min(times, 5))]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        rows += [{"fault": fault, "ended": how, "times": count} for how, count in endings.most_common()]
    ended.set()
    for thread in running:
        thread.join()
    arrived = sum(len(re.findall(rb"(?i)qwx[a-h]zvj", body)) for body in list(upstream.bodies))
    sums = sum(told, collections.Counter())
    return {"rows": rows, "conversations": BESIDE, "answers": sums["answers"], "own": sums["own"], "others": sums["others"],
            "arrived": arrived, "let_go": upstream.let_go}
