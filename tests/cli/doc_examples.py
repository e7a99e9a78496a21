"""Runs the examples of README.md, docs/*.md and every --help, as a reader would.

A block ```sh in a document is run line by line in an empty folder that holds examples/ and the small
files that the documents speak of. A block that follows it without a language is the output that the
document promises: words must be equal, numbers with a decimal point may differ by 2 % (processors
round differently). A block that cannot run here says why in the line above it,
<!-- not run: needs hours -->, and its options are still compared with --help.

usage: doc_examples.py PARSREC SOURCE
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile

PARSREC, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
problems = []
checked = 0


def problem(where, text):
    problems.append(f"{where}: {text}")


def blocks(path):
    """(line number, reason not to run or None, commands, promised output or None) of a document."""
    lines = open(path, encoding="utf-8").read().split("\n")
    i = 0
    while i < len(lines):
        if lines[i].strip() != "```sh":
            i += 1
            continue
        start = i
        above = lines[start - 1].strip()
        while above == "" and start > 0:
            start -= 1
            above = lines[start - 1].strip()
        reason = re.fullmatch(r"<!-- not run: (.+) -->", above)
        first = i + 1
        i = first
        while lines[i].strip() != "```":
            i += 1
        commands = lines[first:i]
        after = i + 1
        while after < len(lines) and lines[after].strip() == "":
            after += 1
        output = None
        if after < len(lines) and lines[after].strip() == "```":
            end = after + 1
            while lines[end].strip() != "```":
                end += 1
            output = lines[after + 1 : end]
            i = end
        yield first, reason.group(1) if reason else None, commands, output
        i += 1


def joined(lines):
    """Commands with their continuation lines, without comments."""
    whole = ""
    for line in lines:
        line = re.sub(r"\s+#.*$", "", line) if not line.startswith("#") else ""
        whole += line.rstrip("\\") if line.endswith("\\") else line
        if not line.endswith("\\"):
            if whole.strip():
                yield whole.strip()
            whole = ""


class Folder:
    """A folder to run commands in, with a server if one was started."""

    def __init__(self):
        self.path = tempfile.mkdtemp(prefix="parsrec-examples.")
        self.server = None
        self.port = None
        os.symlink(os.path.join(SOURCE, "examples"), os.path.join(self.path, "examples"))
        os.mkdir(os.path.join(self.path, "bin"))
        os.symlink(PARSREC, os.path.join(self.path, "bin", "parsrec"))
        self.env = dict(os.environ, PATH=os.path.join(self.path, "bin") + ":" + os.environ["PATH"])
        self.prepare()

    def prepare(self):
        run = self.must
        shutil.copy(os.path.join(SOURCE, "examples/corner_shop.csv"), os.path.join(self.path, "orders.csv"))
        shutil.copy(
            os.path.join(SOURCE, "examples/corner_shop_items.csv"), os.path.join(self.path, "products.csv")
        )
        run("sed '1s/.*/customer,receipt,bought_at,sku/' orders.csv | gzip >orders.csv.gz")
        run("(echo 'customer,receipt,day,sku'; tail -n +2 orders.csv) >lines.csv")
        run("sqlite3 shop.db -cmd '.mode csv' '.import lines.csv lines'")
        run("parsrec import -o shop.st orders.csv --items products.csv")
        run("cp shop.st data.st; cp shop.st today.st; cp shop.st shop.data")
        run("parsrec train -o model.st shop.st --epochs 2 --set dim.user=16 --set dim.item=16")
        run("cp model.st shop.model")
        run("""echo '{"user":"K01","basket":["1000"],"k":5}' >requests.jsonl""")
        run("printf 'a-token-of-this-test\\n' >token.txt; chmod 600 token.txt")

    def must(self, command):
        done = self.run(command)
        if done.returncode != 0:
            sys.exit(f"setting up failed: {command}\n{done.stderr}")

    def run(self, command):
        return subprocess.run(
            ["sh", "-c", command], cwd=self.path, env=self.env, capture_output=True, text=True,
            stdin=subprocess.DEVNULL,
        )

    def serve(self, command):
        """Starts a server on a free port; the text of its failure, or None."""
        self.stop()
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = re.sub(r" --listen \S+", "", command) + f" --listen 127.0.0.1:{self.port}"
        self.server = subprocess.Popen(
            ["sh", "-c", "exec " + command], cwd=self.path, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        line = self.server.stdout.readline()
        return None if "http" in line else self.server.communicate()[1]

    def stop(self):
        if self.server is not None:
            self.server.terminate()
            self.server.communicate()
            self.server = None

    def close(self):
        self.stop()
        shutil.rmtree(self.path)


def same_token(a, b):
    if a == b:
        return True
    try:
        x, y = float(a.replace(",", "")), float(b.replace(",", ""))
    except ValueError:
        return False
    return "." in a and abs(x - y) <= 0.02 * max(abs(x), abs(y), 1)


def compare(where, promised, shown):
    """The promised lines, in order; "..." stands for any number of lines."""
    got = [line.split() for line in shown.split("\n") if line.strip()]
    want = [line.split() for line in promised if line.strip()]
    at, gap = 0, False
    for tokens in want:
        if tokens == ["..."]:
            gap = True
            continue
        while gap and at < len(got) and not (
            len(got[at]) == len(tokens) and all(map(same_token, tokens, got[at]))
        ):
            at += 1
        if at == len(got) or len(got[at]) != len(tokens) or not all(map(same_token, tokens, got[at])):
            shown_line = " ".join(got[at]) if at < len(got) else "the end"
            problem(where, f"promises '{' '.join(tokens)}', prints '{shown_line}'")
            return
        at, gap = at + 1, False
    if at < len(got) and not gap:
        problem(where, f"prints more than it promises: '{' '.join(got[at])}'")


def options_exist(where, command):
    for piece in re.split(r"[|;&]|\$\(|\bdo\b", command):
        words = piece.split()
        if len(words) < 2 or words[0] != "parsrec":
            continue
        text = subprocess.run([PARSREC, words[1], "--help"], capture_output=True, text=True).stdout
        for option in re.findall(r"(?<=\s)(--[a-z][a-z-]*)", piece):
            if not re.search(re.escape(option) + r"\b", text):
                problem(where, f"'parsrec {words[1]}' has no option {option}")


def run_command(folder, where, command):
    """Output of a command; what went wrong becomes a problem."""
    global checked
    checked += 1
    if re.match(r"parsrec serve\b", command):
        failure = folder.serve(command)
        if failure is not None:
            problem(where, f"'{command}' does not serve: {failure.strip()}")
        return ""
    if folder.port is not None:
        command = command.replace("127.0.0.1:8080", f"127.0.0.1:{folder.port}")
    done = folder.run(command)
    if done.returncode != 0:
        problem(where, f"'{command}' exits with {done.returncode}: {done.stderr.strip()[-300:]}")
    return done.stdout


def check_document(path):
    global checked
    name = os.path.relpath(path, SOURCE)
    folder = None
    for line, reason, commands, output in blocks(path):
        where = f"{name}:{line}"
        for command in joined(commands):
            options_exist(where, command)
        if reason is not None:
            checked += 1
            continue
        folder = folder or Folder()
        shown = ""
        for command in joined(commands):
            shown = run_command(folder, where, command)
        if output is not None:
            compare(where, output, shown)
    if folder is not None:
        folder.close()


def check_help():
    commands = subprocess.run([PARSREC, "--help"], capture_output=True, text=True).stdout
    folder = Folder()
    for name in re.findall(r"^  ([a-z][a-z-]*) ", commands, re.M):
        text = subprocess.run([PARSREC, name, "--help"], capture_output=True, text=True).stdout
        examples = text.split("\nexamples:\n")
        if len(examples) != 2 or not examples[1].strip():
            problem(f"parsrec {name} --help", "has no examples")
            continue
        for command in joined(examples[1].split("\n")):
            run_command(folder, f"parsrec {name} --help", command)
            folder.stop()
    folder.close()


check_help()
documents = [os.path.join(SOURCE, "README.md")]
documents += sorted(
    os.path.join(SOURCE, "docs", f) for f in os.listdir(os.path.join(SOURCE, "docs"))
    if f.endswith(".md") and f != "results.md"  # its commands are stages of bench/reproduce
)
for document in documents:
    check_document(document)
for text in problems:
    print("FAILED:", text)
print(f"{checked} examples, {len(problems)} problems")
sys.exit(bool(problems) or checked == 0)
