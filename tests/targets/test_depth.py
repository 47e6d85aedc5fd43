"""Cutting repeated layers: what is kept, what is adapted, and that nothing is lost by it."""

import importlib.util
import sys
import types

import pytest
import torch
import transformers
from torch import nn

from breakfinder.errors import UsageError
from breakfinder.report.model import Subject as SubjectFacts
from breakfinder.targets.depth import rebuild, reduce
from breakfinder.targets.subject import Call, Scenario, Subject
from breakfinder.trace import TraceLog
from breakfinder.tracing import trace
from targets.small_models import MODELS, make


class Block(nn.Module):
    def __init__(self, index, width=4, kind="plain", rate=0.0):
        super().__init__()
        self.inner = nn.Linear(width, width)
        self.layer_idx, self.kind, self.rate = index, kind, rate

    def forward(self, x):
        return self.inner(x)


class Model(nn.Module):
    def __init__(self, blocks, **attributes):
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        vars(self).update(attributes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


def kept_of(model):
    """Numbers that the blocks were made with, from a mark that no renumbering changes."""
    return [int(block.inner.bias[0]) for block in model.blocks]


def marked(blocks):
    for number, block in enumerate(blocks):
        nn.init.constant_(block.inner.bias, number)
    return blocks


def test_the_first_and_the_last_of_each_kind_are_kept_in_order():
    kinds = ["odd", *["even", "odd"] * 5, "single", "odd"]
    model = Model(marked([Block(i, kind=kind) for i, kind in enumerate(kinds)]))
    report = reduce(model, None, "auto")
    assert kept_of(model) == [0, 1, 9, 11, 12]
    assert (report.traced, report.total, report.description) == (5, 13, "5 of 13 layers traced")


def test_shapes_and_classes_make_kinds_and_positions_and_rates_do_not():
    class Other(Block):
        pass

    blocks = [Block(i, rate=0.1 + i / 100) for i in range(9)]
    blocks[4], blocks[6] = Other(4, rate=0.14), Block(6, rate=0.0)
    blocks[3].inner.bias.requires_grad_(False)
    model = Model(marked(blocks))
    reduce(model, None, "auto")
    assert kept_of(model) == [0, 3, 4, 6, 8]


def test_layers_are_renumbered():
    model = Model([Block(i) for i in range(9)])
    reduce(model, None, "auto")
    assert [block.layer_idx for block in model.blocks] == [0, 1]
    assert list(dict(model.blocks.named_children())) == ["0", "1"]


def test_layers_that_count_in_twos_are_renumbered_so():
    class Double(Block):
        def __init__(self, index):
            super().__init__(None)
            self.halves = nn.ModuleList([Block(2 * index), Block(2 * index + 1)])

    model = Model(marked([Double(i) for i in range(9)]))
    reduce(model, None, "auto")
    assert kept_of(model) == [0, 8]
    assert [half.layer_idx for block in model.blocks for half in block.halves] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("depth", "kept"), [("1", [0]), ("2", [0, 7]), ("4", [0, 1, 2, 7]), ("99", list(range(8)))]
)
def test_a_number_of_layers(depth, kept):
    model = Model(marked([Block(i) for i in range(8)]))
    assert reduce(model, None, depth).traced == len(kept)
    assert kept_of(model) == kept


def test_full_changes_nothing():
    model = Model(marked([Block(i) for i in range(8)]))
    report = reduce(model, None, "full")
    assert (report.traced, report.total) == (8, 8) and len(kept_of(model)) == 8
    assert report.description == "all 8 layers traced"


def test_more_of_each_kind_on_request():
    model = Model(marked([Block(i) for i in range(20)]))
    reduce(model, None, "auto", each=10)
    assert kept_of(model) == [0, 1, 2, 3, 4, 15, 16, 17, 18, 19]


@pytest.mark.parametrize("depth", ["", "none", "0", "-1", "1.5"])
def test_what_is_no_depth_is_refused(depth):
    with pytest.raises(UsageError, match="is no depth"):
        reduce(Model([]), None, depth)


def test_lists_of_one_length_are_cut_alike():
    model = Model(marked([Block(i) for i in range(8)]), num_layers=8)
    model.norms = nn.ModuleList(nn.LayerNorm(i + 1) for i in range(8))
    model.scales = nn.ParameterList(nn.Parameter(torch.full((1,), float(i))) for i in range(8))
    model.decoder = Model(marked([Block(i, kind="special" if i == 3 else "plain") for i in range(8)]))
    reduce(model, None, "auto")
    assert kept_of(model) == kept_of(model.decoder) == [0, 3, 7]
    assert [norm.normalized_shape[0] for norm in model.norms] == [1, 4, 8]
    assert [scale.item() for scale in model.scales] == [0.0, 3.0, 7.0]
    assert model.num_layers == 3


