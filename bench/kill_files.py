#!/usr/bin/env python3
"""Kills every command that writes files with -9 at random moments, repeatedly.

  bench/kill_files.py [KILLS [SEED [COMMAND...]]]    1000 of each unless given; COMMAND: synth import train forget
      dump export recommend compare explain whatif shards tune ablate fold export-events, all of these unless given; or
      train:KIND, import-parts (seconds a kill) and export-parquet (needs DuckDB)

Every command is killed by JOBS processes at once, in folders of their own, 2 unless the variable JOBS says otherwise, each
with its share of the kills. KIND is a kind of model, such as gru4rec. After each kill the output is the old file or the new one, byte for byte, never
a part; a training or a run of `recommend --all` that was killed is resumed and ends with the bytes of a run that was
never stopped; and the next run to the same output leaves no temporary file behind. Uses build/release/src/parsrec, or
what PARSREC names. Everything is written in a folder of its own under TMPDIR.
"""
import filecmp
import json
import multiprocessing
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROGRAM = os.environ.get("PARSREC") or os.path.join(SOURCE, "build/release/src/parsrec")
COMMANDS = ["synth", "import", "train", "forget", "dump", "export", "recommend", "compare", "explain", "whatif", "shards",
            "tune", "ablate", "fold", "export-events"]
SMALL = ["--set", "dim.user=8", "--set", "dim.item=8", "--set", "batch=32"]


def run(*words):
    done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        sys.exit(f"{words}: status {done.returncode}: {done.stderr.decode(errors='replace')}")


class Killer:
    """Runs a command and kills it at a random moment of the time that it takes. That changes with what else runs, so
    the estimate follows: most runs shall be killed, and at any moment of theirs."""

    def __init__(self, name, kills, seed):
        self.name, self.wanted, self.kills, self.runs = name, kills, 0, 0
        self.random = random.Random(seed)
        self.took = None

    def broken(self, text):
        sys.exit(f"{self.name}: {text}, after {self.kills} kills")

    def measure(self, *words):
        begun = time.monotonic()
        run(*words)
        self.took = time.monotonic() - begun

    def kill(self, *words):
        """True if the command was killed, False if it came to its end first."""
        self.runs += 1
        moment = 0.0005 + self.took * self.random.random()
        id = os.posix_spawn(PROGRAM, [PROGRAM, *words], os.environ, file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0), (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0),
            (os.POSIX_SPAWN_OPEN, 2, "/dev/null", os.O_WRONLY, 0)])
        ended = os.pidfd_open(id)
        select.select([ended], [], [], moment)
        os.kill(id, signal.SIGKILL)  # not yet waited for: it is this process or nobody
        _, status = os.waitpid(id, 0)
        os.close(ended)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            self.took *= 1.01
            self.kills += 1
            return True
        if status != 0:
            self.broken(f"status {os.waitstatus_to_exitcode(status)} instead of a kill: {words}")
        self.took = self.took * 0.9 + 0.0002
        return False

    def go_on(self):
        if self.runs > 50 * self.wanted + 100:
            self.broken("most runs come to their end")
        return self.kills < self.wanted


def temporaries():
    found = []
    for folder, _, names in os.walk("."):
        found += [os.path.join(folder, n) for n in names if n.endswith((".tmp", ".part", ".mark")) or n[0] == "."
                  or n.startswith("tmp_")]
    return found


def no_temporaries(killer):
    left = temporaries()
    if left:
        killer.broken(f"temporary files are left: {left}")


def same(a, b):
    return os.path.exists(a) and filecmp.cmp(a, b, shallow=False)


