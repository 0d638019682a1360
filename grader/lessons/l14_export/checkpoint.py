# %% [markdown] en
# # 🎯 Checkpoint 14: is it still the same model?
#
# {{worth}} About 25 minutes. Cards say nothing about right or wrong here; answer as often as you like, the last answer
# counts. A task says what to hand in; its `check` looks at the form only. Neither a GPU nor onnxruntime is needed.
# **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 🎯 测验 14：它还是同一个模型吗？
#
# {{worth}}约 25 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。每个任务写明了要交什么，`check` 只看形式。不需要 GPU，也不需要 onnxruntime。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 14-c-move
# %% question 14-c-scores
# %% question 14-c-noise
# %% question 14-c-wide
# %% question 14-c-travel
# %% question 14-c-trace
# %% task 14-t-differ
# en: Where do two lists of results begin to differ? Give back the place (0 is the first)
# en: of the first value of theirs that is further from ours than
# en: atol + rtol * |ours|, -1 where all agree, None where the lengths
# en: differ. A NaN agrees with nothing.
# zh: 两份结果从哪里开始不同？返回 theirs 里第一个离 ours 超过
# zh: atol + rtol * |ours| 的位置（从 0 数起）；全部一致返回 -1；
# zh: 长度不同返回 None。NaN 和什么都不一致。
def first_difference(ours: list[float], theirs: list[float],
                     rtol: float, atol: float) -> int | None:
    ### BEGIN SOLUTION
    if len(ours) != len(theirs):
        return None
    for place, (mine, other) in enumerate(zip(ours, theirs)):
        if not abs(other - mine) <= atol + rtol * abs(mine):
            return place
    return -1
    ### END SOLUTION
# %% task 14-t-accepts
# en: Which shapes does an exported program accept? example: the shape
# en: it was exported with. free: for each dimension None (fixed), or
# en: [name, least, most]: from least to most, both included.
# en: Dimensions of one name must be equal. requests: shapes to try.
# en: Give back True or False for each.
# en: For example ([2, 3, 9, 9], [["batch", 1, 8], None, ["side", 4, 64], ["side", 4, 64]])
# en: accepts [5, 3, 16, 16], but neither [5, 3, 16, 17] nor [9, 3, 16, 16].
# zh: 导出的程序收哪些形状？example：导出时示例的形状。
# zh: free：每一维要么是 None（固定），要么是 [名字, 最小, 最大]，
# zh: 两端都算在内。同名的维度必须相等。requests：要试的形状。
# zh: 对每一个返回 True 或 False。
# zh: 例如 ([2, 3, 9, 9], [["batch", 1, 8], None, ["side", 4, 64], ["side", 4, 64]])
# zh: 收 [5, 3, 16, 16]，不收 [5, 3, 16, 17]，也不收 [9, 3, 16, 16]。
def accepts(example: list[int], free: list, requests: list[list[int]]) -> list[bool]:
    ### BEGIN SOLUTION
    def fits(shape):
        if len(shape) != len(example):
            return False
        seen = {}
        for size, fixed, dimension in zip(shape, example, free):
            if dimension is None:
                if size != fixed:
                    return False
                continue
            name, least, most = dimension
            if not least <= size <= most or seen.setdefault(name, size) != size:
                return False
        return True

    return [fits(shape) for shape in requests]
    ### END SOLUTION
