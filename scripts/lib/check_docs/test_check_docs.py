"""Tests of the checker: each kind of fault is found, and what is right is let through."""
import pathlib
import subprocess
import tempfile
import unittest

from check_docs import commands, map, markdown, paths, stand_ins
from check_docs.repository import Repository

FILES = {
    "README.md": "# Title\n",
    "docs/guide.md": "# A guide\n\n## Second `part`, again\n\n## Second part, again\n",
    "crates/core/Cargo.toml": '[package]\nname = "core"\n',
    "crates/core/src/lib.rs": "",
    "crates/core/src/noise.rs": "",
    "crates/core/src/noise/threshold.rs": "",
    "crates/core/src/text/cut.rs": "",
    "crates/core/examples/own.rs": "",
    "scripts/test": "",
    ".gitignore": "/web/dist/\n",
    "web/page.js": "",
    "ARCHITECTURE.md": "",
}


class Checks(unittest.TestCase):
    def repository(self, **pages):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        for name, text in {**FILES, **pages}.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        subprocess.run(["git", "init", "-q", root], check=True)
        return Repository(root)

    def faults(self, text, page="README.md"):
        return paths.check(self.repository(**{page: text}))

    def test_links_lead_to_files_folders_and_headings(self):
        good = ["docs/guide.md", "docs", "docs/guide.md#second-part-again-1", "#title", "https://example.org/x"]
        self.assertEqual(self.faults("# Title\n" + " ".join(f"[`x`]({target})" for target in good)), [])
        for bad in ["docs/gone.md", "docs/guide.md#third", "#gone", "/docs/guide.md", "web/dist/x.js"]:
            self.assertEqual(len(self.faults(f"# Title\n\nsee ![x]({bad})")), 1, bad)
        self.assertEqual(len(self.faults("[x]\n\n[x]: docs/gone.md\n")), 1)
        self.assertEqual(self.faults("`[x](docs/gone.md)`"), [])

    def test_links_are_relative_to_their_page(self):
        self.assertEqual(self.faults("[x](../README.md)", "docs/guide.md"), [])
        self.assertEqual(self.faults("one\n[x](README.md)", "docs/guide.md"),
                         ["docs/guide.md:2: the link README.md leads nowhere: there is no docs/README.md"])

    def test_paths_in_code_exist(self):
        for good in ["scripts/test --all", "crates/core/src/{lib,noise}.rs", "crates/*/src", "web/dist/x.js",
                     "either/or", "data/glove.txt", "README.md"]:
            self.assertEqual(self.faults(f"run `{good}`."), [], good)
            self.assertEqual(self.faults(f"```sh\n{good}\n```"), [], good)
        for bad in ["scripts/gone --all", "crates/core/src/{lib,gone}.rs", "GONE.md", "crates/*/gone"]:
            self.assertEqual(len(self.faults(f"run `{bad}`.")), 1, bad)
            self.assertEqual(len(self.faults(f"text\n\n    {bad}\n")), 1, bad)

    def test_packages_and_examples_exist(self):
        self.assertEqual(self.faults("`cargo run -p core --example own -- -p other`"), [])
        self.assertEqual(len(self.faults("`cargo run -p gone --example gone`")), 2)

    def test_the_map_has_every_place(self):
        whole = "# Map\n[noise](crates/core/src/noise.rs) [cut](crates/core/src/text/cut.rs) `docs` `scripts`\n\n## web\n"
        self.assertEqual(map.check(self.repository(**{"ARCHITECTURE.md": whole})), [])
        for part in ["noise.rs", "text/cut.rs", "`docs`", "## web"]:
            lacking = whole.replace(part, "")
            self.assertEqual(len(map.check(self.repository(**{"ARCHITECTURE.md": lacking}))), 1, part)

    def test_commands_are_found(self):
        text = "```sh\n# first\nbrr a \\\n  --b\n\nls\n```\n\n    brr c\n\n```\nsome output\n```\n\n```rust\nbrr d\n```\n"
        self.assertEqual([command.split() for _, command, _ in commands.commands(text)],
                         [["brr", "a", "--b"], ["ls"], ["brr", "c"]])
        self.assertEqual([line for line, _, _ in commands.commands(text)], [3, 6, 9])

    def test_what_is_shown_has_the_form_of_what_is_printed(self):
        text = "```sh\nls\nbrr a\n```\n\n```text\nbrr: loss 1.5\n```\n"
        self.assertEqual([shown for _, _, shown in commands.commands(text)], [None, "brr: loss 1.5"])
        printed = "brr: loss 15,7 per word\nsome drawn words\n"
        self.assertIsNone(commands.differs("brr: loss 3 per word\n\nother words here", printed))
        for shown in ["brr: loss 3 per word", "brr: loss 3 a word\nother words here",
                      "brr: loss 3 per word\nother words", printed + "{\"a\": 1}"]:
            self.assertIsNotNone(commands.differs(shown, printed), shown)
        self.assertIsNone(commands.differs('{"a": 1, "b": 2}', '{"b": [], "a": "x"}'))

    def test_blocks_in_lists_are_prose(self):
        text = "- item\n\n    more `of` it\n\nafter\n\n    code\n"
        self.assertEqual([block.language for block in markdown.blocks(text)], [None, ""])


class Running(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = pathlib.Path(folder.name)
        self.models = stand_ins.Models("false", self.place)

    def run_command(self, command):
        return commands.run(command, self.place, self.place / "bin/brr", self.models)

    def test_a_command_that_fails_is_told(self):
        self.assertIsNone(self.run_command("grep -q film < reviews.txt   # a stand-in"))
        self.assertIn("code 3", self.run_command("exit 3"))
        self.assertIn("code 1", self.run_command("false | cat"))

    def test_tables_have_the_columns_that_a_command_names(self):
        self.assertIsNone(self.run_command("zcat < x.csv.gz | grep -q id,body,user ; : --column body --unit user"))
        self.assertIsNone(self.run_command("grep -q '{\"user\": {\"comment\":' x.jsonl ; : --column user.comment"))
