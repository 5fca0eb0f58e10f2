"""100,000 canaries, in every field of every request shape: none arrives, but in fields that are public.

A canary is a word that no model knows. `test_texts` fills every text of every shape with many of them.
`test_every_place` puts one at every place of every shape in turn, text or not: strings, names of fields,
numbers' places, and fields that are not there; the request is refused, or the canary is privatized, or its place
is on the list of public ones and what stands there has the pattern. `test_every_field` finds the fields that the
readers name in their sources: each has to be in a shape.
"""
import collections
import concurrent.futures
import copy
import json
import pathlib
import random
import re
import string
import unittest

import httpx

from world import Gateway, Upstream

CANARIES = 100_000
CANARY = re.compile(rb"zqv[a-z]{8}vqz", re.IGNORECASE)
NAME = re.compile(r"[A-Za-z0-9._-]{1,64}")

def schema_names(at):
    """The names that a schema declares."""
    reference = re.compile(r"#/\$defs/[A-Za-z0-9._-]{1,64}")
    return {f"{at}.properties": NAME, f"{at}.required": NAME, f"{at}.$defs": NAME, f"{at}.definitions": NAME,
            f"{at}.properties.place.$ref": reference}


# What is public, by its place in the request without the numbers of elements, and how it has to look.
MODEL = re.compile(r"[A-Za-z0-9._:/@-]{1,128}")
PUBLIC = {
    "/v1/chat/completions": {
        "model": MODEL,
        "tools.function.name": NAME,
        "tool_choice.function.name": NAME,
        "response_format.json_schema.name": NAME,
        "messages.tool_calls.id": NAME,
        "messages.tool_calls.function.name": NAME,
        "messages:tool.tool_call_id": NAME,
        "messages:tool.name": NAME,
        **schema_names("tools.function.parameters"),
        **schema_names("response_format.json_schema.schema"),
    },
    "/v1/messages": {
        "model": MODEL,
        "tools.name": NAME,
        "tool_choice.name": NAME,
        "messages.content.id": NAME,
        "messages.content.name": NAME,
        "messages.content.tool_use_id": NAME,
        **schema_names("tools.input_schema"),
    },
}

TEXT = "TEXT"
NUMBERS = {name: 1 for name in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
                                "minItems", "maxItems", "minProperties", "maxProperties"]}
FLAGS = {name: True for name in ["uniqueItems", "nullable", "deprecated", "readOnly", "writeOnly"]}
SCHEMA = {
    "type": "object", "title": TEXT, "description": TEXT, "$comment": TEXT, "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {"city": {"type": "string", "description": TEXT, "enum": [TEXT, TEXT], "default": TEXT, "examples": [TEXT], "format": "date"},
                   "place": {"$ref": "#/$defs/place"}, "days": {"type": ["integer", "null"], **NUMBERS, **FLAGS, "pattern": None},
                   "list": {"type": "array", "prefixItems": [{"title": TEXT}], "items": [{"const": TEXT}], "contains": {"enum": [TEXT]}}},
    "$defs": {"place": {"anyOf": [{"const": TEXT}, {"type": "array", "items": {"title": TEXT}}]}},
    "definitions": {"other": {"oneOf": [{"$comment": TEXT}, {"not": {"const": TEXT}}], "allOf": [{"description": TEXT}, True]}},
    "required": ["city"], "additionalProperties": False, "propertyNames": {"enum": [TEXT]},
}
ARGUMENTS = {"city": TEXT, TEXT: [TEXT, {"deep": TEXT}, 5551234, True, None]}
CACHED = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
SHAPES = {
    "/v1/chat/completions": [
        {"model": "gpt-x", "messages": [{"role": "user", "content": TEXT}], "tool_choice": "auto", "stop": TEXT,
         "response_format": {"type": "json_object"}},
        {
            "model": "gpt-x", "stream": True, "stream_options": {"include_usage": True, "include_obfuscation": False}, "temperature": 0.5, "n": 1, "seed": 7,
            "top_p": 0.5, "presence_penalty": 0.5, "frequency_penalty": 0.5, "logprobs": True, "top_logprobs": 2, "max_completion_tokens": 10,
            "max_tokens": 10, "stop": [TEXT, TEXT], "user": TEXT, "safety_identifier": TEXT, "prompt_cache_key": TEXT,
            "reasoning_effort": "low", "modalities": ["text"], "parallel_tool_calls": True,
            "verbosity": "low", "service_tier": "auto", "store": False,
            "audio": None, "prediction": None, "web_search_options": None, "metadata": None, "logit_bias": None, "functions": None, "function_call": None,
            "tools": [{"type": "function", "function": {"name": "weather", "description": TEXT, "parameters": SCHEMA, "strict": True}}],
            "tool_choice": {"type": "function", "function": {"name": "weather"}},
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "form", "description": TEXT, "strict": True, "schema": {"type": "object", "properties": {"a": {"title": TEXT}}}}},
            "messages": [
                {"role": "system", "content": TEXT, "name": TEXT},
                {"role": "developer", "content": [{"type": "text", "text": TEXT}]},
                {"role": "user", "content": [{"type": "text", "text": TEXT}, {"type": "text", "text": TEXT}], "name": TEXT},
                {"role": "assistant", "content": TEXT, "refusal": TEXT, "reasoning_content": TEXT, "reasoning": TEXT, "name": TEXT, "annotations": [],
                 "audio": None, "function_call": None, "provider_specific_fields": {"refusal": None}, "tool_calls": [
                     {"index": 0, "id": "call_1", "type": "function", "function": {"name": "weather", "arguments": ARGUMENTS}},
                     {"index": 1, "id": "call_2", "type": "function", "function": {"name": "weather", "arguments": TEXT}}]},
                {"role": "assistant", "content": [{"type": "refusal", "refusal": TEXT}]},
                {"role": "tool", "tool_call_id": "call_1", "name": "weather", "content": ARGUMENTS},
                {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": TEXT}]},
                {"role": "user", "content": TEXT},
            ],
        },
    ],
    "/v1/messages": [
        {"model": "claude-x", "max_tokens": 10, "system": TEXT, "messages": [{"role": "user", "content": TEXT}]},
        {
            "model": "claude-x", "max_tokens": 10, "stream": True, "temperature": 0.5, "top_p": 0.5, "top_k": 5, "stop_sequences": [TEXT, TEXT],
            "metadata": {"user_id": TEXT}, "thinking": {"type": "disabled"}, "service_tier": "auto",
            "system": [{"type": "text", "text": TEXT, "cache_control": {"type": "ephemeral", "ttl": "5m"}}],
            "tools": [{"name": "weather", "description": TEXT, "input_schema": SCHEMA, "type": "custom", "strict": True, **CACHED}],
            "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
            "messages": [
                {"role": "user", "content": TEXT},
                {"role": "assistant", "content": [{"type": "text", "text": TEXT, "citations": None, **CACHED},
                                                  {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": ARGUMENTS, "caller": {"type": "direct"}, **CACHED}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": ARGUMENTS, "is_error": False, **CACHED},
                                             {"type": "text", "text": TEXT}]},
                {"role": "assistant", "content": TEXT},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": TEXT, **CACHED}]},
                                             {"type": "text", "text": TEXT}]},
            ],
        },
    ],
}
# The readers of requests, and the interfaces that they are for.
READERS = pathlib.Path(__file__).resolve().parents[2] / "src"
SOURCES = {"openai.rs": ["/v1/chat/completions"], "anthropic.rs": ["/v1/messages"], "definitions.rs": list(SHAPES)}
# JSON that the interfaces have in strings.
IN_STRINGS = [("/v1/chat/completions", "arguments"), ("/v1/chat/completions", "content"), ("/v1/messages", "content")]


