"""What is in the repository: the files that git tracks or would track.

Files that git ignores do not count as there: a link to one works on the machine where it
was built and nowhere else. Naming such a path in code is fine, as something is made there.
"""
import fnmatch
import os
import pathlib
import re
import subprocess


class Repository:
    """The tree below `root`. All paths are relative to it, with forward slashes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        self.files = {name for name in listed.split("\0") if name and os.path.lexists(self.root / name)}
        self.folders = {str(parent) for name in self.files for parent in pathlib.PurePosixPath(name).parents}
        self.packages = {
            match[1]
            for name in self.files
            if os.path.basename(name) == "Cargo.toml"
            for match in [re.search(r'(?m)^\[package\]\nname = "(.*)"', self.read(name))]
            if match
        }

    def _git(self, *arguments):
        return subprocess.run(
            ["git", "-C", self.root, *arguments], capture_output=True, text=True, check=True
        ).stdout

    def read(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def pages(self):
        return sorted(name for name in self.files if name.endswith(".md"))

    def has(self, name):
        return name in self.files or name in self.folders

    def matches(self, pattern):
        """Whether a path, with `*` and `{a,b}` if need be, names something that is there."""
        return all(
            self.has(path) or any(fnmatch.fnmatchcase(name, path) for name in self.files | self.folders)
            for path in expand(pattern)
        )

    def is_made(self, pattern):
        """Whether git ignores the path: a build makes it."""
        path = expand(pattern)[0].replace("*", "x")
        for name in (path, path + "/"):
            code = subprocess.run(
                ["git", "-C", self.root, "check-ignore", "-q", "--no-index", name], check=False
            ).returncode
            if code == 0:
                return True
        return False

    def entries(self, folder):
        """Names directly in a folder ("." is the root)."""
        prefix = "" if folder in ("", ".") else folder + "/"
        return {name[len(prefix):].split("/")[0] for name in self.files if name.startswith(prefix)}


def expand(pattern):
    """A pattern with `{a,b}` as the patterns that it stands for."""
    braces = re.search(r"\{([^{}]*)\}", pattern)
    if not braces:
        return [pattern]
    return [
        path
        for choice in braces[1].split(",")
        for path in expand(pattern[: braces.start()] + choice + pattern[braces.end():])
    ]