def test_experts_heads_and_short_lists_stay():
    model = Model([Block(0), Block(1)])
    model.experts = nn.ModuleList(Block(i) for i in range(8))
    model.heads = nn.ModuleList(nn.Linear(2, 2) for _ in range(8))
    model.head = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    assert reduce(model, None, "auto").traced == 2
    assert [len(model.experts), len(model.heads), len(model.head)] == [8, 8, 5]


def test_a_plain_config_object_is_copied_and_adapted():
    config = types.SimpleNamespace(n_layer=8, kinds=["a"] * 7 + ["b"], width=8)
    model = Model(marked([Block(i) for i in range(8)]), config=config)
    reduce(model, config, "auto")
    assert (config.n_layer, len(config.kinds)) == (8, 8)
    assert (model.config.n_layer, model.config.kinds, model.config.width) == (3, ["a", "a", "b"], 8)
    assert kept_of(model) == [0, 6, 7]


def test_a_list_whose_length_the_config_does_not_know_is_no_list_of_layers():
    model = Model([Block(i) for i in range(8)], config=types.SimpleNamespace(n_layer=6))
    assert reduce(model, model.config, "auto").total == 0
    assert len(model.blocks) == 8


def test_transformers_configs_fit_what_is_left():
    model, _ = make("gemma2")
    given = model.config
    reduce(model, given, "auto")
    assert given.num_hidden_layers == 12 and len(given.layer_types) == 12
    config = model.config
    assert config.num_hidden_layers == 4 and config.layer_types == given.layer_types[:2] * 2
    assert model.model.config is config
    assert [layer.self_attn.sliding_window for layer in model.model.layers] == [4, None, 4, None]
    assert [layer.self_attn.layer_idx for layer in model.model.layers] == [0, 1, 2, 3]


def test_lists_that_a_config_computes_fit_what_is_left():
    model, _ = make("jamba")
    kinds = [type(layer).__name__ for layer in model.model.layers]
    assert [kind.startswith("JambaAttention") for kind in kinds] == [i % 8 == 4 for i in range(17)]
    reduce(model, model.config, "auto")
    left = ["JambaAttention" in type(layer).__name__ for layer in model.model.layers]
    assert sum(left) == 2 and [kind == "full_attention" for kind in model.config.layer_types] == left
    assert isinstance(model.config, type(make("jamba")[0].config))


def test_index_lists_follow_their_layers():
    model, _ = make("sam_vision_model")
    windows = [layer.window_size for layer in model.vision_encoder.layers]
    assert [i for i, size in enumerate(windows) if size == 0] == [2, 5, 8]
    reduce(model, model.config, "auto")
    layers = model.vision_encoder.layers
    assert model.config.global_attn_indexes == [i for i, layer in enumerate(layers) if layer.window_size == 0]
    assert len(model.config.global_attn_indexes) == 2


@pytest.mark.parametrize(
    "name", ["gemma2", "jamba", "qwen3_next", "deepseek_v3", "llama4_text", "t5", "whisper"]
)
def test_a_reduced_model_runs_with_a_cache(name):
    model, inputs = make(name)
    reduce(model, model.config, "auto")
    ids = "decoder_input_ids" if "decoder_input_ids" in inputs else "input_ids"
    first = model(**inputs, use_cache=True)
    assert torch.isfinite(first.logits).all()
    later = model(
        **{**inputs, ids: inputs[ids][:, :1]}, past_key_values=first.past_key_values, use_cache=True
    )
    assert later.logits.shape[1] == 1


def plant(model, monkeypatch, folder):
    """Make the classes of ``model``'s modules break the graph on a line for each variant of attributes.

    Returns the number of lines.  Which lines break then shows which classes and variants were traced.
    """
    variants = {}
    for module in model.modules():
        if not type(module).__module__.startswith("torch."):
            plain = {k: v for k, v in vars(module).items() if isinstance(v, (bool, str)) and k != "training"}
            variants.setdefault(type(module), {})[tuple(sorted(plain.items()))] = None
    lines = 0
    for number, (cls, labels) in enumerate(variants.items()):
        source = ["import torch", "def make(original):", "    def forward(self, *args, **kwargs):"]
        for label in labels:
            test = (
                " and ".join(f"getattr(self, {key!r}, None) == {value!r}" for key, value in label) or "True"
            )
            source += [f"        if {test}:", "            torch._dynamo.graph_break()"]
            lines += 1
        source += ["        return original(self, *args, **kwargs)", "    return forward"]
        path = folder / f"planted_{number}_{cls.__name__}.py"
        path.write_text("\n".join(source))
        spec = importlib.util.spec_from_file_location(path.stem, path)
        planted = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(planted)
        monkeypatch.setitem(sys.modules, path.stem, planted)
        monkeypatch.setattr(cls, "forward", planted.make(cls.forward))
    return lines


