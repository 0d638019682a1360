"""Code tasks of lesson 02: an honest stopwatch, an honest summary, an honest ratio, and a liar caught."""

from __future__ import annotations

from course.exercise import Exercise
from course.i18n import both
from course.lessons.l02_timing.checks import (
    check_lose,
    check_median_interval,
    check_paired_ratio,
    check_stopwatch,
    smoke_interval,
    smoke_report,
    smoke_verdict,
)

LESSON = "02_timing"

EXERCISES = [
    Exercise(
        id="02-stopwatch", lesson=LESSON, name="stopwatch_ms", minutes=5, check=check_stopwatch,
        title=both("Repair the stopwatch", "修好这只秒表"),
        hints=(both("Two fences are missing. One keeps the past out, one waits for the present.",
                    "少了两道栅栏：一道挡住过去，一道等待现在。"),
               both("The order is: fence, clock, run, fence, clock.", "顺序是：栅栏、读表、运行、栅栏、读表。"),
               both("Call `synchronize()` before `start = clock()` and again after `run()`.",
                    "在 `start = clock()` 之前调用 `synchronize()`，在 `run()` 之后再调用一次。")),
        solution=("def stopwatch_ms(run, synchronize, clock):\n    synchronize()\n    start = clock()\n  "
                  "  run()\n"
                  "    synchronize()\n    return (clock() - start) * 1e3"),
        why=both("The first fence empties the queue, the second waits for the work. On a CPU pass a "
                 "function that does "
                 "nothing.", "第一道栅栏清空队列，第二道等任务完成。在 CPU 上传入一个什么都不做的函数即可。")),
    Exercise(
        id="02-median-interval", lesson=LESSON, name="median_interval", minutes=6,
        check=check_median_interval,
        title=both("A median that says how sure it is", "会说明把握有多大的中位数"),
        hints=(both("Sort first. Both ends come straight out of the sorted list.", "先排序。两端的值直接从排好的列表里取。"),
               both("`k = cut(len(samples))` readings go at each end.", "两端各去掉 `k = cut(len(samples))` 个。"),
               both("low is `ordered[k]`, high is `ordered[-1 - k]`, the middle is `median(ordered)`.",
                    "low 是 `ordered[k]`，high 是 `ordered[-1 - k]`，中间是 `median(ordered)`。")),
        solution=("def median_interval(samples):\n    ordered = sorted(samples)\n    k = cut(len(ordered))\n"
                  "    return median(ordered), ordered[k], ordered[-1 - k]"),
        why=both("No bell curve is assumed: each reading is above or below the true median with equal "
                 "chance.",
                 "不需要正态假设：每个读数落在真实中位数两侧的机会相等。")),
    Exercise(
        id="02-paired-ratio", lesson=LESSON, name="paired_ratio", minutes=4, check=check_paired_ratio,
        title=both("Divide before you summarise", "先相除，再汇总"),
        hints=(both("What did the two readings of one pair share?", "同一对里的两个读数有什么共同点？"),
               both("Divide pair by pair first; `zip` walks through both lists together.",
                    "先逐对相除；`zip` 可以同时遍历两个列表。"),
               both("The median of `[c / b for b, c in zip(...)]`.",
                    "对 `[c / b for b, c in zip(...)]` 取中位数。")),
        solution=("def paired_ratio(baseline_ms, candidate_ms):\n"
                  "    return median([c / b for b, c in zip(baseline_ms, candidate_ms)])"),
        why=both("What slows both readings of a pair cancels in their ratio. What hits one of them is an "
                 "outlier, and "
                 "the median ignores it.", "同时拖慢一对读数的因素在比值里抵消；只打到其中一个的是离群值，中位数不理会。")),
    Exercise(
        id="02-lose", lesson=LESSON, name="evidence", minutes=8, check=check_lose,
        title=both("Make the naive stopwatch name the wrong winner", "让朴素秒表选错赢家"),
        hints=(both("The naive stopwatch counts first calls. Whose first call is dear?",
                    "朴素秒表把第一次调用也算进去。谁的第一次调用昂贵？"),
               both("Let the baseline be warm already, and give the candidate less work but a new shape.",
                    "让基准先热好；让候选工作量更小，但形状是新的。"),
               both("Run `slow` a few times before the naive clock starts; let `fast` be a somewhat "
                    "smaller size that has "
                    "not run yet. Any other dear preparation will do as well.",
                    "在朴素秒表启动之前先把 `slow` 跑几次；`fast` 用一个稍小、还没跑过的尺寸。其他昂贵的准备工作也行。")),
        solution=("slow, fast = conv_on(21), conv_on(17)\nfor _ in range(5):\n    slow()\n"
                  "naive = naive_ms(fast) / naive_ms(slow)\n"
                  'fair = compare({"slow": slow, "fast": fast}, baseline="slow", max_time=2)\n'
                  'evidence = {"naive_ratio": naive, "comparison": fair}'),
        why=both("The faster function pays for its preparation inside the naive reading; the slower one "
                 "paid before.",
                 "真正更快的函数在朴素读数里支付了准备费用，较慢的那个早已付过。")),
    Exercise(id="02-t-interval", lesson=LESSON, name="interval_of_median", check=smoke_interval,
             title=both("The interval of a median", "中位数的区间")),
    Exercise(id="02-t-verdict", lesson=LESSON, name="honest_verdict", check=smoke_verdict,
             title=both("An honest verdict", "诚实的结论")),
    Exercise(id="02-t-report", lesson=LESSON, name="report", check=smoke_report,
             title=both("Report your measurement", "报告你的测量")),
]
