# %% [markdown] en
# # Checkpoint 11: from a symptom to the line, and back again
#
# {{worth}} About 25 minutes. Cards say nothing about right or wrong here; answer as often as you like, the
# last answer counts. Everything works without a GPU. **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 11：从症状找到那一行，再回头验证
#
# {{worth}}约 25 分钟。这里的卡片不显示对错；想改几次都行，以最后一次为准。全部内容都不需要 GPU。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 11-c-first
# %% question 11-c-trap
# %% question 11-c-exact
# %% question 11-c-done
# %% question 11-c-innocent
# %% task 11-t-verdict
# en: before, after: what was measured of a script as it came, and
# en: of the repaired one. Each is {"ratio": time / wanted time,
# en: "output": list of floats, "left": {switch: value} left changed}.
# en: Give back the first of these that is true:
# en: "output": the outputs differ in length, or anywhere by more than 1e-4
# en: "symptom": the ratio after is above the limit
# en: "left over": a switch stays changed after
# en: else "repaired".
# zh: before、after：原脚本和修好的脚本各自的测量结果，形式都是
# zh: {"ratio": 耗时 / 应有耗时, "output": 浮点数列表,
# zh:  "left": {没复原的开关: 值}}。
# zh: 按顺序返回第一个成立的：
# zh: "output"：两个输出长度不同，或者有一处相差超过 1e-4
# zh: "symptom"：after 的 ratio 高于 limit
# zh: "left over"：after 里有没复原的开关
# zh: 都不成立就返回 "repaired"。
def verdict(before: dict, after: dict, limit: float) -> str:
    ### BEGIN SOLUTION
    old, new = before["output"], after["output"]
    if len(old) != len(new) or any(abs(a - b) > 1e-4 for a, b in zip(old, new)):
        return "output"
    if after["ratio"] > limit:
        return "symptom"
    return "left over" if after["left"] else "repaired"
    ### END SOLUTION
# %% task 11-t-culprit
# en: runs: lists [repaired, symptom]. repaired: names of the suspects
# en: repaired in that run. symptom: whether it still showed.
# en: A run with nothing repaired is the control: at least one is there
# en: and all of them show the symptom, else nothing is proved: None.
# en: A suspect is convicted when it was repaired alone at least once,
# en: and the symptom was gone in every such run.
# en: Give back the name if exactly one is convicted, else None.
# zh: runs：若干 [repaired, symptom]。repaired：这一次修了哪些嫌疑；
# zh: symptom：症状还在不在。
# zh: 什么都没修的那次是对照：至少要有一次，而且每次都有症状，
# zh: 否则什么也证明不了，返回 None。
# zh: 某个嫌疑至少单独修过一次，而且每次单独修它症状都消失，才算定罪。
# zh: 恰好一个被定罪就返回它的名字，否则返回 None。
def culprit(runs: list[list]) -> str | None:
    ### BEGIN SOLUTION
    controls = [symptom for repaired, symptom in runs if not repaired]
    if not controls or not all(controls):
        return None
    alone = {}
    for repaired, symptom in runs:
        if len(repaired) == 1:
            alone.setdefault(repaired[0], []).append(symptom)
    convicted = [name for name, symptoms in alone.items() if not any(symptoms)]
    return convicted[0] if len(convicted) == 1 else None
    ### END SOLUTION
