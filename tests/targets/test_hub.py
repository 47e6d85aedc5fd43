"""Configs, weights and code from a hub: a local server that speaks its protocol.

huggingface_hub reads its environment when it is imported, so questions are asked by processes of their own,
many in each.
"""

import json
import os
import subprocess
import sys

import pytest

from hub_server import TOKEN, serving

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "vocab_size": 32,
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "dtype": "float32",
}
HOSTILE = {
    "model_type": "hostile",
    "auto_map": {"AutoConfig": "configuration_h.HConfig", "AutoModelForCausalLM": "modeling_h.HModel"},
}
CONFIG_CODE = """
import pathlib, os
pathlib.Path(os.environ["MARKER"]).write_text("config code ran")
from transformers import PretrainedConfig
class HConfig(PretrainedConfig):
    model_type = "hostile"
"""
MODEL_CODE = """
import pathlib, os
pathlib.Path(os.environ["MARKER"]).write_text("model code ran")
import torch
from transformers import PreTrainedModel
from .configuration_h import HConfig
class HModel(PreTrainedModel):
    config_class = HConfig
    def __init__(self, config):
        super().__init__(config)
        self.linear = torch.nn.Linear(2, 2)
        self.post_init()
"""
HOSTILE_FILES = {"config.json": HOSTILE, "configuration_h.py": CONFIG_CODE, "modeling_h.py": MODEL_CODE}

DRIVER = """
import json, sys
from breakfinder.errors import UsageError
from breakfinder.targets import hub

def config(name, revision="", trust=False):
    found = hub.load_config(name, revision, trust)
    return {"type": found.model_type, "class": type(found).__name__, "name": found.name_or_path,
            "layers": getattr(found, "num_hidden_layers", None)}

def model_class(name, revision="", trust=False, auto=""):
    found = hub.remote_class(name, revision, hub.load_config(name, revision, trust), auto)
    return found and found.__name__

def weights(name, revision="", dtype=""):
    import transformers
    given = hub.load_config(name, revision)
    model = hub.load_weights(transformers.LlamaForCausalLM, name, revision, given, dtype)
    return {"first": model.model.embed_tokens.weight.flatten()[:3].tolist(), "dtype": str(model.dtype)}

answers = []
for function, *arguments in json.load(sys.stdin):
    try:
        answers.append({"value": globals()[function](*arguments)})
    except UsageError as error:
        answers.append({"message": error.message, "hint": error.hint})
print("ANSWERS" + json.dumps(answers))
"""


class Asker:
    """Asks `breakfinder.targets.hub` in a process with an environment of its own."""

    def __init__(self, hub, folder):
        self.hub, self.home, self.marker = hub, folder / "home", folder / "marker"

    def __call__(self, *questions, **environment):
        inherited = {
            key: value for key, value in os.environ.items() if not key.startswith(("HF_", "HUGGING"))
        }
        wanted = {
            "HF_ENDPOINT": self.hub.url,
            "HF_HOME": str(self.home),
            "MARKER": str(self.marker),
            **environment,
        }
        done = subprocess.run(
            [sys.executable, "-c", DRIVER],
            input=json.dumps(questions),
            env={**inherited, "HF_HUB_DISABLE_XET": "1", **wanted},
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        assert "ANSWERS" in done.stdout, done.stderr
        return json.loads(done.stdout.rpartition("ANSWERS")[2])


@pytest.fixture
def hub():
    with serving() as server:
        yield server


@pytest.fixture
def ask(hub, tmp_path):
    return Asker(hub, tmp_path)


def write_model(folder):
    import torch
    import transformers

    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**{k: v for k, v in LLAMA.items() if k != "dtype"})
    )
    with torch.no_grad():
        model.model.embed_tokens.weight.fill_(0.25)
    model.save_pretrained(folder)
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_config_is_all_that_is_fetched(hub, ask):
    repo = hub.add("org/tiny", {"config.json": LLAMA, "model.safetensors": "x" * 100, "tokenizer.json": {}})
    answers = ask(["config", "org/tiny"], ["config", "org/tiny", repo.commit], ["config", "org/tiny", "main"])
    for answer in answers:
        assert answer["value"] == {"type": "llama", "class": "LlamaConfig", "name": "org/tiny", "layers": 2}
    assert hub.fetched("org/tiny") == {"config.json"}
    about_models = [path for _, path in hub.log if path != "/api/agent-harnesses"]
    assert about_models and all(path.endswith("/config.json") for path in about_models)


def test_offline_reads_the_cache_and_asks_nothing(hub, ask):
    hub.add("org/tiny", {"config.json": LLAMA})
    ask(["config", "org/tiny"])
    hub.log.clear()
    (cached, missing) = ask(["config", "org/tiny"], ["config", "org/other"], HF_HUB_OFFLINE="1")
    assert cached["value"]["type"] == "llama"
    assert missing["message"].startswith(
        "HF_HUB_OFFLINE is set and config.json of org/other is not in the cache"
    )
    assert (
        "unset HF_HUB_OFFLINE" in missing["hint"] and "hf download org/other config.json" in missing["hint"]
    )
    assert hub.log == []


