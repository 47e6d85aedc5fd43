"""What each rewrite makes of small sources, letter for letter, and what it leaves alone."""

import ast
import pkgutil
import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from breakfinder.rules import all_rules, rewrites

CASES = Path(__file__).parents[1] / "fixtures" / "cases"
NAMES = sorted(
    module.name
    for module in pkgutil.iter_modules(rewrites.__path__)
    if any(
        isinstance(item, type) and issubclass(item, rewrites.Rewrite) and item is not rewrites.Rewrite
        for item in vars(__import__(f"{rewrites.__name__}.{module.name}", fromlist=["_"])).values()
        if getattr(item, "__module__", "") == f"{rewrites.__name__}.{module.name}"
    )
)


def place(marked):
    """A source without its « and », and the range that they enclose."""
    start, end = marked.index("«"), marked.index("»") - 1
    text = marked.replace("«", "").replace("»", "")
    return text, position(text, start), position(text, end)


def position(text, offset):
    before = re.split(r"\r\n|\r|\n", text[:offset])
    return len(before), len(before[-1]) + 1


def change(name, marked):
    text, start, end = place(marked)
    return rewrites.rewrite(text, rewrites.by_name(name), start, end)


def body(source, arguments="x"):
    """A function of these lines."""
    return f"import torch\n\n\ndef fn({arguments}):\n" + textwrap.indent(source, "    ") + "\n"


def method(source):
    return (
        "import torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.lin = torch.nn.Linear(8, 8)\n\n    def forward(self, x):\n"
        + textwrap.indent(source, "        ")
        + "\n"
    )