def replaces(killer, old, output, *words, equal=same):
    """With an older file in its place, the command that writes `output` is killed."""
    killer.measure(*words)
    shutil.copyfile(output, "new")
    kept = renewed = 0
    while killer.go_on():
        shutil.copyfile(old, output)
        killer.kill(*words)
        filecmp.clear_cache()
        if equal(output, "new"):
            renewed += 1
        elif same(output, old):
            kept += 1
        else:
            killer.broken("neither the old file nor the new one")
    left = len(temporaries())
    run(*words)
    if not equal(output, "new"):
        killer.broken("another file after all")
    no_temporaries(killer)
    print(f"{killer.name}: {killer.kills} kills, {kept} left the old file, {renewed} the new one; {left} temporary files "
          "of killed writers at the end, none after the next run")


def contents(folder):
    return {name: open(os.path.join(folder, name), "rb").read() for name in os.listdir(folder)}


def replaces_folder(killer, *words):
    """The same for a folder of shards."""
    run("import", "--shards=3", "-o", "old", "other.csv")
    killer.measure(*words, "-o", "folder")
    old, new = contents("old"), contents("folder")
    kept = renewed = 0
    while killer.go_on():
        shutil.rmtree("folder")
        shutil.copytree("old", "folder")
        killer.kill(*words, "-o", "folder")
        found = contents("folder")
        if found == new:
            renewed += 1
        elif found == old:
            kept += 1
        else:
            killer.broken("neither the old folder nor the new one")
    left = len(temporaries())
    run(*words, "-o", "folder")
    if contents("folder") != new:
        killer.broken("another folder after all")
    no_temporaries(killer)
    print(f"{killer.name}: {killer.kills} kills, {kept} left the old folder, {renewed} the new one; {left} temporary files "
          "of killed writers at the end, none after the next run")


def make_store():
    """A server's store with some hundreds of events, and the model that it served."""
    run("train", "-o", "personal", "--model", "personal", "shop.data")
    server = subprocess.Popen([PROGRAM, "serve", "personal", "--store", "sqlite:events.db", "--listen", "127.0.0.1:0"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True)
    try:
        port = next(found for line in server.stdout if (found := re.search(r"http://127\.0\.0\.1:([0-9]+)", line)))[1]
        for day in range(40):
            body = {"events": [{"user": str(user), "session": f"day {day}", "time": 1700000000 + 86400 * day,
                                "items": [str(1 + (day + user) % 20), "7"]} for user in range(1, 21)]}
            request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/events", json.dumps(body).encode(),
                                             {"Content-Type": "application/json"})
            with urllib.request.urlopen(request) as answer:
                answer.read()
    finally:
        server.terminate()
        server.communicate()


def kill_training(killer, kind):
    settings = ["--model", kind, *SMALL, "--epochs", "4", "--threads", "1"]
    killer.measure("train", "-o", "whole", "shop.data", *settings)
    resumes = finished = 0
    while killer.go_on():
        how = settings
        if os.path.exists("model.ckpt"):
            run("check", "model.ckpt")
            how = ["--resume", "model.ckpt", "--threads", "1"]
            resumes += 1
        killer.kill("train", "-o", "model", "shop.data", *how, "--checkpoint-minutes", "0.0001")
        if os.path.exists("model"):
            filecmp.clear_cache()
            if not same("whole", "model"):
                killer.broken("another model")
            finished += 1
            os.remove("model")
            if os.path.exists("model.ckpt"):
                os.remove("model.ckpt")
    if os.path.exists("model.ckpt"):
        run("train", "-o", "model", "shop.data", "--resume", "model.ckpt")
        if not same("whole", "model"):
            killer.broken("another model")
    run("train", "-o", "model", "shop.data", *settings, "--keep-checkpoint")
    no_temporaries(killer)
    print(f"{killer.name}: {killer.kills} kills, {resumes} resumes, {finished} runs came to their end between them; every "
          "model is that of the run never stopped, no temporary files are left")


