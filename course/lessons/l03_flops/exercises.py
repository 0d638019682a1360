"""Code tasks of lesson 03: count a convolution, bound a layer's time, and let fewer MACs lose."""

from __future__ import annotations

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l03_flops.checks import (
    check_conv_macs,
    check_least_ms,
    check_lose,
    smoke_layer,
    smoke_step,
)

LESSON = "03_flops"

EXERCISES = [
    Exercise(
        id="03-conv-macs", lesson=LESSON, name="conv_macs", minutes=4, check=check_conv_macs,
        title=both("Count a convolution by hand", "手算一个卷积"),
        hints=(both("How many numbers come out? How many products are summed into each?",
                    "一共输出多少个数？每个数由多少个乘积累加而成？"),
               both("Out come `n * height * width * c_out` numbers, batch included.",
                    "输出 `n * height * width * c_out` 个数，batch 也算在内。"),
               both("Each sums over `c_in // groups` channels and `kernel * kernel` taps.",
                    "每个数对 `c_in // groups` 个通道、`kernel * kernel` 个点求和。")),
        solution=("def conv_macs(n, c_in, c_out, kernel, height, width, groups=1):\n"
                  "    outputs = n * height * width * c_out\n"
                  "    products = c_in // groups * kernel * kernel\n"
                  "    return outputs * products"),
        why=both("Padding and dilation appear nowhere: they only move the taps and act through the "
                 "output size.",
                 "公式里没有 padding 和 dilation：它们只移动卷积点的位置，只通过输出大小起作用。")),
    Exercise(
        id="03-least-ms", lesson=LESSON, name="least_ms", minutes=5, check=check_least_ms,
        title=both("The least time a layer can take", "一层最短要多久"),
        hints=(both("Two workers start together: one multiplies, one carries. When are both done?",
                    "两个工人同时开工：一个做乘法，一个搬数据。什么时候两人都完工？"),
               both("Arithmetic: 2 x MACs over operations per second. Memory: bytes over bytes per second.",
                    "计算：2 x MACs 除以每秒运算次数。内存：字节数除以每秒字节数。"),
               both("`max` of the two, times 1e3 for milliseconds; a G is 1e9.",
                    "取两者的 `max`，乘 1e3 换成毫秒；G 是 1e9。")),
        solution=("def least_ms(macs, bytes_moved, peak_gflop_per_s, bandwidth_gb_per_s):\n"
                  "    compute_s = 2 * macs / (peak_gflop_per_s * 1e9)\n"
                  "    memory_s = bytes_moved / (bandwidth_gb_per_s * 1e9)\n"
                  "    return max(compute_s, memory_s) * 1e3"),
        why=both("This is the roofline, read as a time: whichever takes longer sets the pace. Real "
                 "layers take longer still.", "这就是换成时间来读的 roofline：谁更久谁说了算。真实的层只会更慢。")),
    Exercise(
        id="03-lose", lesson=LESSON, name="evidence", minutes=8, check=check_lose,
        title=both("Make fewer MACs lose", "让 MACs 更少的一方输掉"),
        hints=(both("Products are cheap when each number is used often. When is it used only once?",
                    "每个数被反复使用时，乘法很便宜。什么时候每个数只用一次？"),
               both("One row times a large matrix uses each of its numbers once. Or try grouped "
                    "convolutions.",
                    "一行乘以一个大矩阵，矩阵里的每个数只用一次。也可以试试分组卷积。"),
               both("`(1, 4096) @ (4096, 4096)` has fewer MACs than a square product of 280.",
                    "`(1, 4096) @ (4096, 4096)` 的 MACs 比 280 阶方阵相乘还少。")),
        solution=("square, row = torch.randn(280, 280), torch.randn(1, 4096)\n"
                  "large = torch.randn(4096, 4096)\n"
                  "more, fewer = (lambda: square @ square), (lambda: row @ large)\n"
                  'fair = compare({"more": more, "fewer": fewer}, baseline="more", max_time=2)\n'
                  'evidence = {"more_macs": count(lambda a: a @ a, square).macs,\n'
                  '            "fewer_macs": count(lambda a, b: a @ b, row, large).macs,\n'
                  '            "comparison": fair}'),
        why=both("The large matrix is carried for one row alone: two FLOPs for four bytes. Each number of "
                 "the square is used 280 times.", "大矩阵只为一行服务：搬四个字节才做两次运算。方阵里的每个数则要用 280 次。")),
    Exercise(id="03-t-layer", lesson=LESSON, name="layer_macs", check=smoke_layer,
             title=both("MACs of a layer from its settings", "由参数算出一层的 MACs")),
    Exercise(id="03-t-step", lesson=LESSON, name="step_macs", check=smoke_step,
             title=both("MACs of a training step", "一个训练步的 MACs")),
]
