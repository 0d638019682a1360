# %% [markdown] en
# # Checkpoint 03: can your count be trusted?
#
# {{worth}} The functions give partial credit. About 25 minutes. Questions show no right or wrong here; your last choice counts. **Save the notebook** before you hand it in.
# %% [markdown] zh
# # 测验 03：你的统计可信吗？
#
# {{worth}}函数可得部分分。约 25 分钟。答题时不显示对错，以最后一次选择为准。交卷前请**保存 notebook**。
# %% bootstrap
# %% question 03-c-report
# %% question 03-c-conv
# %% question 03-c-zero
# %% question 03-c-memory
# %% question 03-c-claims
# %% task 03-t-layer
# en: MACs of a square convolution without bias, a whole number.
# en: kind: "conv" or "transposed". n: the batch. kernel, stride
# en: and padding hold for both directions. size x size: the INPUT.
# en: An ordinary convolution has, on each side,
# en: (size + 2*padding - kernel) // stride + 1 output positions.
# zh: 一个不带偏置的方形卷积有多少 MACs？返回整数。
# zh: kind："conv" 或 "transposed"；n：批大小；
# zh: kernel、stride、padding：两个方向相同；
# zh: size x size：输入的尺寸，不是输出的。普通卷积每边有
# zh: (size + 2*padding - kernel) // stride + 1 个输出位置。
def layer_macs(kind, n, c_in, c_out, kernel, size, stride, padding, groups):
    ### BEGIN SOLUTION
    positions = size
    if kind == "conv":
        positions = (size + 2 * padding - kernel) // stride + 1
    return n * positions**2 * c_out * (c_in // groups) * kernel**2
    ### END SOLUTION
# %% task 03-t-step
# en: MACs of one training step (forward and backward) of layers
# en: in a row. macs[i]: the forward work of layer i. trained[i]:
# en: False where its weights are frozen. The data in front of the
# en: first layer needs no gradient. Each gradient that is needed
# en: costs one forward of its layer.
# zh: 一串首尾相接的层，做一个训练步（前向加反向），共多少 MACs？
# zh: macs[i]：第 i 层前向的工作量。
# zh: trained[i]：为 False 表示这一层的权重被冻结。
# zh: 第一层前面的数据不需要梯度。
# zh: 每个需要的梯度，开销相当于该层的一次前向。
def step_macs(macs, trained):
    ### BEGIN SOLUTION
    total, gradient_wanted = 0, False
    for layer, learns in zip(macs, trained):
        total += layer + layer * learns + layer * gradient_wanted
        gradient_wanted = gradient_wanted or learns
    return total
    ### END SOLUTION
