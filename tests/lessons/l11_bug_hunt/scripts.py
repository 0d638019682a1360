"""Repairs of every case that are right in another way, and repairs that are wrong: changes of the script, and what they get."""

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
    "flags-trap": [
        [
            (
                "switches = torch.backends.mkldnn.flags(deterministic=True)",
                "switches = torch.backends.mkldnn.flags(True, True)",
            )
        ]
    ],
    "too-late": [
        [('os.environ["OMP_NUM_THREADS"] = "1"', 'torch.set_num_threads(1); os.environ["OMP_NUM_THREADS"] = "1"')]
    ],
    "graph": [
        [(LOSS, "losses.append(loss.detach())")],
        [
            ("    for _", "    torch.set_grad_enabled(False)\n    for _"),
            ("    return", "    torch.set_grad_enabled(True)\n    return"),
        ],
    ],
    "timer": [
        [
            ("    net(photos)                       # warm-up", "    net(photos).sum().item()"),
            ("\nms =", "\nnet.weight.sum().item()\nms ="),
        ],
        [("time.perf_counter()", "(torch.cuda.synchronize() or time.perf_counter())")],
    ],
    "flipped": [[("train(1)  ", "pass  ")]],
}

WRONG: dict[str, list[tuple[list[tuple[str, str]], str]]] = {
    "typo": [
        ([("torch.backends.mkldnn.enable = False", "torch.backends.mkldnn.enabled = False")], ""),
        (
            [
                ("torch.backends.mkldnn.enable = False", "torch.backends.mkldnn.is_enabled = False"),
                ("torch.backends.mkldnn.enable = True", "torch.backends.mkldnn.is_enabled = True"),
            ],
            "",
        ),
        ([("torch.backends.mkldnn.enable = False", "torch.backends.mkldnn.is_enabled = False")], "stays"),
        (
            [
                ("torch.backends.mkldnn.enable = False", "torch.backends.mkldnn.enabled = False"),
                ("    slow = net(photos)", "    slow = fast + 1e-6"),
            ],
            "stays",
        ),
        ([("    slow = net", "    slow net")], "failed"),
    ],
    "flags-trap": [
        ([("deterministic=True", "enabled=True")], ""),
        ([("torch.no_grad(), switches", "torch.no_grad()")], ""),
        ([("with torch.no_grad(), switches:", "torch.backends.mkldnn.enabled = True\n    with switches:")], "stays"),
    ],
    "timer": [
        ([("\nms =", "\ntorch.cuda.synchronize()\nms =")], ""),
        ([("time.perf_counter()", "time.time()")], ""),
        ([("/ 100", "/ 1")], "stays"),
    ],
    "flipped": [
        ([("train(100)", "net = nn.Conv2d(3, 8, 3).cuda()\ntrain(100)")], ""),
        ([("train(100)", "torch.backends.cudnn.deterministic = True\ntrain(100)")], ""),
        ([("train(100)", "photos = torch.ones(4, 3, 40, 40).cuda()\ntrain(100)")], "stays"),
    ],
    "too-late": [
        ([('os.environ["OMP_NUM_THREADS"] = "1"', 'os.environ["OMP_NUM_THREADS"] = "01"')], ""),
        ([('os.environ["OMP_NUM_THREADS"] = "1" ', "torch.set_num_interop_threads(1)")], ""),
    ],
    "graph": [
        ([("losses.append(loss)", "losses.append(loss * 1)")], ""),
        ([("losses.append(loss)", "losses.append(0.0 * loss.item())")], ""),
    ],
}
"""Each with the state of its trial; "" for any that is refused."""
