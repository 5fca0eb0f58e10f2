"""The gateway with the real clients in front: openai, anthropic, and LiteLLM over both."""
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import anthropic
import httpx
import openai
import trustme

from world import GATEWAY, Gateway, Upstream, server_tls

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm  # noqa: E402

litellm.telemetry = False

KEY = "sk-Very-Secret-123"
NAME = "Qwxzvja"  # No word of the model.
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string", "description": f"Where {NAME} lives"}, "link": {"type": "string"}},
    "required": ["city"],
}
DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs/prompts.md"


def target(text):
    return re.search(r"\(https://evil\.example/\?q=([^)]*)\)", text)[1]


class Clients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.upstream = Upstream()
        cls.gateway = Gateway(cls.upstream)
        cls.openai = openai.OpenAI(api_key=KEY, base_url=cls.gateway.base + "/v1")
        cls.anthropic = anthropic.Anthropic(api_key=KEY, base_url=cls.gateway.base)

    @classmethod
    def tearDownClass(cls):
        log = cls.gateway.logged()
        cls.gateway.close()
        cls.upstream.shutdown()
        assert KEY not in log and NAME not in log, "a key or a text is in the log"
        assert NAME.encode() not in b"".join(cls.upstream.recorded), "a text arrived"

    def check_restored(self, text):
        """The name is there, but for the target of the link, which has the surrogate."""
        self.assertTrue(text.startswith(f"It was: {NAME} is late. [") or text.startswith(f"It was: {NAME} is late. !["), text)
        self.assertNotIn(NAME, target(text))

    def test_openai(self):
        messages = [{"role": "user", "content": f"{NAME} is late."}]
        answer = self.openai.chat.completions.with_raw_response.create(model="gpt-x", messages=messages, user=NAME)
        self.assertRegex(answer.headers["x-brr-receipt"], r"words=\d+; loss=[\d.]+; .*conversation=none; mechanism=tree; policy=default:\w+; model=\w+")
        self.check_restored(answer.parse().choices[0].message.content)
        stream = self.openai.chat.completions.create(model="gpt-x", messages=messages, stream=True, stream_options={"include_usage": True})
        self.check_restored("".join(chunk.choices[0].delta.content or "" for chunk in stream))
        self.assertIn(b"Bearer " + KEY.encode(), self.upstream.recorded[-1])

    def test_openai_tools(self):
        tools = [{"type": "function", "function": {"name": "get_weather", "description": f"For {NAME}", "parameters": PARAMETERS}}]
        messages = [{"role": "user", "content": NAME}]
        call = {"model": "gpt-x", "tools": tools, "messages": messages}
        whole = self.openai.chat.completions.create(**call).choices[0].message
        streamed = ""
        for chunk in self.openai.chat.completions.create(**call, stream=True):
            for part in chunk.choices[0].delta.tool_calls or []:
                streamed += part.function.arguments or ""
        for arguments in [whole.tool_calls[0].function.arguments, streamed]:
            arguments = json.loads(arguments)
            self.assertEqual(arguments["city"], NAME)
            self.assertNotIn(NAME, arguments["link"])
        # The whole of it goes back, as programs do it: the answer as it came, and the tool's result.
        result = json.dumps({"city": NAME, "degrees": 21.5, "notes": [f"{NAME} \"likes\" it", None, True]})
        messages += [whole, {"role": "tool", "tool_call_id": whole.tool_calls[0].id, "content": result}]
        said = self.openai.chat.completions.create(**call).choices[0].message.content
        self.assertIn(NAME, said)
        arrived = self.upstream.bodies()[-1]["messages"]
        self.assertEqual(list(json.loads(arrived[1]["tool_calls"][0]["function"]["arguments"])), ["city", "link"])
        content = json.loads(arrived[2]["content"])
        self.assertEqual((content["city"], content["city"]), (arrived[0]["content"],) * 2)
        self.assertNotIn("degrees", content)

    def test_an_answer_that_is_json_stays_json(self):
        name = ':"\\\\D'  # One token, which JSON has to escape.
        call = {"model": "json", "response_format": {"type": "json_object"}, "messages": [{"role": "user", "content": name}]}
        whole = self.openai.chat.completions.create(**call).choices[0].message.content
        chunks = self.openai.chat.completions.create(**call, stream=True)
        for said in [whole, "".join(chunk.choices[0].delta.content or "" for chunk in chunks)]:
            self.assertEqual(json.loads(said), {"said": name})

    def test_anthropic(self):
        call = {"model": "claude-x", "max_tokens": 10, "system": f"Be kind to {NAME}.",
                "messages": [{"role": "user", "content": [{"type": "text", "text": f"{NAME} is late."}]}], "metadata": {"user_id": NAME}}
        self.check_restored(self.anthropic.messages.create(**call).content[0].text)
        with self.anthropic.messages.stream(**call) as stream:
            self.check_restored("".join(stream.text_stream))
        self.assertIn(KEY.encode(), self.upstream.recorded[-1])

    def test_anthropic_tools(self):
        tools = [{"name": "get_weather", "description": f"For {NAME}", "input_schema": PARAMETERS}]
        call = {"model": "claude-x", "max_tokens": 10, "tools": tools, "messages": [{"role": "user", "content": NAME}]}
        whole = self.anthropic.messages.create(**call)
        with self.anthropic.messages.stream(**call) as stream:
            streamed = stream.get_final_message()
        for message in [whole, streamed]:
            self.assertEqual(message.content[0].input["city"], NAME)
            self.assertNotIn(NAME, message.content[0].input["link"])
        result = {"type": "tool_result", "tool_use_id": whole.content[0].id, "content": [{"type": "text", "text": f"{NAME} has sun."}]}
        call["messages"] += [{"role": "assistant", "content": whole.content}, {"role": "user", "content": [result]}]
        self.assertIn(f"{NAME} has sun.", self.anthropic.messages.create(**call).content[0].text)

    def test_litellm(self):
        messages = [{"role": "system", "content": f"Of {NAME}."}, {"role": "user", "content": f"{NAME} is late."}]
        for model, base in [("openai/gpt-x", self.gateway.base + "/v1"), ("anthropic/claude-x", self.gateway.base)]:
            call = {"model": model, "messages": messages, "api_base": base, "api_key": KEY, "max_tokens": 10}
            self.check_restored(litellm.completion(**call).choices[0].message.content)
            chunks = litellm.completion(**call, stream=True)
            self.check_restored("".join(chunk.choices[0].delta.content or "" for chunk in chunks))

    def test_litellm_with_tools(self):
        tools = [{"type": "function", "function": {"name": "get_weather", "description": f"For {NAME}", "parameters": PARAMETERS}}]
        for model, base in [("openai/gpt-x", self.gateway.base + "/v1"), ("anthropic/claude-x", self.gateway.base)]:
            messages = [{"role": "user", "content": NAME}]
            call = {"model": model, "messages": messages, "tools": tools, "api_base": base, "api_key": KEY, "max_tokens": 10}
            whole = litellm.completion(**call).choices[0].message
            chunks = [chunk.choices[0].delta.tool_calls or [] for chunk in litellm.completion(**call, stream=True)]
            streamed = "".join(part.function.arguments or "" for chunk in chunks for part in chunk)
            for arguments in [whole.tool_calls[0].function.arguments, streamed]:
                arguments = json.loads(arguments)
                self.assertEqual(arguments["city"], NAME)
                self.assertNotIn(NAME, arguments["link"])
            result = {"role": "tool", "tool_call_id": whole.tool_calls[0].id, "content": f"{NAME} has sun."}
            call["messages"] = [*messages, whole, result]
            self.assertIn(f"{NAME} has sun.", litellm.completion(**call).choices[0].message.content)

    def test_a_conversation_keeps_its_surrogates(self):
        ask = lambda text, **headers: self.openai.chat.completions.with_raw_response.create(  # noqa: E731
            model="gpt-x", messages=[{"role": "user", "content": text}], extra_headers=headers)
        first = ask(NAME, **{"x-brr-conversation": "tea"})
        again = ask(NAME, **{"x-brr-conversation": "tea"})
        self.assertIn("conversation=new", first.headers["x-brr-receipt"])
        self.assertIn("; loss=0.0; ", again.headers["x-brr-receipt"])
        self.assertEqual(*[body["messages"][0] for body in self.upstream.bodies()[-2:]])

    def test_errors_are_the_interfaces_own(self):
        before = len(self.upstream.recorded)
        image = {"type": "image_url", "image_url": {"url": f"https://example.com/{NAME}.png"}}
        with self.assertRaises(openai.BadRequestError) as refused:
            self.openai.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": [image]}])
        self.assertIn("messages[0].content[0]: is not text", refused.exception.message)
        self.assertNotIn(NAME, str(refused.exception))
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": NAME}}
        with self.assertRaises(anthropic.BadRequestError) as refused:
            self.anthropic.messages.create(model="claude-x", max_tokens=9, messages=[{"role": "user", "content": [image]}])
        self.assertIn("is not text", str(refused.exception))
        self.assertNotIn(NAME, str(refused.exception))
        with self.assertRaises(anthropic.BadRequestError):
            self.anthropic.messages.create(model="claude-x", max_tokens=9000, messages=[{"role": "user", "content": "a"}],
                                           thinking={"type": "enabled", "budget_tokens": 5000})
        with self.assertRaises(openai.APIStatusError) as refused:
            self.openai.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "word " * 20_000_000}])
        self.assertEqual(refused.exception.status_code, 413)
        self.assertEqual(len(self.upstream.recorded), before)

    def test_the_page(self):
        page = httpx.get(self.gateway.base + "/")
        self.assertIn("default-src 'none'", page.headers["content-security-policy"])
        tried = httpx.post(self.gateway.base + "/try", json={"text": f"{NAME} is late."}).json()
        self.assertNotIn(NAME, tried["text"])
        self.assertEqual(httpx.get(self.gateway.base + "/", headers={"host": "evil.example"}).status_code, 403)