def test_without_a_network_the_cache_is_used_and_said_to_be_missing(hub, ask):
    hub.add("org/tiny", {"config.json": LLAMA})
    ask(["config", "org/tiny"])
    nowhere = "http://127.0.0.1:9"
    (cached, missing) = ask(["config", "org/tiny"], ["config", "org/other"], HF_ENDPOINT=nowhere)
    assert cached["value"]["type"] == "llama"
    assert missing["message"].startswith(
        f"{nowhere} cannot be reached, and config.json of org/other is not in"
    )
    assert "HF_ENDPOINT" in missing["hint"]


def test_a_token_opens_private_and_gated_repositories(hub, ask):
    hub.add("org/private", {"config.json": LLAMA}, private=True)
    hub.add("org/gated", {"config.json": LLAMA}, gated=True)
    questions = (["config", "org/private"], ["config", "org/gated"])
    (private, gated) = ask(*questions)
    assert private["message"] == f"no repository org/private at {hub.url}"
    assert "HF_TOKEN" in private["hint"]
    assert gated["message"] == "org/gated is gated, and access to it has not been granted to you"
    assert f"{hub.url}/org/gated" in gated["hint"] and "HF_TOKEN" in gated["hint"]
    (_, refused) = ask(*questions, HF_TOKEN="hf_another")
    assert refused["message"] == gated["message"]
    for answer in ask(*questions, HF_TOKEN=TOKEN):
        assert answer["value"]["type"] == "llama"


def test_each_failure_is_one_clear_line(hub, ask, tmp_path):
    hub.add("org/tiny", {"config.json": LLAMA})
    hub.add("org/empty", {"README.md": "nothing"})
    hub.add("org/text", {"config.json": "{oops"})
    hub.add("org/list", {"config.json": "[1]"})
    hub.add("org/untyped", {"config.json": {"hidden_size": 3}})
    hub.add("org/newer", {"config.json": {"model_type": "llama99"}})
    hub.add("org/misfit", {"config.json": {**LLAMA, "hidden_size": "wide"}})
    (tmp_path / "folder").mkdir()
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "config.json").write_bytes(b"\xff\xfe")
    expected = {
        ("org/none", ""): (f"no repository org/none at {hub.url}", "check the name"),
        ("org/tiny", "v9"): ("org/tiny has no revision v9", "--revision"),
        ("org/empty", ""): ("org/empty has no config.json", "Transformers model"),
        ("org/text", ""): ("the config.json of org/text is not JSON", "repair"),
        ("org/list", ""): ("the config.json of org/list is not a JSON object", ""),
        ("org/untyped", ""): ("the config.json of org/untyped has no model_type", '"model_type": "llama"'),
        ("org/newer", ""): ("knows no model type 'llama99'", "pip install -U transformers"),
        ("org/misfit", ""): (
            "the config.json of org/misfit does not fit its type llama",
            "transformers",
        ),
        ("a/b/c", ""): ("'a/b/c' is no hub id", "org/name"),
        (str(tmp_path / "folder"), ""): ("has no config.json", "save_pretrained"),
        (str(tmp_path / "bytes"), ""): ("is not JSON", "repair"),
    }
    answers = ask(*(["config", *question] for question in expected))
    for answer, (message, hint) in zip(answers, expected.values(), strict=True):
        assert message in answer["message"] and hint in answer["hint"], answer
        assert "\n" not in answer["message"] + answer["hint"]


def test_a_folder_is_read_without_a_request(hub, ask, tmp_path):
    files = write_model(tmp_path / "model")
    assert "model.safetensors" in files
    folder = str(tmp_path / "model")
    (config, weights) = ask(["config", folder], ["weights", folder])
    assert config["value"]["type"] == "llama" and config["value"]["name"] == folder
    assert weights["value"] == {"first": [0.25] * 3, "dtype": "torch.float32"}
    assert hub.log == []


def test_weights_come_from_safetensors(hub, ask, tmp_path):
    repo = hub.add("org/tiny", write_model(tmp_path / "model"))
    (plain, half, pinned) = ask(
        ["weights", "org/tiny"], ["weights", "org/tiny", "", "bfloat16"], ["weights", "org/tiny", repo.commit]
    )
    assert plain["value"] == pinned["value"] == {"first": [0.25] * 3, "dtype": "torch.float32"}
    assert half["value"] == {"first": [0.25] * 3, "dtype": "torch.bfloat16"}
    assert "model.safetensors" in hub.fetched("org/tiny")


