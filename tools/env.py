"""The project's own virtual environment: make it, fill it, open JupyterLab in it.

Runs on any Python 3 (it must be able to say that yours is too old), so no newer syntax here. Speaks English, and Chinese
with LESSONS=zh or --language zh.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
# What a class gets has a wheel beside this file, which is lab.py there.
WHEELS = sorted(name for name in os.listdir(HERE) if name.endswith(".whl"))
ROOT = HERE if WHEELS else os.path.dirname(HERE)
VENV = os.path.join(ROOT, ".venv")
OLDEST, NEWEST = (3, 10), (3, 13)
FIRST_NOTEBOOK = "{language}/lessons/00_start.ipynb"
SETTINGS = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
CHINESE_MENUS = {"@jupyterlab/translation-extension:plugin": {"locale": "zh_CN"}}
LANGUAGE = os.environ.get("LESSONS", "en")
# Characters of the longest path inside a filled .venv (a licence of torch's); of any path.
LONGEST_INSIDE, WINDOWS_MOST = 196, 259


def t(english, chinese):
    """The sentence in the language in use."""
    return chinese if LANGUAGE == "zh" else english


def say(english, chinese):
    """Print one line at once."""
    print(t(english, chinese), flush=True)


def stop(english, chinese):
    """End with a sentence instead of a traceback."""
    sys.exit(t(english, chinese))


def find_python():
    """The running Python if the course supports it, else the newest supported one on the PATH."""
    if OLDEST <= sys.version_info[:2] <= NEWEST:
        return sys.executable
    for minor in range(NEWEST[1], OLDEST[1] - 1, -1):
        other = of_launcher(minor) if os.name == "nt" else shutil.which("python3.%d" % minor)
        if other and subprocess.call([other, "-c", "import venv, ensurepip"], stderr=subprocess.DEVNULL) == 0:
            found = sys.version_info[:2] + (other,)
            say("Python %d.%d is not supported; using %s instead." % found, "不支持 Python %d.%d，改用 %s。" % found)
            return other
    english, chinese = started_with("PYTHON", "C:\\Python312\\python.exe" if os.name == "nt" else "python3.12")
    stop(
        "The course needs Python 3.10 to 3.13, and this is Python %d.%d.\n"
        "Next step: install Python 3.12 beside it (python.org), then start again; if it is not found: %s"
        % (sys.version_info[:2] + (english,)),
        "本课程需要 Python 3.10 到 3.13，而这里是 Python %d.%d。\n"
        "下一步：另外装一个 Python 3.12（python.org），再启动一次；如果还是找不到：%s"
        % (sys.version_info[:2] + (chinese,)),
    )


def of_launcher(minor):
    """Where the launcher of Python for Windows has Python 3.minor, or None."""
    try:
        said = subprocess.check_output(
            ["py", "-3.%d" % minor, "-c", "import sys; print(sys.executable)"], stderr=subprocess.DEVNULL
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return said.decode("utf-8", "replace").strip()


def started_with(name, value):
    """How to start with another PORT or PYTHON, in English and in Chinese: as this was started."""
    if "MAKELEVEL" in os.environ and not WHEELS:  # make sets it for what it starts; a class gets no Makefile
        return "make lab %s=%s" % (name, value), "make lab LESSONS=zh %s=%s" % (name, value)
    script = "lab.py" if WHEELS else os.path.join("tools", "env.py")
    command = [value if name == "PYTHON" else "python", script, "lab"]
    command += ["--port", value] if name == "PORT" else []
    return " ".join(command), " ".join(command + ["--language", "zh"])


def not_too_deep(folder):
    """On Windows, stop in a folder below which the files of the environment would have names that are too long."""
    longest = WINDOWS_MOST - LONGEST_INSIDE - len("\\.venv\\")
    if os.name == "nt" and len(folder) > longest:
        stop(
            "The path of this folder has %d characters; Windows allows %d here.\n"
            "Next step: move the folder to a short place, such as C:\\course, and start again."
            % (len(folder), longest),
            "这个文件夹的路径有 %d 个字符，Windows 在这里最多允许 %d 个。\n"
            "下一步：把文件夹移到路径短的地方，例如 C:\\course，再启动一次。" % (len(folder), longest),
        )


def venv_python():
    """The interpreter inside the virtual environment."""
    folder, name = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return os.path.join(VENV, folder, name)


def works():
    """Whether there is an environment that can be filled: not one whose making failed or was stopped half way."""
    return (
        os.path.exists(venv_python())
        and subprocess.call([venv_python(), "-c", "import pip"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        == 0
    )


def run_with_clock(words, command):
    """Run a long command with a line that shows it is alive; on failure print its output and stop."""
    log_path = os.path.join(VENV, "install.log")
    started = time.time()
    with open(log_path, "wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT)
        while process.poll() is None:
            time.sleep(1)
            if sys.stdout.isatty():
                print("\r%s ... %d s " % (words, time.time() - started), end="", flush=True)
            elif int(time.time() - started) % 30 == 0:
                print("%s ... %d s" % (words, time.time() - started), flush=True)
    print("%s%s: %d s" % ("\r" if sys.stdout.isatty() else "", words, time.time() - started), flush=True)
    if process.returncode != 0:
        with open(log_path, encoding="utf-8", errors="replace") as log:
            print("".join(log.readlines()[-30:]))
        stop(
            "That step failed; the lines above say why, all of them are in %s.\n"
            "Next step: mend the cause and run the same command again; what is installed stays.\n"
            "If the network is slow or blocked: "
            "put the address of your network's PyPI mirror into PIP_INDEX_URL, "
            "and a page that lists the torch builds, on its mirror, into PIP_FIND_LINKS." % log_path,
            "这一步没有成功：原因见上面几行，完整输出在 %s。\n"
            "下一步：排除原因，再运行同一条命令；已经装好的会保留。\n"
            "如果是网络慢或连不上：把你所在网络的 PyPI 镜像地址填进环境变量 PIP_INDEX_URL，"
            "镜像上列着 torch 安装包的目录填进 PIP_FIND_LINKS。" % log_path,
        )


def wanted(extra):
    """What a filled environment must have been filled from: when it changes, it is filled again."""
    parts = [extra]
    for name in WHEELS + ["constraints.txt"] if WHEELS else ["pyproject.toml", "constraints.txt"]:
        if name in WHEELS:
            parts.append(name + str(os.path.getsize(os.path.join(ROOT, name))))
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            parts.append(file.read())
    return "\n".join(parts)


def wheel_or_checkout(extra):
    """What pip installs: the wheel beside this file, also where its version is installed already, or this checkout."""
    return ["./%s[%s]" % (WHEELS[-1], extra)] if WHEELS else ["-e", ".[%s]" % extra]


def ensure(extra):
    """Make the environment and install the course with one of its extras, unless that is done already."""
    fill(extra)
    teach_kernels()


def fill(extra):
    """Install, unless the environment was filled from the same files before."""
    stamp = os.path.join(VENV, "installed-" + extra)
    if not works():
        not_too_deep(ROOT)
        python = find_python()
        say("Making the virtual environment .venv with %s" % python, "正在用 %s 创建虚拟环境 .venv" % python)
        if subprocess.call([python, "-m", "venv", VENV]) != 0:
            stop(
                "The virtual environment could not be made. Next step: install what is missing (on Debian and Ubuntu: "
                "apt install python3-venv), then run the same command again.",
                "虚拟环境没有建成。下一步：装上缺少的东西（Debian、Ubuntu 上是 apt install python3-venv），再运行同一条命令。",
            )
    elif os.path.exists(stamp):
        with open(stamp, encoding="utf-8") as file:
            if file.read() == wanted(extra):
                return
    run_with_clock(
        t(
            "Installing torch, JupyterLab and the rest (some minutes the first time)",
            "正在安装 torch、JupyterLab 等（第一次要几分钟）",
        ),
        [venv_python(), "-m", "pip", "install", "-q", "-c", "constraints.txt"] + wheel_or_checkout(extra),
    )
    with open(stamp, "w", encoding="utf-8") as file:
        file.write(wanted(extra))


def teach_kernels():
    """After a kernel restart, a name of the course that is not there yet says what to do (course/verbs/kernel_hint.py)."""
    folder = os.path.join(VENV, "etc", "ipython")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "ipython_kernel_config.py"), "w", encoding="utf-8") as file:
        file.write('c.InteractiveShellApp.extensions.append("course.verbs.kernel_hint")\n')


def free_port(port):
    """``port``, or the next free one, said in a sentence."""
    for candidate in range(port, port + 50):
        with socket.socket() as probe:
            if os.name != "nt":
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
            except OSError:
                continue
        if candidate != port:
            say(
                "Port %d is taken, perhaps by a JupyterLab that is still open; JupyterLab opens on port %d instead."
                % (port, candidate),
                "端口 %d 被占用了（也许还开着一个 JupyterLab），JupyterLab 改用端口 %d。" % (port, candidate),
            )
        return candidate
    english, chinese = started_with("PORT", "9999")
    return stop(
        "Ports %d to %d are all taken. Next step: %s" % (port, port + 49, english),
        "端口 %d 到 %d 都被占用了。下一步：%s" % (port, port + 49, chinese),
    )


def set_defaults(menus):
    """No question about news and no asking for updates: the first thing to see is the lesson; menus in that language."""
    folder = os.path.join(VENV, "share", "jupyter", "lab", "settings")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "overrides.json"), "w", encoding="utf-8") as file:
        json.dump(dict(SETTINGS, **(CHINESE_MENUS if menus == "zh" else {})), file)


def tell_font():
    """One line where a Chinese font is missing: plots then fall back to English labels."""
    if sys.platform.startswith("linux") and shutil.which("fc-list"):
        listed = subprocess.Popen(
            ["fc-list", ":lang=zh"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ).communicate()[0]
        if not listed.strip():
            say(
                "",
                "提示：这台机器没有中文字体，图里的文字会显示为英文。Debian、Ubuntu 上装一个即可：apt install fonts-noto-cjk",
            )


def lab(language, port, menus="en"):
    """Open JupyterLab on the first lesson; ends when the learner stops it."""
    notebook, notebooks = FIRST_NOTEBOOK.format(language=language), os.path.join(ROOT, "notebooks")
    if not os.path.exists(os.path.join(notebooks, notebook)):
        stop(
            'There are no notebooks in the language "%s". Next step: ask for "en" or "zh".' % language,
            "没有语言为“%s”的 notebook。下一步：选 en 或 zh。" % language,
        )
    if language == "zh":
        tell_font()
    ensure("lab,menus" if menus == "zh" else "lab")
    set_defaults(menus)
    # As the address to open, not as a file: so the address that is printed leads to the lesson too. A workspace of its own:
    # else JupyterLab opens beside the lesson whatever was open last, in the other language or in other work.
    command = [
        venv_python(),
        "-m",
        "jupyter",
        "lab",
        "--port=%d" % free_port(port),
        "--ServerApp.root_dir=" + notebooks,
        "--LabApp.default_url=/lab/tree/" + notebook,
        "--LabApp.workspaces_dir=" + os.path.join(VENV, "workspaces", language),
        "--Application.log_level=ERROR",
        "-y",  # Ctrl-C ends it at once
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    if os.environ.get("NO_BROWSER"):
        command.append("--no-browser")
    say(
        "Opening JupyterLab on notebooks/%s. Stop it with Ctrl-C; your answers are saved." % notebook,
        "正在用 JupyterLab 打开 notebooks/%s。按 Ctrl-C 结束；作答都会保存。" % notebook,
    )
    server = subprocess.Popen(command, cwd=ROOT)
    for _ in range(3):
        try:
            sys.exit(server.wait())
        except KeyboardInterrupt:  # the server has heard it too, and ends its kernels first
            pass
    server.kill()


def main():
    global LANGUAGE
    if hasattr(sys.stdout, "reconfigure"):  # an old terminal may lack a sign
        sys.stdout.reconfigure(errors="replace")
        sys.stderr.reconfigure(errors="replace")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    opening = verbs.add_parser("lab", help="open JupyterLab on the first lesson")
    opening.add_argument("--language", default=LANGUAGE, help="en or zh")
    opening.add_argument(
        "--menus", default=os.environ.get("MENUS", "en"), help="zh: JupyterLab's own menus in Chinese too"
    )
    opening.add_argument("--port", type=int, default=8888)
    filling = verbs.add_parser("ensure", help="make and fill the environment")
    filling.add_argument("extra", choices=["lab", "grading", "book", "dev"])
    options = parser.parse_args()
    try:
        if options.verb == "lab":
            LANGUAGE = options.language
            lab(options.language, options.port, options.menus)
        else:
            ensure(options.extra)
    except KeyboardInterrupt:
        stop(
            "\nStopped. The same command goes on where it was; what is installed stays.",
            "\n已停止。再运行同一条命令就会接着来；已经装好的会保留。",
        )


if __name__ == "__main__":
    main()