class Surroundings(unittest.TestCase):
    def test_tls(self):
        authority = trustme.CA()
        upstream = Upstream(server_tls(authority))
        for trusted in [authority, trustme.CA()]:
            with trusted.cert_pem.tempfile() as roots:
                gateway = Gateway(upstream, environment={"SSL_CERT_FILE": roots})
            client = openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1")
            ask = lambda: client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])  # noqa: E731
            if trusted is authority:
                self.assertIn("It was", ask().choices[0].message.content)
            else:
                with self.assertRaises(openai.APIStatusError) as refused:
                    ask()
                self.assertIn("certificate", str(refused.exception))
            gateway.close()
        self.assertEqual(len(upstream.recorded), 1)
        upstream.shutdown()

    def test_without_entropy_nothing_leaves(self):
        """A library in front of the system's fails `getrandom` as soon as a file is there."""
        upstream = Upstream()
        with tempfile.TemporaryDirectory() as work:
            flag, library = f"{work}/flag", f"{work}/none.so"
            source = pathlib.Path(__file__).with_name("no_entropy.c")
            subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
            gateway = Gateway(upstream, environment={"LD_PRELOAD": library, "BRR_NO_ENTROPY": flag})
            ask = lambda: httpx.post(gateway.base + "/v1/chat/completions", json={"messages": [{"role": "user", "content": NAME}], "model": "m"})  # noqa: E731
            self.assertEqual(ask().status_code, 200)
            pathlib.Path(flag).touch()
            refused = ask()
            self.assertEqual((refused.status_code, refused.json()["error"]["type"]), (503, "server_error"))
            self.assertNotIn(NAME, refused.text)
            gateway.close()
        self.assertEqual(len(upstream.recorded), 1)
        upstream.shutdown()

    def test_policies(self):
        upstream = Upstream()
        policy = "epsilon = 1.0\nname = 'names'\nprivate = 'names+places'\n[roles]\nsystem = 'public'\ntool = 'refuse'\n[json]\nkeys = ['degrees']"
        gateway = Gateway(upstream, policy)
        client = openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1")
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": f"the weather for {NAME}"}]
        answer = client.chat.completions.create(model="m", messages=messages)
        self.assertIn(NAME, answer.choices[0].message.content)
        arrived = upstream.bodies()[0]["messages"]
        self.assertEqual(arrived[0]["content"], "Be brief.")
        self.assertTrue(arrived[1]["content"].lower().startswith("the weather for "), arrived)
        with self.assertRaises(openai.BadRequestError):
            client.chat.completions.create(model="m", messages=[{"role": "tool", "tool_call_id": "a", "content": "b"}])
        gateway.close()
        upstream.shutdown()

    def test_numbers_become_numbers(self):
        upstream = Upstream()
        gateway = Gateway(upstream, "epsilon = 1.0\npublic = 'function-words'\nnumbers = { low = 0, high = 120, scale = 10 }")
        client = openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1")
        messages = [{"role": "user", "content": "47 and 4111 1111 1111 1111"}, {"role": "tool", "tool_call_id": "a", "content": '{"n": 47}'}]
        client.chat.completions.create(model="m", messages=messages)
        said, result = (message["content"] for message in upstream.bodies()[0]["messages"])
        age = re.fullmatch(r"(\d+) and \d{4} \d{4} \d{4} \d{4}", said)[1]
        self.assertNotIn("4111 1111 1111 1111", said)
        self.assertEqual(list(json.loads(result).values()), [int(age)])
        gateway.close()
        upstream.shutdown()

    def test_conversations_expire(self):
        upstream = Upstream()
        gateway = Gateway(upstream, "epsilon = 1.0\n[limits]\nexpiry_minutes = 0.02")
        client = openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1", default_headers={"x-brr-conversation": "tea"})
        messages = [{"role": "user", "content": f"{NAME} " * 3}]
        receipts = []
        for pause in [0, 1.5]:
            time.sleep(pause)
            answer = client.chat.completions.with_raw_response.create(model="m", messages=messages)
            self.assertIn(NAME, answer.parse().choices[0].message.content)
            receipts.append(answer.headers["x-brr-receipt"])
        # Forgotten, it is a new release: drawn and charged again, and nothing of the old one counts.
        for receipt in receipts:
            self.assertIn("; loss=15.0; session-loss=15.0; ", receipt)
            self.assertIn("; conversation=new; ", receipt)
        gateway.close()
        upstream.shutdown()

    def test_fields_whose_names_become_one_are_kept(self):
        upstream = Upstream()
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as words:
            words.write("red\nblue\n")
            words.flush()
            gateway = Gateway(upstream, f"epsilon = 1.0\nprivate_file = '{words.name}'")
        # As many as a body holds, of two names: they come to an end.
        fields = {f"zq{i}": True for i in range(100_000)}
        messages = [{"role": "tool", "tool_call_id": "a", "content": json.dumps(fields)}]
        answer = httpx.post(gateway.base + "/v1/chat/completions", json={"model": "m", "messages": messages}, timeout=300)
        self.assertEqual(answer.status_code, 200, answer.text[:200])
        kept = json.loads(upstream.bodies()[0]["messages"][0]["content"])
        self.assertEqual(len(kept), len(fields))
        self.assertLessEqual({re.sub("[_0-9]", "", name).lower() for name in kept}, {"red", "blue"})
        gateway.close()
        upstream.shutdown()

    def test_what_it_takes_to_start(self):
        base = {"PATH": os.environ["PATH"]}
        for options, environment, says in [
            ([], {}, "no upstream"),
            (["--openai", "http://api.openai.com/v1"], {}, "needs https"),
            (["--openai", "http://127.0.0.1:1", "--listen", "0.0.0.0:0"], {}, "--expose"),
            (["--openai", "http://127.0.0.1:1", "--listen", "0.0.0.0:0", "--expose"], {}, "token"),
            (["--listen", "0.0.0.0:0"], {"BRR_GATEWAY_TOKEN": "x" * 20, "BRR_OPENAI_UPSTREAM": "http://127.0.0.1:1"}, "--expose"),
        ]:
            done = subprocess.run([GATEWAY, *options], env={**base, **environment}, capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(says, done.stderr)

    def test_an_exposed_gateway_takes_a_token(self):
        upstream = Upstream()
        token = "0123456789abcdef"
        gateway = Gateway(upstream, environment={"BRR_GATEWAY_TOKEN": token}, options=["--expose"])
        client = lambda **headers: openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1", default_headers=headers)  # noqa: E731
        ask = lambda client: client.chat.completions.create(model="m", messages=[{"role": "user", "content": "hi"}])  # noqa: E731
        self.assertIn("It was", ask(client(**{"x-brr-token": token})).choices[0].message.content)
        with self.assertRaises(openai.AuthenticationError):
            ask(client())
        self.assertEqual(len(upstream.recorded), 1)
        self.assertNotIn(token.encode(), upstream.recorded[0])
        # A browser cannot send the header for the page itself; what the page asks for takes it.
        self.assertEqual([httpx.get(gateway.base + path).status_code for path in ["/", "/page.js", "/page.css", "/today"]], [200, 200, 200, 401])
        self.assertEqual(httpx.get(gateway.base + "/today", headers={"x-brr-token": token}).status_code, 200)
        lan = httpx.get(gateway.base + "/", headers={"host": "192.168.0.7"})
        self.assertEqual((lan.status_code, "--host NAME" in lan.text), (403, True))
        gateway.close()
        upstream.shutdown()


class Recording(unittest.TestCase):
    """The conversation that docs/prompts.md shows: made here, and written there with BRR_RECORD=1."""

    def test_a_conversation(self):
        upstream = Upstream()
        gateway = Gateway(upstream)
        client = openai.OpenAI(api_key=KEY, base_url=gateway.base + "/v1", default_headers={"x-brr-conversation": "letter"})
        lines, messages = [], []
        for said in ["Please answer the letter from Ludmilla Petrovic about the rent of her flat in Lisbon.", "Ludmilla is my neighbour. Be kind to Ludmilla."]:
            messages.append({"role": "user", "content": said})
            answer = client.chat.completions.with_raw_response.create(model="gpt-x", messages=messages)
            restored = answer.parse().choices[0].message.content
            arrived = upstream.bodies()[-1]["messages"]
            lines += [f"client sends     {said}", f"model sees       {arrived[-1]['content']}"]
            lines += [f"client receives  {restored}", f"receipt          {answer.headers['x-brr-receipt']}", ""]
            messages.append({"role": "assistant", "content": restored})
        self.assertIn("Ludmilla is my neighbour.", restored)
        self.assertIn("conversation=continued", lines[-2])
        shown = "```text\n" + "\n".join(lines).rstrip() + "\n```\n"
        begin, end = "<!-- recording -->\n", "<!-- end of the recording -->"
        before, rest = DOCS.read_text(encoding="utf-8").split(begin)
        recorded, after = rest.split(end)
        if os.environ.get("BRR_RECORD"):
            DOCS.write_text(before + begin + shown + end + after, encoding="utf-8")
        else:
            # The draws differ in every run; what was sent, and the form, do not.
            heads = lambda text: [line[:17] for line in text.splitlines()]  # noqa: E731
            self.assertEqual(heads(recorded), heads(shown))
        gateway.close()
        upstream.shutdown()


if __name__ == "__main__":
    unittest.main()