GUARD = "if not torch.compiler.is_compiling():\n    "
LINES = {
    "guard_message": [
        ("«print(x)»\nreturn x", f"{GUARD}print(x)\nreturn x"),
        ("«print('mean', x.mean().item())»  # seen", f"{GUARD}print('mean', x.mean().item())  # seen"),
        ("# why\nprint(f'{«x.sum().item()»}')", f"# why\n{GUARD}print(f'{{x.sum().item()}}')"),
        (
            "for i in x: «print(i)»  # each",
            "for i in x:  # each\n    if not torch.compiler.is_compiling():\n        print(i)",
        ),
        (
            "a = 1; «print(x)»; b = 2  # c",
            f"a = 1\n{GUARD}print(x)\nb = 2  # c",
        ),
        (
            "try:\n    «print(x)»\nfinally:\n    x = x + 1\nreturn x",
            "try:\n    if not torch.compiler.is_compiling():\n        print(x)\nfinally:\n    x = x + 1\nreturn x",
        ),
        (
            "def inner(y):\n    «print(\n        y,  # the value\n        '''a\nb''',\n    )»\n"
            "    return y\nreturn inner(x)",
            "def inner(y):\n    if not torch.compiler.is_compiling():\n        print(\n            y,  # the value\n"
            "            '''a\nb''',\n        )\n    return y\nreturn inner(x)",
        ),
    ],
    "guard_call": [
        ("«seen.append(x.shape)»\nreturn x", f"{GUARD}seen.append(x.shape)\nreturn x"),
        ("with lock:\n    «put(x)»", "with lock:\n    if not torch.compiler.is_compiling():\n        put(x)"),
    ],
    "guard_count": [
        ("«counts[0]» += 1\nreturn x", f"{GUARD}counts[0] += 1\nreturn x"),
        ("global calls\n«calls» += 1\nreturn x", f"global calls\n{GUARD}calls += 1\nreturn x"),
    ],
    "keep_scalar_tensor": [
        (
            "s = «x.max().item()»  # top\nreturn x / (s + 1e-6)",
            "s = x.max().detach()  # top\nreturn x / (s + 1e-6)",
        ),
        ("return x * «float(s)»", "return x * s.detach().reshape(())"),
        ("return x * float(«x.std().item()»)", "return x * x.std().detach()"),
        ("return x * «int(x.mean())»", "return x * x.mean().detach().trunc()"),
        ("return x - «(x + 1).sum().item()»", "return x - (x + 1).sum().detach()"),
        ("if (s := «x.max().item()») is None or s + x is x:\n    pass", None),
        ("seen.append(«float(x.std())»)", "seen.append(x.std().detach())"),
    ],
    "list_to_tensor": [
        ("w = «x.sum(0).tolist()»\nreturn x * w[0] + w[1]", "w = x.sum(0).detach()\nreturn x * w[0] + w[1]"),
        ("for w in «s.tolist()»:\n    x = x * w\nreturn x", "for w in s.detach():\n    x = x * w\nreturn x"),
        ("a, b = «s.tolist()»\nreturn x * a + b", "a, b = s.detach()\nreturn x * a + b"),
    ],
    "where": [
        (
            "if «x.mean() > 0»:\n    h = x * 2.0\nelse:\n    h = x - 1.0\nreturn h",
            "h = torch.where(x.mean() > 0, x * 2.0, x - 1.0)\nreturn h",
        ),
        ("if «x.sum() > 0»:\n    x += 1\nreturn x", "x = torch.where(x.sum() > 0, x + 1, x)\nreturn x"),
        ("if «x.any()»: x = -x\nreturn x", "x = torch.where(x.any(), -x, x)\nreturn x"),
        ("if not «x.any()»:\n    x = -x\nreturn x", "x = torch.where(x.any(), x, -x)\nreturn x"),
        ("if «x.sum()»:\n    x = -x\nreturn x", "x = torch.where(x.sum() != 0, -x, x)\nreturn x"),
        ("if «x.max().item() > 1»:\n    x = -x\nreturn x", "x = torch.where(x.max() > 1, -x, x)\nreturn x"),
        (
            "if «x.sum() > 0»:\n    return x * 2\nreturn x - 1",
            "return torch.where(x.sum() > 0, x * 2, x - 1)",
        ),
        ("return x * 2 if «x.sum() > 0» else x", "return torch.where(x.sum() > 0, x * 2, x)"),
        ("y = x + 1 if «torch.equal(x, z)» else z", "y = torch.where((x == z).all(), x + 1, z)"),
        (
            "# sign\nif «x.sum() > 0»:  # positive\n    a = x + 1  # more\nelif x.min() < 0:\n    a = x * 2\n"
            "else:\n    a = x\nreturn a",
            "# sign\n# positive\n# more\na = torch.where(x.sum() > 0, x + 1, torch.where(x.min() < 0, x * 2, x))\nreturn a",
        ),
        (
            "if «x.sum() > 0»:\n    a = x + 1\n    b = a * 2\nelse:\n    a = x\n    b = x\nreturn a + b",
            "taken = x.sum() > 0\na_if = x + 1\nb_if = a_if * 2\na_else = x\nb_else = x\n"
            "a = torch.where(taken, a_if, a_else)\nb = torch.where(taken, b_if, b_else)\nreturn a + b",
        ),
        (
            "if «x.sum() > 0»:\n    return x, x + 1\ny = x.tanh()\nreturn y, y - 1",
            "taken = x.sum() > 0\nearly = x\nearly_2 = x + 1\ny = x.tanh()\n"
            "return torch.where(taken, early, y), torch.where(taken, early_2, y - 1)",
        ),
        (
            "for f in fs:\n    if «x.sum() > 0»:\n        continue\n    h = f(x)\n    x = h + 1\nreturn x",
            "for f in fs:\n    h = f(x)\n    x_else = h + 1\n    x = torch.where(x.sum() > 0, x, x_else)\nreturn x",
        ),
        (
            "if self.training and «x.sum() > 0» and x.any():\n    x = x + 1\nreturn x",
            "if self.training:\n    x = torch.where(torch.logical_and(x.sum() > 0, x.any()), x + 1, x)\nreturn x",
        ),
    ],
    "cond": [
        (
            "if «x.sum() > 0»:\n    for _ in range(3):\n        x = x * 2  # twice\nelse:\n    x = x.sin()\nreturn x",
            "def if_taken(x):\n    for _ in range(3):\n        x = x * 2  # twice\n    return x\n\n"
            "def otherwise(x):\n    x = x.sin()\n    return x\n\n"
            "x = torch.cond(x.sum() > 0, if_taken, otherwise, (x,))\nreturn x",
        ),
        (
            "y = x\nif not «x.any()»:\n    y = x.cos()\nreturn y",
            "y = x\ndef if_taken(y):\n    y = x.cos()\n    return y\n\ndef otherwise(y):\n    return y.clone()\n\n"
            "y = torch.cond(x.any(), otherwise, if_taken, (y,))\nreturn y",
        ),
    ],
    "carry_done": [
        (
            "for f in fs:\n    x = f(x)\n    # near enough\n    if «x.norm() < 1»:\n        break\n    x = x * 2\nreturn x",
            "done = torch.zeros((), dtype=torch.bool)\nfor f in fs:\n    x = torch.where(done, x, f(x))\n"
            "    # near enough\n    done = torch.logical_or(done, x.norm() < 1)\n"
            "    x = torch.where(done, x, x * 2)\nreturn x",
        ),
        (
            "for f in fs:\n    if «x.norm() < 1»:\n        x = x + 1\n        break\n    x = f(x)\nreturn x",
            "done = torch.zeros((), dtype=torch.bool)\nfor f in fs:\n"
            "    leaving = torch.logical_and(x.norm() < 1, torch.logical_not(done))\n"
            "    x = torch.where(leaving, x + 1, x)\n    done = torch.logical_or(done, leaving)\n"
            "    x = torch.where(done, x, f(x))\nreturn x",
        ),
    ],
    "assert_async": [
        ("assert «x.max() < 9», f'too large: {x}'", 'torch._assert_async(x.max() < 9, "too large")'),
        ("assert «x.any()»  # some", "torch._assert_async(x.any())  # some"),
        (
            "if «x.isnan().any()»:\n    raise ValueError('NaN found')\nreturn x",
            'torch._assert_async(torch.logical_not(x.isnan().any()), "NaN found")\nreturn x',
        ),
        ("if not «x.all()»: raise Bad\nreturn x", 'torch._assert_async(x.all(), "Bad")\nreturn x'),
        (
            "if self.check and «x.isnan().any()»:\n    raise ValueError('bad ' + str(x))",
            'if self.check:\n    torch._assert_async(torch.logical_not(x.isnan().any()), "bad")',
        ),
    ],
    "logical": [
        ("flat = not «x.std() > 0»\nreturn flat", "flat = torch.logical_not(x.std() > 0)\nreturn flat"),
        ("return «x.any()» and y.any()", "return torch.logical_and(x.any(), y.any())"),
        ("return x.any() or not «y.all()»", "return torch.logical_or(x.any(), torch.logical_not(y.all()))"),
    ],
    "mask_where": [
        (
            "out = torch.zeros_like(x)\npicked = «x[ok]»\nout[ok] = norm(picked)  # rows\nreturn out",
            "out = torch.zeros_like(x)\npicked = x\n"
            "out = torch.where(ok.reshape(ok.shape + (1,) * (out.dim() - ok.dim())), norm(picked), out)  # rows\n"
            "return out",
        ),
        ("x[x > 0] = «y[x > 0]» + 1\nreturn x", "x.copy_(torch.where(x > 0, y + 1, x))\nreturn x"),
        ("x[x > 0] += «y[x > 0]»\nreturn x", "x.copy_(torch.where(x > 0, x + y, x))\nreturn x"),
        ("h = x.clone()\n«h[h < 0]» = 0\nreturn h", "h = x.clone()\nh = torch.where(h < 0, 0, h)\nreturn h"),
    ],
    "mask_reduce": [
        ("return «x[x > 0]».sum()", "return torch.where(x > 0, x, 0).sum()"),
        ("return «x[x > 0]».mean() + 1", "return (torch.where(x > 0, x, 0).sum() / (x > 0).sum()) + 1"),
        ("return torch.max(«x[~x.isnan()]»)", 'return torch.where(~x.isnan(), x, float("-inf")).max()'),
        ("return «x.masked_select(x > 0)».sum()", "return torch.where(x > 0, x, 0).sum()"),
        (
            "return «x[ok]».mean()",
            "return (torch.where(ok.reshape(ok.shape + (1,) * (x.dim() - ok.dim())), x, 0).sum() / "
            "ok.reshape(ok.shape + (1,) * (x.dim() - ok.dim())).expand_as(x).sum())",
        ),
    ],
    "bincount_to_scatter": [
        (
            "return «torch.bincount(x, minlength=n)»",
            "return torch.zeros(n, dtype=torch.int64, device=x.device).scatter_add(0, x, torch.ones_like(x))",
        ),
        (
            "return «x.bincount(weights=w, minlength=4)»",
            "return torch.zeros(4, dtype=w.dtype, device=x.device).scatter_add(0, x, w)",
        ),
    ],
    "copy_to_clone": [
        ("import copy\nreturn «copy.deepcopy(x)»", "import copy\nreturn x.clone()"),
        ("import copy\nreturn «copy.deepcopy(x + 1)»", "import copy\nreturn (x + 1).clone()"),
        ("from copy import copy\nreturn «copy(x)»", "from copy import copy\nreturn x.view_as(x)"),
    ],
    "data_to_detach": [
        ("y = x * 2\n«y.data» = x + 1\nreturn y", "y = x * 2\ny = x + 1\nreturn y"),
        ("h = torch.relu(x)\nreturn «h.data» + 1", "h = torch.relu(x)\nreturn h.detach() + 1"),
    ],
    "tensor_of_tensor": [
        ("h = torch.relu(x)\nreturn «torch.tensor(h)»", "h = torch.relu(x)\nreturn h.detach().clone()"),
        (
            "return torch.tensor([«x.mean()», x.std()], dtype=torch.float32)",
            "return torch.stack([x.mean(), x.std()]).detach().to(dtype=torch.float32)",
        ),
    ],
    "remove_call": [
        ("# cut\n«torch._dynamo.graph_break()»\nreturn x", "return x"),
        ("if x is None:\n    «x.requires_grad_()»\nreturn x", "if x is None:\n    pass\nreturn x"),
    ],
    "random_to_torch": [
        (
            "import random\nreturn x * «random.uniform(0, 1)»",
            "import random\nreturn x * (0 + (1 - 0) * torch.rand(()))",
        ),
        (
            "import numpy as np\nreturn x * «np.random.rand()»",
            "import numpy as np\nreturn x * torch.rand(())",
        ),
        (
            "import random\norder = [0, 1]\n«random.shuffle(order)»  # mix\nreturn x[order]",
            "import random\norder = [0, 1]\norder = torch.tensor(order)[torch.randperm(len(order))]  # mix\n"
            "return x[order]",
        ),
        (
            "import random\nif «random.random() < 0.5»:\n    pass",
            "import random\nif torch.rand(()) < 0.5:\n    pass",
        ),
    ],
    "numpy_to_torch": [
        (
            "import numpy as np\nreturn x / float(«np.linalg.norm(x.detach().cpu().numpy(), axis=1)».max())",
            "import numpy as np\nreturn x / float(torch.linalg.norm(x.detach(), dim=1).max())",
        ),
        (
            "import numpy as np\nreturn torch.from_numpy(«np.clip(x.numpy(), 0, np.pi)»)",
            "import numpy as np\nreturn torch.clip(x.detach(), 0, torch.pi)",
        ),
    ],
    "guard_clock": [
        (
            "import time\nstart = «time.time()»\nx = x + 1\nself.took = time.time() - start  # seconds\nreturn x",
            f"import time\n{GUARD}start = time.time()\nx = x + 1\n{GUARD}self.took = time.time() - start  # seconds\n"
            "return x",
        ),
    ],
    "progress_away": [
        (
            "from tqdm import tqdm\nfor i in «tqdm(xs, 'rounds')»:\n    x = x + i",
            "from tqdm import tqdm\nfor i in xs:\n    x = x + i",
        ),
        (
            "import tqdm\nfor i in «tqdm.trange(3)»:\n    x = x + i",
            "import tqdm\nfor i in range(3):\n    x = x + i",
        ),
    ],
    "leave_context": [
        (
            "# one at a time\nwith «lock»:\n    y = x + 1  # more\n    # last\nreturn y",
            "# one at a time\ny = x + 1  # more\n# last\nreturn y",
        ),
        ("with a, «torch.device('cpu')», b:\n    y = x", "with a, b:\n    y = x"),
        ("with a, «lock»:\n    y = x", "with a:\n    y = x"),
        ("with «lock»: y = x  # so", "y = x  # so"),
    ],
    "sparse_to_index_add": [
        (
            "a = «torch.sparse_coo_tensor(at, w, (n, n))»\n# product\nreturn torch.sparse.mm(a, f(x)).relu()",
            "# product\ndense = f(x)\nreturn dense.new_zeros(n, dense.shape[1])"
            ".index_add(0, at[0], dense[at[1]] * w[:, None]).relu()",
        ),
        (
            "y = «torch.sparse_coo_tensor(at, w * 2, size) @ x»",
            "dense = x\ny = dense.new_zeros(size[0], dense.shape[1])"
            ".index_add(0, at[0], dense[at[1]] * (w * 2)[:, None])",
        ),
    ],
    "try_to_test": [
        (
            "try:\n    h = «x + skip»  # all\nexcept RuntimeError:\n    h = x + skip.mean()\nreturn h",
            "if all(a == b or 1 in (a, b) for a, b in zip(x.shape[::-1], skip.shape[::-1])):\n"
            "    h = x + skip  # all\nelse:\n    h = x + skip.mean()\nreturn h",
        ),
    ],
}
WHOLE = {
    "guard_message": [
        (
            '"""Doc."""\nfrom __future__ import annotations\n\nx = 1\n\n\ndef fn(x):\n    «print(x)»\n',
            '"""Doc."""\nfrom __future__ import annotations\n\nimport torch\n\nx = 1\n\n\ndef fn(x):\n'
            "    if not torch.compiler.is_compiling():\n        print(x)\n",
        ),
        (
            "import torch as th\n\n\nasync def fn(x):\n    «print(x)»",
            "import torch as th\n\n\nasync def fn(x):\n    if not th.compiler.is_compiling():\n        print(x)",
        ),
        (
            "import logging\n\nlogger = logging.getLogger(__name__)\n\n\nclass A:\n  class B:\n    @staticmethod\n"
            "    def f(x: 'T') -> int:\n      «logger.info('%s', x)»\n      return 1\n",
            "import logging\nimport torch\n\nlogger = logging.getLogger(__name__)\n\n\nclass A:\n  class B:\n"
            "    @staticmethod\n    def f(x: 'T') -> int:\n      if not torch.compiler.is_compiling():\n"
            "        logger.info('%s', x)\n      return 1\n",
        ),
    ],
    "generator_to_list": [
        (
            'class Model(Module):\n    def «forward»(self, x) -> Iterator[Tensor]:\n        """Say."""\n'
            "        for block in self.blocks:\n            x = block(x)\n            yield x  # each\n"
            "            if x is None:\n                return\n        yield from self.rest(x)\n",
            'class Model(Module):\n    def forward(self, x) -> list[Tensor]:\n        """Say."""\n'
            "        results = []\n        for block in self.blocks:\n            x = block(x)\n"
            "            results.append(x)  # each\n            if x is None:\n                return results\n"
            "        results.extend(self.rest(x))\n        return results\n",
        ),
    ],
    "constant_to_module": [
        (
            "import zlib\n\n\n# lead\ndef fn(x):\n    return x * (len(«zlib.compress(b'a')») % 7)\n",
            "import zlib\n\n\n_COMPRESS = len(zlib.compress(b'a'))\n\n\n# lead\ndef fn(x):\n"
            "    return x * (_COMPRESS % 7)\n",
        ),
    ],
    "constant_to_init": [
        (
            method("on = «os.path.exists('a')»\nreturn x if on else -x").replace(
                "import torch", "import os\nimport torch"
            ),
            method("on = self.on\nreturn x if on else -x")
            .replace("import torch", "import os\nimport torch")
            .replace("(8, 8)\n", "(8, 8)\n        self.on = os.path.exists('a')\n"),
        ),
        (
            "import os\nimport torch\n\n\nclass Model(torch.nn.Module):\n    def forward(self, x):\n"
            "        return x * float(«os.path.getsize('/')»)\n",
            "import os\nimport torch\n\n\nclass Model(torch.nn.Module):\n    def __init__(self):\n"
            "        super().__init__()\n        self.getsize = float(os.path.getsize('/'))\n\n"
            "    def forward(self, x):\n        return x * self.getsize\n",
        ),
    ],
    "counter_to_buffer": [
        (
            method("«self.steps» += 1\nreturn x / self.steps").replace(
                "(8, 8)\n", "(8, 8)\n        self.steps = 0  # so far\n"
            ),
            method("self.steps = self.steps + 1\nreturn x / self.steps").replace(
                "(8, 8)\n",
                '(8, 8)\n        self.register_buffer("steps", torch.tensor(0), persistent=False)  # so far\n',
            ),
        ),
    ],
    "unscript": [
        (
            method("return «self.net»(x)").replace(
                "(8, 8)\n", "(8, 8)\n        self.net = torch.jit.script(Net(8))  # fast\n"
            ),
            method("return self.net(x)").replace("(8, 8)\n", "(8, 8)\n        self.net = Net(8)  # fast\n"),
        ),
    ],
    "cache_to_value": [
        (
            method(
                "n = x.shape[1]\nif n not in «self.kept»:\n    self.kept[n] = torch.arange(n)  # once\n"
                "return x + self.kept[n]"
            ),
            method("n = x.shape[1]\nkept = torch.arange(n)  # once\nreturn x + kept"),
        ),
    ],
    "class_to_module": [
        (
            "import torch\n\n\ndef fn(x):\n    «class Settings:\n        # how much\n        scale = 2»\n\n"
            "    return x * Settings.scale\n",
            "import torch\n\n\nclass Settings:\n    # how much\n    scale = 2\n\n\ndef fn(x):\n\n"
            "    return x * Settings.scale\n",
        ),
    ],
    "enter_disabled": [
        (
            "import torch\n\n\n@torch.compiler.disable\ndef norm(x):\n    return x\n\n\ndef fn(x):\n    return «norm(x)»\n",
            "import torch\n\n\ndef norm(x):\n    return x\n\n\ndef fn(x):\n    return norm(x)\n",
        ),
    ],
    "disabled_to_nonstrict": [
        (
            "import torch\n\n\n@torch.compiler.disable(recursive=False)  # slow\ndef norm(x):\n    return x\n\n\n"
            "def fn(x):\n    return «norm(x)»\n",
            "import torch\n\n\n@torch._dynamo.nonstrict_trace  # slow\ndef norm(x):\n    return x\n\n\n"
            "def fn(x):\n    return norm(x)\n",
        ),
    ],
    "remove_override": [
        (
            "class Double(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n\n    @staticmethod\n"
            "    def jvp(ctx, t):\n        return t\n\n\ndef fn(x):\n    return «Double.apply(x)»\n",
            "class Double(Function):\n    @staticmethod\n    def forward(ctx, x):\n        return x\n\n\n"
            "def fn(x):\n    return Double.apply(x)\n",
        ),
    ],
    "fake_like_input": [
        (
            "import torch\n\n\n@torch.library.custom_op('a::shift', mutates_args=())\n"
            "def shift(x: torch.Tensor, by: int) -> torch.Tensor:\n    return x + by\n\n\ndef fn(x):\n"
            "    return «shift(x, 1)»\n",
            "import torch\n\n\n@torch.library.custom_op('a::shift', mutates_args=())\n"
            "def shift(x: torch.Tensor, by: int) -> torch.Tensor:\n    return x + by\n\n\n@shift.register_fake\n"
            "def _(x, by):\n    return torch.empty_like(x)\n\n\ndef fn(x):\n    return shift(x, 1)\n",
        ),
    ],
}
CHANGES = [
    *((name, body(old), new and body(new)) for name, pairs in LINES.items() for old, new in pairs),
    *((name, old, new) for name, pairs in WHOLE.items() for old, new in pairs),
]
LOOK_ALIKES = {
    "guard_message": [
        "y = «print(x)»",
        "«print(x, file=log)»",
        "«print(y := x)»",
        "«print(next_state())»",
        "«logger.info(x)»",
        "print = x.add_\n«print(x)»",
        "if not torch.compiler.is_compiling():\n    «print(x)»",
        "«print(x.add_(1))»",
    ],
    "guard_call": ["y = «seen.pop()»", "return «f(x)»"],
    "guard_count": ["counts[0] += 1\nreturn x * «counts[0]»", "«n» += 1\nreturn x"],
    "keep_scalar_tensor": [
        "n = «x.sum().item()»\nreturn torch.zeros(n)",
        "for i in range(«x.max().item()»):\n    pass",
        "return f'{«x.max().item()»}'",
        "return «x.max().item()»",
        "return y[«x.max().item()»]",
        "while «x.max().item()» > 1:\n    x = x / 2",
        "return «float('nan')» if False else x",
        "return «x.item(0)» + x",
    ],
    "list_to_tensor": [
        "return torch.split(x, «s.tolist()»)",
        "return «s.tolist()»",
        "n = «s.tolist()»\nreturn len(n)",
    ],
    "where": [
        "if «x.sum() > 0»:\n    x[0] = 1\nreturn x",
        "if «x.sum() > 0»:\n    x = x + torch.rand_like(x)\nreturn x",
        "if «x.sum() > 0»:\n    y = x\nreturn y",
        "if «x.sum() > 0»:\n    seen.append(x)\nreturn x",
        "if «x.sum() > 0»:\n    return None\nreturn x",
        "if «len(x) > 0»:\n    x = x + 1\nreturn x",
        "if «x is None»:\n    x = y\nreturn x",
        "while «x.sum() > 0»:\n    x = x - 1\nreturn x",
        "if «x.any()»:\n    return x\nx = x + 1",
        "y = 'a' if «x.any()» else 'b'",
        "if «x.any()»:\n    x = x.add_(1)\nreturn x",
        "if self.training or «x.any()»:\n    x = x + 1\nreturn x",
    ],
    "cond": [
        "if «x.any()»:\n    return x\nelse:\n    return -x",
        "if «x.any()»:\n    self.n = x\nreturn x",
        "if «x.any()»:\n    print(x)\nreturn x",
    ],
    "carry_done": [
        "for i in xs:\n    if «x.any()»:\n        break\n    x = x + i\nelse:\n    x = 0\nreturn x",
        "for i in xs:\n    if «x.any()»:\n        break\nreturn i",
        "for i in xs:\n    if «x.any()»:\n        break\n    seen.append(x)\nreturn x",
        "for i in xs:\n    if «x.any()»:\n        break\n    y = x + i\nreturn y",
    ],
    "assert_async": [
        "assert «len(x) > 1»",
        "if «x.any()»:\n    raise E\nelse:\n    x = x + 1",
        "assert «x is not None»",
    ],
    "logical": ["if not «x.any()»:\n    pass", "return not «x is None»"],
    "mask_where": [
        "picked = «x[ok]»\nreturn picked",
        "y = «x[0]»\nx[0] = y",
        "p = «x[ok]»\nout[ok] = f(p)\nreturn out, p",
    ],
    "mask_reduce": [
        "return «x[ok]».std()",
        "return «x[ok]».sum(0)",
        "return «x[ok]»",
        "return «x[1, 2]».sum()",
    ],
    "bincount_to_scatter": ["return «torch.bincount(x)»", "return «torch.bincount(x, w())»"],
    "copy_to_clone": ["return «x.copy()»", "import copy\nreturn «copy.deepcopy(x, memo)»"],
    "data_to_detach": ["return «batch.data»", "return «x + 1»"],
    "tensor_of_tensor": [
        "return «torch.tensor([1, 2])»",
        "return «torch.tensor(3)»",
        "return «torch.stack([x])»",
    ],
    "remove_call": ["y = «f(x)»", "return «f(x)»"],
    "random_to_torch": ["import random\nreturn «random.choice(x)»", "return «random.random()»"],
    "numpy_to_torch": ["import numpy as np\nreturn «np.interp(x.numpy(), a, b)»", "return «x + 1»"],
    "guard_clock": [
        "import time\nreturn x * «time.time()»",
        "import time\nstart = «time.time()»\nreturn x * start",
        "return «x + 1»",
    ],
    "progress_away": ["from tqdm import tqdm\nbar = «tqdm(xs)»", "for i in «f(xs)»:\n    pass"],
    "leave_context": [
        "with «open('a')» as f:\n    y = f.read()",
        "with lock:\n    y = «x + 1»",
        "return «x»",
    ],
    "unscript": ["return «self.net»(x)"],
    "sparse_to_index_add": [
        "a = «torch.sparse_coo_tensor(at, w, (n, n))»\nreturn a.to_dense() + torch.sparse.mm(a, x)",
        "return «torch.sparse_coo_tensor(at, w, (n, n))»",
        "return «torch.sparse_coo_tensor(at, w)» @ x",
    ],
    "try_to_test": [
        "try:\n    h = «x + y»\nexcept KeyError:\n    h = x",
        "try:\n    h = «x + y»\nexcept RuntimeError as error:\n    h = str(error)",
        "try:\n    h = «f(x) + y»\nexcept RuntimeError:\n    h = x",
        "h = «x + y»",
    ],
    "generator_to_list": ["y = «yield» x\nreturn y", "return «x»", "yield «x»\nreturn 1"],
    "constant_to_module": [
        "return x * «f(x)»",
        "import time\nreturn x * «time.time()»",
        "return «missing(1)»",
    ],
    "constant_to_init": ["return x * «f(1)»"],
    "counter_to_buffer": ["«x» += 1\nreturn x"],
    "cache_to_value": ["if x not in «kept»:\n    kept[y] = 1\nreturn kept[x]"],
    "class_to_module": ["«class A:\n    scale = x»\nreturn A"],
    "enter_disabled": ["return «norm(x)»"],
    "disabled_to_nonstrict": ["return «norm(x)»"],
    "remove_override": ["return «Double.apply(x)»"],
    "fake_like_input": ["return «shift(x)»"],
}