def canary(rng):
    return "zqv" + "".join(rng.choices(string.ascii_lowercase, k=8)) + "vqz"


def filled(shape, text):
    """A shape with texts in it; names of fields too."""
    if isinstance(shape, dict):
        return {text() if key == TEXT else key: filled(value, text) for key, value in shape.items()}
    if isinstance(shape, list):
        return [filled(element, text) for element in shape]
    return text() if shape == TEXT else shape


def packed(path, value):
    """With JSON in strings where the interface has it so."""
    if isinstance(value, dict):
        return {key: json.dumps(element) if isinstance(element, dict) and (path, key) in IN_STRINGS else packed(path, element)
                for key, element in value.items()}
    return [packed(path, element) for element in value] if isinstance(value, list) else value


def places(value, at=()):
    """All places of a value: (path, kind), where kind is a leaf, the name of a field, or a field that is not there."""
    if isinstance(value, dict):
        yield at, "more"
        for key, element in value.items():
            yield (*at, key), "key"
            yield from places(element, (*at, key))
    elif isinstance(value, list):
        yield at, "element"
        for i, element in enumerate(value):
            yield from places(element, (*at, i))
    else:
        yield at, "leaf"


def changed(value, at, kind, word):
    value = copy.deepcopy(value)
    within = value
    for step in at if kind in ("more", "element") else at[:-1]:
        within = within[step]
    if kind == "more":
        within[word] = word
    elif kind == "element":
        within.append(word)
    elif kind == "key":
        within[word] = within.pop(at[-1])
    else:
        within[at[-1]] = word
    return value


def found(value, at=()):
    """Where canaries stand in what arrived: the path without numbers, and the string. Messages of tools have a path of their own."""
    if isinstance(value, dict):
        if value.get("role") == "tool":
            at = (*at[:-1], at[-1] + ":tool")
        for key, element in value.items():
            if CANARY.search(key.encode()):
                yield ".".join(at), key
            yield from found(element, (*at, key))
    elif isinstance(value, list):
        for element in value:
            yield from found(element, at)
    elif isinstance(value, str) and CANARY.search(value.encode()):
        yield ".".join(at), value


