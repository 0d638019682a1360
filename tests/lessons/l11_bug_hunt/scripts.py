"""Repairs of every case that are right in another way, and more repairs that are wrong: changes of the script, and what they get."""

from __future__ import annotations

ON, OFF = "torch.backends.mkldnn.enable = True ", "torch.backends.mkldnn.enable = False"
LOSS = "losses.append(loss)"

RIGHT: dict[str, list[list[tuple[str, str]]]] = {
    "typo": [
        [(OFF, "before = torch.backends.mkldnn.set_flags(False)"), (ON, "torch.backends.mkldnn.set_flags(True) ")],
        [
            (
                f"    {OFF}   # without oneDNN\n    slow = net(photos)\n    {ON}   # and with it again\n",
                "    with torch.backends.mkldnn.flags(enabled=False):\n        slow = net(photos)\n",
            )
        ],
    ],
    "query": [
        [
            (
                "torch.backends.mps.is_available = False   # no Apple GPU, please\n    if ",
                "pass\n    if wish != 'cpu' and ",
            )
        ]
    ],
    "flags-trap": [
        [
            (
                "switches = torch.backends.mkldnn.flags(deterministic=True)",
                "switches = torch.backends.mkldnn.flags(True, True)",
            )
        ]
    ],
    "two-apis": [[('torch.backends.fp32_precision = "tf32"', "torch.backends.cuda.matmul.allow_tf32 = True")]],
    "bool-false": [[("type=bool", "type=lambda word: word != 'False'")]],
    "too-late": [
        [('os.environ["OMP_NUM_THREADS"] = "1"', 'torch.set_num_threads(1); os.environ["OMP_NUM_THREADS"] = "1"')]
    ],
    "fallback": [
        [
            (
                "from torch import nn\nimport os\n",
                "import os\nos.putenv('x', 'y')\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '1'\nfrom torch import nn\n",
            )
        ]
    ],
    "spawn": [[('get_context("spawn")', 'get_context("fork")')]],
    "macs": [[("flops = out", "macs = out"), ('"ours: ", flops, "FLOPs"', '"ours: ", macs, "MACs"')]],
    "export": [[("photo = torch.ones(1, 8)", "photo = torch.ones(1, 8)\nnet.eval()")]],
    "graph": [
        [(LOSS, "losses.append(loss.detach())")],
        [
            ("    for _", "    torch.set_grad_enabled(False)\n    for _"),
            ("    return", "    torch.set_grad_enabled(True)\n    return"),
        ],
    ],
    "empty": [[("torch.empty(4)", "0")]],
    "seed": [[("net = nn.Linear", "torch.manual_seed(1)\n    net = nn.Linear")]],
    "leak": [
        [
            (
                "    torch.backends.mkldnn.enabled = False\n    answer = net(photo)\n    torch.backends.mkldnn.enabled = True\n",
                "    with torch.backends.mkldnn.flags(enabled=False):\n        answer = net(photo)\n",
            )
        ]
    ],
    "timer": [
        [
            ("    net(photos)                       # warm-up", "    net(photos).sum().item()"),
            ("\nms =", "\nnet.weight.sum().item()\nms ="),
        ],
        [("time.perf_counter()", "(torch.cuda.synchronize() or time.perf_counter())")],
    ],
    "flipped": [[("train(1)  ", "pass  ")]],
    "sizes": [[("random.randrange(20, 84)", "random.choice([32, 64])")]],
}

WRONG: dict[str, list[tuple[list[tuple[str, str]], str]]] = {
    "typo": [
        ([(OFF, "torch.backends.mkldnn.is_enabled = False")], "stays"),
        (
            [(OFF, "torch.backends.mkldnn.enabled = False"), ("    slow = net(photos)", "    slow = fast + 1e-6")],
            "stays",
        ),
        ([("    slow = net", "    slow net")], "failed"),
    ],
    "flags-trap": [
        ([("with torch.no_grad(), switches:", "torch.backends.mkldnn.enabled = True\n    with switches:")], "stays")
    ],
    "export": [([("round(program(photo)", "round(torch.manual_seed(0) and program(photo)")], "stays")],
    "timer": [([("/ 100", "/ 1")], "stays")],
    "flipped": [([("train(100)", "photos = torch.ones(4, 3, 40, 40).cuda()\ntrain(100)")], "stays")],
}
"""Beside the wrong ones that a case offers (``offers`` in cases.yaml)."""