@pytest.mark.parametrize(
    ("name", "old", "new"), CHANGES, ids=[f"{n}-{i}" for i, (n, *_) in enumerate(CHANGES)]
)
def test_the_new_text_is_just_this(name, old, new):
    assert change(name, old) == new


@pytest.mark.parametrize("name", NAMES)
def test_look_alikes_are_left_alone(name):
    for source in LOOK_ALIKES[name]:
        assert change(name, body(source)) is None, source


def test_each_rewrite_has_texts_of_its_own():
    assert {*LINES, *WHOLE} == {*NAMES} == {*LOOK_ALIKES}


def test_each_rewrite_is_named_by_a_rule_and_says_when_it_holds():
    assert {name for rule in all_rules() for name in rule.fixes} == {*NAMES}
    for name in NAMES:
        fix = rewrites.by_name(name)
        assert fix.title
        assert bool(fix.condition) == (fix.applicability == "review")


def test_only_messages_are_safe_to_change_unseen():
    assert [name for name in NAMES if rewrites.by_name(name).applicability == "safe"] == ["guard_message"]


STATEMENTS = [(name, old) for name, old, new in CHANGES if new]


@pytest.mark.parametrize(("name", "old"), STATEMENTS)
def test_a_second_time_changes_nothing(name, old):
    marked = old[old.index("«") + 1 : old.index("»")]
    new = change(name, old)
    if new.count(marked) == 1:
        at = new.index(marked)
        again = rewrites.rewrite(
            new, rewrites.by_name(name), position(new, at), position(new, at + len(marked))
        )
        assert again is None


