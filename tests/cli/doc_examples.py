"""Runs the examples of README.md, docs/*.md, every --help and every `help TOPIC`, as a reader would.

A block ```sh in a document is run line by line in an empty folder that holds examples/ and the small
files that the documents speak of. A block that follows it without a language is the output that the
document promises: words must be equal, numbers with a decimal point may differ by 2 % (processors
round differently). Where text stands between the two, a comment above the output names its command,
<!-- prints: parsrec recommend -->, or <!-- prints, by model: parsrec recommend --> if it comes from a
model that the document trained: training ends elsewhere on another processor, so that only the words
must be the same, in any order of lines, without the reasons that the model gives. A block that cannot run here says why in the line above it,
<!-- not run: needs hours -->, and its options are still compared with --help. A block that is neither
run nor compared must say so.

usage: doc_examples.py PARSREC SOURCE
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

PARSREC, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
problems = []
checked = 0


def problem(where, text):
    problems.append(f"{where}: {text}")


class Block:
    """A block of a document: where it begins, its language, what the comment above it says."""

    def __init__(self, line, language, comment, lines, follows):
        self.line, self.language, self.comment, self.lines = line, language, comment, lines
        self.follows = follows  # nothing but blank lines since the block before

    def says(self, pattern):
        return re.fullmatch(pattern, self.comment)


def blocks(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    i, end = 0, -1
    while i < len(lines):
        fence = re.fullmatch(r"\s*```(\w*)", lines[i])
        if not fence:
            i += 1
            continue
        above = [line.strip() for line in lines[end + 1 : i] if line.strip()]
        comment = re.fullmatch(r"<!-- (.+) -->", above[-1]) if above else None
        first = i + 1
        end = first
        while lines[end].strip() != "```":
            end += 1
        yield Block(first, fence.group(1), comment.group(1) if comment else "", lines[first:end], not above)
        i = end + 1


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
        command = re.sub(r" --listen \S+", "", command) + " --listen 127.0.0.1:0"
        self.server = subprocess.Popen(
            ["sh", "-c", "exec " + command], cwd=self.path, env=self.env, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True,
        )
        address = re.search(r"https?://\S+:(\d+)", self.server.stdout.readline())
        if address is None:
            return self.server.communicate()[1]
        self.port = int(address.group(1))
        return None

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


def compare_words(where, promised, shown):
    """The same lines in any order, ranks, numbers with a decimal point and reasons left out."""

    def words(lines):
        lines = [re.sub(r"\bbecause of [^;]*", "because", line) for line in lines]
        whole = [[t for t in line.split() if not re.fullmatch(r"-?[\d,]*\.\d+", t)] for line in lines]
        items = []  # a line without a rank belongs to the item above it
        for tokens in whole:
            if tokens and tokens[0].isdigit():
                items.append(tokens[1:])
            elif tokens:
                items[-1:] = [items[-1] + tokens] if items else [tokens]
        return sorted(items)

    if words(promised) != words(shown.split("\n")):
        problem(where, f"promises '{' / '.join(promised)}', prints '{' / '.join(shown.strip().split(chr(10)))}'")


def check_document(path):
    global checked
    name = os.path.relpath(path, SOURCE)
    folder = None
    shown, ran = "", []  # what the last command printed; all commands with their outputs
    after_sh = False
    for block in blocks(path):
        where = f"{name}:{block.line}"
        skipped = block.says("not run: .+")
        if block.language == "sh":
            for command in joined(block.lines):
                options_exist(where, command)
            if skipped:
                checked += 1
            else:
                folder = folder or Folder()
                for command in joined(block.lines):
                    shown = run_command(folder, where, command)
                    ran.append((command, shown))
        elif block.language == "" and not skipped:
            by_command = block.says("prints(, by model)?: (.+)")
            outputs = [text for command, text in ran if by_command and command.startswith(by_command.group(2))]
            if by_command and not outputs:
                problem(where, f"no command above begins with '{by_command.group(2)}'")
            elif by_command:
                (compare_words if by_command.group(1) else compare)(where, block.lines, outputs[-1])
            elif block.follows and after_sh:
                compare(where, block.lines, shown)
            else:
                problem(where, "is neither compared nor said to be not run")
        after_sh = block.language == "sh" and not skipped
    if folder is not None:
        folder.close()


def printed(*words):
    return subprocess.run([PARSREC, *words], capture_output=True, text=True).stdout


def check_topic(folder, topic, helps):
    """A topic's commands, on lines of their own, run; the options that it names exist.

    An option behind the name of a command ("recommend --explain") is one of that command, any other
    one of some command.
    """
    where, text = f"parsrec help {topic}", printed("help", topic)
    if not text.strip():
        problem(where, "prints nothing")
    for command in re.findall(r"^  (parsrec \S.*)$", text, re.M):
        run_command(folder, where, command)
        folder.stop()
    for before, option in re.findall(r"(?:([a-z][a-z-]*)\s+)?(--[a-z][a-z-]*)", text):
        there = [helps[before]] if before in helps else helps.values()
        if not any(re.search(re.escape(option) + r"(?![a-z-])", shown) for shown in there):
            problem(where, f"{before} has no option {option}" if before in helps else f"no command has {option}")


def check_help():
    commands, _, topics = printed("--help").partition("parsrec help TOPIC")
    helps = {name: printed(name, "--help") for name in re.findall(r"^  ([a-z][a-z-]*) ", commands, re.M)}
    topics = re.findall(r"^  ([a-z][a-z-]*) ", topics, re.M)
    folder = Folder()
    if not topics:
        problem("parsrec --help", "lists no topics")
    for topic in topics:
        check_topic(folder, topic, helps)
    for name, text in helps.items():
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