def kill_answers(killer):
    """Rounds of a few users, so that there is a mark to continue from."""
    words = ["recommend", "personal", "--all", "-k", "400", "--threads", "1", "-o"]
    run("synth", "-o", "many.data", "--users", "1400", "--sessions", "4", "--products", "40", "--threads", "1")
    run("train", "-o", "personal", "--model", "personal", "many.data")
    killer.measure(*words, "whole.csv")
    resumed = finished = 0
    while killer.go_on():
        resumed += os.path.exists("all.csv.mark")
        killer.kill(*words, "all.csv")
        if os.path.exists("all.csv"):
            filecmp.clear_cache()
            if not same("whole.csv", "all.csv"):
                killer.broken("other answers")
            finished += 1
            os.remove("all.csv")
    run(*words, "all.csv")
    filecmp.clear_cache()
    if not same("whole.csv", "all.csv"):
        killer.broken("other answers")
    no_temporaries(killer)
    print(f"{killer.name}: {killer.kills} kills, {resumed} began with a mark, {finished} came to their end between them; "
          "all the same bytes, no temporary files are left")


def whole(path):
    """What a file's ending says must be complete."""
    with open(path, "rb") as file:
        content = file.read()
    if path.endswith(".html"):
        return content.rstrip().endswith(b"</html>")
    if path.endswith(".svg"):
        return content.rstrip().endswith(b"</svg>")
    if path.endswith(".png"):
        return content.endswith(b"IEND\xaeB`\x82")
    if path.endswith((".csv", ".md", ".txt")):
        return content.endswith(b"\n")
    if path.endswith(".json"):
        try:
            json.loads(content)
        except ValueError:
            return False
    return True


def kill_report(killer, *words, again=()):
    """Commands that fill a folder: every file in it is whole."""
    killer.measure(*words, "-o", "first")
    files, checked = 0, {}
    while killer.go_on():
        killer.kill(*words, "-o", "report")
        for folder, _, names in os.walk("report"):
            for name in names:
                path = os.path.join(folder, name)
                if name.endswith((".tmp", ".log")):
                    continue
                if os.path.getsize(path) == 0 or not whole(path):
                    killer.broken(f"{path} is not whole")
                written = os.stat(path)
                stamp = written.st_ino, written.st_mtime_ns, written.st_size
                if name.endswith((".model", ".st")) and checked.get(path) != stamp:
                    run("check", path)
                    checked[path] = stamp
                files += 1
        if killer.kills % 3 == 0:
            shutil.rmtree("report", ignore_errors=True)
    run(*words, "-o", "report", *again)
    no_temporaries(killer)
    print(f"{killer.name}: {killer.kills} kills, {files} files seen after them, all whole; no temporary files are left")


def same_table(a, b):
    """Parquet files of the same table have the same size; a cut one has no mark at its end."""
    with open(a, "rb") as file:
        content = file.read()
    return len(content) == os.path.getsize(b) and content[:4] == content[-4:] == b"PAR1"


def same_histories(a, b):
    """Names of sessions are hashed with a secret of the file: files of the same events differ, and have one size."""
    return (os.path.getsize(a) == os.path.getsize(b) and
            subprocess.run([PROGRAM, "check", a], capture_output=True).returncode == 0)