def named(source):
    """The fields that a reader names: those it reads one by one, and those of its lists."""
    word = re.compile(r'"([^"]+)"')
    for found in re.finditer(r"fields\s*\.(?:public|flag|number|one_of|read|refused|take)\(\s*(\w+|\"[^\"]+\")", source):
        name = found[1]
        if name.startswith('"'):
            yield name[1:-1]
        else:
            # What a variable goes through, in the list behind `in` or in a constant, or which values it may have.
            before = source[: found.start()]
            loop = re.findall(rf"for \(?{name}\b[^{{]*? in (\[.*?\]|[A-Z]+) \{{", before, re.DOTALL)
            listed = loop[-1] if loop else re.findall(rf"let {name} = match .*?;", before, re.DOTALL)[-1] if f"let {name} = match" in before else None
            if listed and listed.isupper():
                listed = re.search(rf"const {listed}: .*? = (\[.*?\]);", source, re.DOTALL)[1]
            yield from word.findall(listed) if listed else ["parameters", "schema"]


def keys(value):
    if isinstance(value, dict):
        yield from value
    for element in value.values() if isinstance(value, dict) else value if isinstance(value, list) else []:
        yield from keys(element)


class Canaries(unittest.TestCase):
    def setUp(self):
        self.rng = random.Random(20)
        self.upstream = Upstream()
        self.gateway = Gateway(self.upstream)
        self.client = httpx.Client(base_url=self.gateway.base, headers={"authorization": "Bearer sk-1"}, timeout=60)

    def tearDown(self):
        self.assertIsNone(CANARY.search(self.gateway.logged().encode()), "a canary is in the log")
        self.client.close()
        self.gateway.close()
        self.upstream.shutdown()

    def post(self, path, body):
        return self.client.post(path, json=body, headers={"anthropic-version": "2023-06-01"})

    def test_texts(self):
        sent = 0

        def text():
            nonlocal sent
            words = [canary(self.rng) for _ in range(60)]
            sent += len(words)
            marks = [" ", ", ", "\n", "-", "'s ", "/", " <br> ", "@", ".", "_", "://", "\u00a0", " \U0001f600", "\u200b", "="]
            return "".join(word.upper() * (i % 9 == 0) or word.title() * (i % 7 == 0) or word + self.rng.choice(marks) for i, word in enumerate(words))

        while sent < CANARIES:
            for path, shapes in SHAPES.items():
                for shape in shapes:
                    answer = self.post(path, packed(path, filled(shape, text)))
                    self.assertEqual(answer.status_code, 200, answer.text[:300])
                    self.assertIn("x-brr-receipt", answer.headers)
        self.assertGreaterEqual(sent, CANARIES)
        for request in self.upstream.recorded:
            self.assertIsNone(CANARY.search(request))

    def test_every_place(self):
        tried = []
        for path, shapes in SHAPES.items():
            for shape in shapes:
                body = filled(shape, lambda: "the")
                tried += [(path, packed(path, changed(body, at, kind, canary(self.rng)))) for at, kind in places(body) if at or kind == "more"]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            answers = list(pool.map(lambda one: self.post(*one), tried))
        statuses = collections.Counter(answer.status_code for answer in answers)
        self.assertEqual(set(statuses), {200, 400})
        self.assertGreater(min(statuses.values()), 50, statuses)
        for answer in answers:
            if answer.status_code == 400:
                self.assertIsNone(CANARY.search(answer.content), "a canary is in an error")
        # What was refused did not arrive.
        self.assertEqual(len(self.upstream.recorded), statuses[200])
        seen = set()
        for request in self.upstream.recorded:
            head, body = request.split(b"\r\n\r\n", 1)
            self.assertIsNone(CANARY.search(head))
            path = head.split(b" ")[1].decode()
            for place, value in found(json.loads(body)):
                self.assertIn(place, PUBLIC[path], f"a canary arrived at {place}")
                self.assertTrue(PUBLIC[path][place].fullmatch(value), place)
                seen.add((path, place))
        self.assertIn(("/v1/messages", "tools.name"), seen)

    def test_every_field(self):
        for source, paths in SOURCES.items():
            fields = set(named((READERS / source).read_text(encoding="utf-8")))
            self.assertGreater(len(fields), 20, source)
            for path in paths:
                self.assertEqual(fields - set(keys(SHAPES[path])), set(), f"{source} names fields that no shape of {path} has")

    def test_headers_and_queries(self):
        body = {"model": "m", "messages": [{"role": "user", "content": "the"}]}
        for name in ["user-agent", "cookie", "x-custom", "referer", "openai-beta", "x-stainless-lang", "x-brr-conversation", "accept", "accept-language"]:
            answer = self.client.post("/v1/chat/completions", json=body, headers={name: canary(self.rng)})
            self.assertEqual(answer.status_code, 200)
        for name in ["anthropic-version", "anthropic-beta", "openai-organization", "openai-project"]:
            for end in ["", "!"]:
                answer = self.client.post("/v1/chat/completions", json=body, headers={name: f"{canary(self.rng)} and {canary(self.rng)}{end}"})
                self.assertEqual(answer.status_code, 400, name)
        for query in [f"q={canary(self.rng)}", f"{canary(self.rng)}"]:
            self.assertEqual(self.client.post("/v1/chat/completions?" + query, json=body).status_code, 400)
        for request in self.upstream.recorded:
            self.assertIsNone(CANARY.search(request))


if __name__ == "__main__":
    unittest.main()
