"""Dependencies between packages point one way only, and torch stays out of where it has no place."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "breakfinder"
PRIVATE_TORCH = (
    "torch._dynamo",
    "torch._guards",
    "torch._subclasses",
    "torch._logging",
    "torch.fx.experimental",
)


def modules():
    return sorted(SOURCE.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """All modules that a file imports, at its top or inside functions."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return names


def packages_of(path: Path) -> set[str]:
    """The breakfinder packages and modules that a file imports."""
    return {
        name.split(".")[1]
        for name in imported(path)
        if name.startswith("breakfinder.") and name.count(".") >= 1
    }


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_dynamo_touches_torchs_private_api(path):
    private = {name for name in imported(path) if name.startswith(PRIVATE_TORCH)}
    if path.relative_to(SOURCE).as_posix() != "tracing/dynamo.py":
        assert not private


@pytest.mark.parametrize("package", ["report", "source", "rules", "lint"])
def test_plain_data_packages_import_neither_tracing_nor_torch(package):
    for path in sorted((SOURCE / package).rglob("*.py")):
        assert not packages_of(path) & {"tracing", "targets", "cli", "pipeline", "worker", "supervisor"}, path
        assert not {name for name in imported(path) if name.split(".")[0] in ("torch", "transformers")}, path


def test_the_command_line_has_no_torch():
    for path in sorted((SOURCE / "cli").rglob("*.py")):
        assert not {name for name in imported(path) if name.split(".")[0] in ("torch", "transformers")}, path
        assert "tracing" not in packages_of(path), path


@pytest.mark.parametrize(
    "code",
    [
        "import breakfinder; breakfinder.Report",
        "import breakfinder.cli, breakfinder.cli.check, breakfinder.cli.output",
        "import breakfinder.pipeline, breakfinder.supervisor, breakfinder.assemble",
        "import breakfinder.lint.session, breakfinder.cli.lint, breakfinder.cli.rules",
        "import breakfinder.targets, breakfinder.targets.subject, breakfinder.trace",
    ],
)
def test_importing_does_not_import_torch(code):
    check = f"import sys; {code}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", check], check=False).returncode == 0
