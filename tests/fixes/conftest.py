"""Models in files of their own, and trials of other texts for those files."""

import textwrap

import pytest

from breakfinder.fixes.edit import Edit
from breakfinder.fixes.forked import in_fork
from breakfinder.fixes.trial import Trial
from breakfinder.options import BuildOptions
from breakfinder.report.model import Target
from breakfinder.targets.build import attempts


class Tried:
    """A model file, built in a fork, where a trial or anything else is run on it."""

    def __init__(self, path, name, root):
        self.path, self.name, self.root = path, name, root

    def edit(self, after):
        return Edit(str(self.path.resolve()), self.path.read_text(), textwrap.dedent(after).lstrip("\n"))

    def attempt(self):
        text = f"{self.path}:{self.name}"
        return next(iter(attempts(Target(text=text, kind="file", location=text), BuildOptions())))

    def trial(self):
        attempt = self.attempt()
        subject = attempt.build()

        def rebuild():
            again = attempt.build()
            return again, again

        return Trial(subject, subject, rebuild, self.root, {})

    def run(self, after):
        """The result of a trial of another text for the file."""
        edit = self.edit(after)
        return in_fork(lambda: self.trial().run({edit.file: edit}), 120)


@pytest.fixture
def model(tmp_path):
    def make(source, name="Model"):
        path = tmp_path / "tried_model.py"
        path.write_text(textwrap.dedent(source).lstrip("\n"))
        return Tried(path, name, tmp_path)

    return make