class _Enough(Exception):
    pass


def findings_of(model, inputs):
    """What plain ``torch.compile`` meets, each once: breaks, skipped frames, recompilations, limit hits."""
    log = TraceLog()

    def calls():
        yield Call((), inputs)

    def record(kind, data):
        log.apply(kind, data)
        if kind == "stage" and data["name"].endswith("explain"):
            raise _Enough

    with pytest.raises(_Enough):
        trace(Subject(model, SubjectFacts(name="model"), [Scenario("forward", calls)]), record)
    (seen,) = log.scenarios
    assert seen.calls == 1 and not seen.errors
    found = {("break", event.stack[-1].file, event.stack[-1].line, event.gb_type) for event in seen.breaks}
    found |= {("recompilation", item.file, item.first_line, item.name) for item in seen.recompilations}
    for frame in seen.frames:
        if frame.outcome == "skipped":
            found.add(("limit" if frame.limit_hit else "skip", frame.file, frame.first_line, frame.name))
    return found


def findings_at_both_depths(name):
    """The findings with all layers and with few, and how many layers that were.

    Where a frame is compiled anew from layer to layer, whether it meets the limit takes more layers to see.
    """
    model, inputs = make(name)
    full = findings_of(model, inputs)
    for each in (2, torch._dynamo.config.recompile_limit + 2):
        model, inputs = make(name)
        report = reduce(model, model.config, "auto", each)
        found = findings_of(model, inputs)
        if not any(kind == "recompilation" for kind, *_ in found):
            break
    return full, found, report


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_auto_finds_in_a_model_what_full_finds(name):
    full, auto, report = findings_at_both_depths(name)
    assert auto == full
    assert report.traced < report.total or any(kind == "limit" for kind, *_ in full)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemma2", "qwen2_moe", "llama4_text", "jamba", "t5"])
def test_auto_meets_every_planted_break(name, monkeypatch, tmp_path):
    lines = plant(make(name)[0], monkeypatch, tmp_path)
    full, auto, _ = findings_at_both_depths(name)
    planted = {item for item in full if item[0] == "break" and str(tmp_path) in item[1]}
    assert len(planted) > lines / 2
    assert auto == full


def per_layer_widths():
    config = transformers.CONFIG_MAPPING["gemma3n_text"](
        vocab_size=99,
        vocab_size_per_layer_input=99,
        hidden_size=32,
        hidden_size_per_layer_input=8,
        intermediate_size=40,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=8,
        num_hidden_layers=15,
        num_kv_shared_layers=5,
        sliding_window=4,
        laurel_rank=4,
    )
    return transformers.Gemma3nForCausalLM(config).eval()


def test_a_model_whose_widths_depend_on_its_depth_is_rebuilt():
    model, inputs = per_layer_widths(), {"input_ids": torch.arange(6).reshape(1, 6)}
    report = reduce(model, model.config, "auto")
    assert report.traced < report.total == 15
    with pytest.raises(RuntimeError):
        model(**inputs)
    rebuilt = rebuild(model, lambda config: transformers.Gemma3nForCausalLM(config).eval())
    assert len(rebuilt.model.layers) == report.traced
    assert torch.isfinite(rebuilt(**inputs, use_cache=True).logits).all()


def test_a_config_that_makes_other_layers_rebuilds_nothing():
    model, _ = make("deepseek_v3")
    dense = [layer.mlp.__class__.__name__ for layer in model.model.layers[:4]]
    reduce(model, model.config, "auto")
    assert [layer.mlp.__class__.__name__ for layer in model.model.layers] != dense
    assert rebuild(model, type(model)) is None


def test_what_a_config_says_of_single_layers_follows_them():
    with torch.device("meta"):
        model = transformers.AutoModel.from_config(transformers.CONFIG_MAPPING["gemma4_text"]())
    assert model.config.is_heterogeneous
    reduce(model, model.config, "auto")
    widths = [layer.self_attn.head_dim for layer in model.layers]
    assert sorted(set(widths)) == [256, 512]
    assert [model.config.per_layer_config[position].head_dim for position in range(len(widths))] == widths