def test_other_weights_are_refused_unread(hub, ask, tmp_path):
    hub.add("org/pickled", {"config.json": LLAMA, "pytorch_model.bin": "not read"})
    hub.add("org/torn", {"config.json": LLAMA, "model.safetensors": "torn"})
    folder = tmp_path / "pickled"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(LLAMA))
    (folder / "pytorch_model.bin").write_text("not read")
    (pickled, torn, local) = ask(
        ["weights", "org/pickled"], ["weights", "org/torn"], ["weights", str(folder)]
    )
    assert pickled["message"].startswith("org/pickled has no safetensors weights")
    assert local["message"].startswith(f"{folder} has no safetensors weights")
    assert torn["message"].startswith("the weights of org/torn could not be loaded: SafetensorError")
    assert ("GET", "/org/pickled/resolve/main/pytorch_model.bin") not in hub.log


def test_code_runs_only_when_trusted_and_pinned(hub, ask):
    repo = hub.add("org/hostile", HOSTILE_FILES)
    asked = [
        ["config", "org/hostile"],
        ["config", "org/hostile", "main", True],
        ["config", "org/hostile", "", True],
        ["config", "org/hostile", repo.commit, False],
        ["config", "org/hostile", repo.commit[:12], True],
    ]
    answers = ask(*asked)
    for answer in answers[:4]:
        assert answer["message"].startswith("org/hostile needs Python code of its own to be run")
        assert "--trust-remote-code" in answer["message"] and "full commit hash" in answer["message"]
        assert answer["hint"].endswith(f"--trust-remote-code --revision {repo.commit}")
    assert answers[4]["message"] == f"org/hostile has no revision {repo.commit[:12]}"
    assert not ask.marker.exists()
    assert hub.fetched("org/hostile") == {"config.json"}

    (config, model, other) = ask(
        ["config", "org/hostile", repo.commit, True],
        ["model_class", "org/hostile", repo.commit, True],
        ["model_class", "org/hostile", repo.commit, True, "AutoModelForMaskedLM"],
    )
    assert config["value"]["class"] == "HConfig" and model["value"] == "HModel" and other["value"] is None
    assert ask.marker.read_text() == "model code ran"
    pinned = {path for _, path in hub.log if path.endswith(".py")}
    assert pinned == {
        f"/org/hostile/resolve/{repo.commit}/{name}" for name in HOSTILE_FILES if name.endswith(".py")
    }


def test_a_branch_that_looks_like_a_commit_pins_nothing(hub, ask):
    branch = "0123456789" * 4
    repo = hub.add("org/hostile", HOSTILE_FILES, branches=("main", branch))
    (answer,) = ask(["config", "org/hostile", branch, True])
    assert answer["message"] == f"the hub gave commit {repo.commit} of org/hostile for {branch}"
    assert not ask.marker.exists()


def test_code_of_another_repository_is_not_pinned_by_a_revision(hub, ask):
    hub.add("org/code", HOSTILE_FILES)
    foreign = {key: f"org/code--{value}" for key, value in HOSTILE["auto_map"].items()}
    repo = hub.add("org/front", {"config.json": {**HOSTILE, "auto_map": foreign}})
    (answer,) = ask(["config", "org/front", repo.commit, True])
    assert answer["message"].startswith("org/front needs code from another repository, org/code")
    assert not ask.marker.exists() and hub.fetched("org/code") == set()


def test_a_known_model_type_needs_none_of_its_code(hub, ask):
    known = {**LLAMA, "auto_map": HOSTILE["auto_map"]}
    repo = hub.add("org/both", {**HOSTILE_FILES, "config.json": known})
    (plain, unpinned) = ask(["config", "org/both"], ["config", "org/both", "main", True])
    assert plain["value"]["class"] == "LlamaConfig"
    assert "full commit hash" in unpinned["message"]
    assert not ask.marker.exists() and hub.fetched("org/both") == {"config.json"}
    (trusted,) = ask(["config", "org/both", repo.commit, True])
    assert trusted["value"]["class"] == "HConfig" and ask.marker.exists()


def test_code_in_a_folder_runs_only_when_trusted(hub, ask, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    for name, content in HOSTILE_FILES.items():
        (folder / name).write_text(content if isinstance(content, str) else json.dumps(content))
    (refused,) = ask(["config", str(folder)])
    assert "--trust-remote-code" in refused["hint"] and not ask.marker.exists()
    (config, model) = ask(["config", str(folder), "", True], ["model_class", str(folder), "", True])
    assert config["value"]["class"] == "HConfig" and model["value"] == "HModel"
    assert ask.marker.exists() and hub.log == []


def test_broken_code_is_the_users_to_mend(hub, ask):
    files = {**HOSTILE_FILES, "configuration_h.py": "import no_such_package_at_all\nclass HConfig: pass\n"}
    repo = hub.add("org/broken", files)
    (answer,) = ask(["config", "org/broken", repo.commit, True])
    assert answer["message"].startswith("the code of org/broken could not be loaded: ImportError")
