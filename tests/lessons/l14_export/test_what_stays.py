"""What lesson 14 says of an exported program: which settings stand in it, and what an autocast block around it does."""

from __future__ import annotations

import pytest
import torch
from torch import nn


class Product(nn.Module):
    def forward(self, a, b, c):
        return torch.einsum("ij,jk,kl->il", a, b, c)


class AsksForItsType(nn.Module):
    def forward(self, x):
        y = x @ x
        return y * 2 if y.dtype == torch.float32 else y * 100


def test_the_order_that_opt_einsum_found_stands_in_the_program():
    pytest.importorskip("opt_einsum")
    inputs = (torch.randn(8, 2), torch.randn(2, 64), torch.randn(64, 3))
    found = []
    before = torch.backends.opt_einsum.enabled
    try:
        for on in (True, False):
            torch.backends.opt_einsum.enabled = on
            found.append(str(torch.export.export(Product(), inputs).graph))
    finally:
        torch.backends.opt_einsum.enabled = before
    assert "path" in found[0] and found[0] != found[1]


def test_autocast_around_an_export_moves_what_asks_for_a_type():
    x = torch.ones(3, 3)
    outside = torch.export.export(AsksForItsType(), (x,)).module()(x)
    with torch.autocast("cpu", torch.bfloat16):
        inside = torch.export.export(AsksForItsType(), (x,)).module()
    assert outside[0, 0] == 6 and inside(x)[0, 0] == 300