@pytest.mark.parametrize(("name", "old"), STATEMENTS)
def test_ends_of_lines_tabs_and_the_byte_order_mark_stay(name, old):
    new = change(name, old)
    assert change(name, old.replace("\n", "\r\n")) == new.replace("\n", "\r\n")
    assert change(name, "\ufeff" + old) == "\ufeff" + new
    if not re.search(r"'''|^ +\S.*\n( {2}| {6})\S", old, re.M) and "(\n" not in old:
        tabbed = re.sub(r"^( {4})+", lambda match: "\t" * (len(match[0]) // 4), old, flags=re.M)
        assert change(name, tabbed) == re.sub(
            r"^( {4})+", lambda match: "\t" * (len(match[0]) // 4), new, flags=re.M
        )


@pytest.mark.parametrize(("name", "old"), STATEMENTS)
def test_nothing_around_it_differs(name, old):
    if rewrites.by_name(name).extent == "module":
        pytest.skip("it may change all of the module")
    before = "import  torch # odd\nA=[1,\n  2]; B = '''é\n x'''\n"
    after = "\n\nclass Z :\n\n    y=1   ;z = 2\t# end\n"
    text = old.removeprefix("import torch\n")
    new = change(name, before + text + after)
    assert new.startswith(before)
    assert new.endswith(after)


def test_a_file_that_does_not_parse_gives_nothing():
    assert change("guard_message", "def f(:\n    «print(x)»\n") is None
    assert change("guard_message", "def f():\n    «print(x)»\n\0") is None
    assert change("guard_message", "x = (\n" * 500 + "«print(x)»") is None
    assert change("guard_message", "«print(1)»\n") is None
    fix = rewrites.by_name("where")
    assert rewrites.rewrite("", fix, (1, 1), (1, 1)) is None
    assert rewrites.rewrite("x = 1\n", fix, (9, 1), (9, 4)) is None


SOURCES = [place(old)[0] for _, old, _ in CHANGES] + [path.read_text() for path in sorted(CASES.glob("*.py"))]


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_whatever_the_source_and_the_place_the_result_parses(data):
    text = data.draw(st.sampled_from(SOURCES))
    cut = data.draw(st.tuples(st.integers(0, len(text)), st.integers(0, 30)))
    odd = data.draw(
        st.sampled_from(["", "", "é", "\\\n", ";", "\t", "\f", "(", "#", "\r", "\u2028", "lambda: ", "not "])
    )
    if odd:
        text = text[: cut[0]] + odd + text[cut[0] + cut[1] :]
    nodes = places(text)
    if nodes and data.draw(st.booleans()):
        start, end = data.draw(st.sampled_from(nodes))
    else:
        positions = st.tuples(st.integers(0, text.count("\n") + 2), st.integers(0, 60))
        start, end = sorted((data.draw(positions), data.draw(positions)))
    name = data.draw(st.sampled_from(NAMES))
    new = rewrites.rewrite(text, rewrites.by_name(name), start, end)
    if new is not None:
        assert new != text
        ast.parse(new.removeprefix("\ufeff"))


def places(text):
    """The ranges of all expressions and statements of a source that parses."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    lines = text.splitlines()
    return [
        ((node.lineno, node.col_offset + 1), (node.end_lineno, node.end_col_offset + 1))
        for node in ast.walk(tree)
        if hasattr(node, "lineno") and node.end_lineno <= len(lines)
    ]