def attack(command, kills, seed):
    killer = Killer(command, kills, seed)
    if command == "synth":
        words = ["synth", "-o", "made", "--users", "60", "--sessions", "8", "--products", "20"]
        replaces(killer, "other.data", "made", *words)
    elif command == "import":
        replaces(killer, "other.data", "imported", "import", "-o", "imported", "shop.csv")
    elif command == "import-parts":  # sorted in files, as an export that does not fit in memory
        with open("large.csv", "w") as file:
            file.write("user,session,time,item\n")
            draw = killer.random.randrange
            file.writelines(f"u{draw(9000)},{draw(30)},{draw(30)},i{draw(900)}\n" for _ in range(1500000))
        replaces(killer, "other.data", "imported", "import", "-o", "imported", "large.csv", "--max-memory", "64M")
    elif command == "train" or command.startswith("train:"):
        kill_training(killer, command[len("train:"):] or "parsrec")
    elif command == "forget":
        run("train", "-o", "personal", "--model", "personal", "shop.data")
        replaces(killer, "personal", "forgotten", "forget", "personal", "-o", "forgotten", "--user", "3")
    elif command == "dump":
        run("train", "-o", "pop", "--model", "pop", "shop.data")
        run("eval", "pop", "shop.data", "--negatives", "5", "--dump-scores", "old")
        replaces(killer, "old", "scores", "eval", "pop", "shop.data", "--dump-scores", "scores")
    elif command == "export":
        run("export", "other.data", "-o", "old.csv")
        replaces(killer, "old.csv", "out.csv", "export", "shop.data", "-o", "out.csv")
    elif command == "export-parquet":
        run("export", "other.data", "-o", "old.parquet")
        replaces(killer, "old.parquet", "out.parquet", "export", "shop.data", "-o", "out.parquet", equal=same_table)
    elif command == "recommend":
        kill_answers(killer)
    elif command == "compare":
        kill_report(killer, "compare", "other.data", "--models", "pop,personal,markov", "--only-listed", again=["--retrain"])
    elif command == "explain":
        run("train", "-o", "shop.model", "shop.data", *SMALL, "--epochs", "1")
        kill_report(killer, "explain", "shop.model", "shop.data", "--top", "8", "--baskets", "40")
    elif command == "whatif":
        run("train", "-o", "shop.model", "shop.data", *SMALL, "--epochs", "1")
        kill_report(killer, "whatif", "shop.model", "shop.data", "--drop", "category=C1", "--draws", "1", "--resamples", "20")
    elif command == "shards":
        run("export", "other.data", "-o", "other.csv")
        replaces_folder(killer, "import", "--shards=3", "shop.csv")
    elif command == "tune":
        kill_report(killer, "tune", "other.data", *SMALL, "--set", "rate=0.001,0.01", "--trials", "2", "--epochs", "2",
                    "--jobs", "1", again=["--retrain"])
    elif command == "ablate":
        kill_report(killer, "ablate", "other.data", "--base", "parsrec:dim.user=8:dim.item=8:batch=32", "--row",
                    "narrow:dim.item=4", "--epochs", "1", "--seeds", "1", "--jobs", "1", again=["--retrain"])
    elif command == "fold":
        make_store()
        shutil.copyfile("shop.csv", "old")
        replaces(killer, "old", "personal.histories", "fold-events", "personal", "--store", "sqlite:events.db",
                 equal=same_histories)
    elif command == "export-events":
        make_store()
        replaces(killer, "shop.csv", "events.csv", "export-events", "sqlite:events.db", "-o", "events.csv")
    else:
        sys.exit(f"{command}: is not a command that is killed here")


def attack_in(folder, command, kills, seed):
    os.mkdir(folder)
    os.chdir(folder)
    run("synth", "-o", "other.data", "--users", "30", "--sessions", "6", "--products", "20")
    run("synth", "-o", "shop.data", "--users", "60", "--sessions", "8", "--products", "20", "--csv", "shop.csv")
    attack(command, kills, seed)


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    jobs = min(int(os.environ.get("JOBS", "2")), kills)
    with tempfile.TemporaryDirectory(prefix="parsrec-kill.") as folder:
        for command in sys.argv[3:] or COMMANDS:
            begun = time.monotonic()
            # The first of them has the given seed, so that JOBS=1 repeats what it found.
            workers = [multiprocessing.Process(target=attack_in, args=(
                os.path.join(folder, f"{command.replace(':', '-')}.{job}"), command,
                kills // jobs + (job < kills % jobs), seed + 1000000 * job)) for job in range(jobs)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            if any(worker.exitcode != 0 for worker in workers):
                sys.exit(f"{command}: failed")
            print(f"    {command}: {kills} kills in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
