#!/usr/bin/env python3
"""Draws the rooms of the house and who calls whom, as the linker sees it.

usage: scripts/rooms_svg.py BUILD >docs/rooms.svg

BUILD is a build folder (build/release). An arrow from one room to another means that an object file
of the first calls a function that the second defines. Calls of the program (cli, serve) into the
library are drawn as one arrow to the public header. tests/cli/test_rooms.sh compares the output with
the committed drawing.
"""
import glob
import os
import subprocess
import sys

# What each room is for: the line below its name in the drawing.
PURPOSE = {
    "cli": "commands", "serve": "HTTP, stores, page", "compare": "compare, ablate, tune",
    "explain": "maps of relationships", "whatif": "the shelf changed", "recommend": "answers and reasons",
    "train": "loop, checkpoints", "eval": "protocols, measures", "model": "networks and counts",
    "import": "CSV, SQL, events", "synth": "the paper's shop", "data": "data sets, histories",
    "report": "documents, charts", "ranks": "several processes", "math": "ops, kernels", "base": "memory, files, threads",
}
# Column and row of each box, chosen so that no arrow runs behind a box. A room is above all that it calls.
PLACE = {
    "cli": (1, 0), "serve": (2, 0), "parsrec.h": (1.5, 1), "compare": (1, 2), "explain": (2, 2), "whatif": (3, 2),
    "recommend": (0, 2), "train": (1, 3), "eval": (2, 4), "report": (3, 4), "model": (1, 5), "import": (2, 6),
    "synth": (1, 6), "math": (0, 6), "ranks": (0, 7), "data": (1.5, 7), "base": (1.5, 8),
}
ROOMS = [room for room in PLACE if room != "parsrec.h"]
WIDTH, HEIGHT, GAP, MARGIN = 150, 44, 46, 20


def symbols(build, room):
    """Names that the objects of a room define and use."""
    sources = [s for pattern in ("*.c", "*/*.c") for s in glob.glob(f"src/{room}/{pattern}")]
    objects = [o for s in sources for o in glob.glob(f"{build}/src/CMakeFiles/*.dir/{s[4:]}.o")]
    if not objects:
        sys.exit(f"{build}: no object files of src/{room}; build it first")
    defined, used = set(), set()
    for line in subprocess.run(["nm", "-g", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        words = line.split()
        if len(words) == 2 and words[0] == "U":
            used.add(words[1])
        elif len(words) == 3 and words[1] in "TDBRVW":
            defined.add(words[2])
    return defined, used


def arrows(build):
    table = {room: symbols(build, room) for room in ROOMS}
    home = {s: room for room in ROOMS for s in table[room][0]}
    found = set()
    for room in ROOMS:
        for s in table[room][1]:
            target = home.get(s, room)
            if target == room:
                continue
            public = room in ("cli", "serve") and s.startswith("parsrec_")
            found.add((room, "parsrec.h" if public else target))
    return found


def reachable(start, edges):
    """Rooms that can be reached from `start` in two steps or more."""
    seen, todo = set(), [b for a, b in edges if a == start]
    while todo:
        room = todo.pop()
        new = {b for a, b in edges if a == room} - seen
        seen |= new
        todo.extend(new)
    return seen


def draw(edges):
    place = {room: (MARGIN + column * (WIDTH + GAP), MARGIN + row * (HEIGHT + GAP))
             for room, (column, row) in PLACE.items()}
    total_w = max(x for x, _ in place.values()) + WIDTH + MARGIN
    total_h = max(y for _, y in place.values()) + HEIGHT + MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total_w:.0f} {total_h:.0f}" '
           'font-family="sans-serif" font-size="13">',
           "<title>The rooms of parsrec and who calls whom</title>",
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
           'orient="auto"><path d="M0 0 8 4 0 8z" fill="#667"/></marker></defs>',
           f'<rect width="{total_w:.0f}" height="{total_h:.0f}" fill="#fff"/>']
    # An arrow that follows from two others is left out: base is below everything, for one.
    plain = edges | {("parsrec.h", b) for b in ("compare", "explain", "whatif", "recommend")}
    for a, b in sorted(plain):
        if b != "parsrec.h" and b in reachable(a, plain):
            continue
        (ax, ay), (bx, by) = place[a], place[b]
        x1, y1, x2, y2 = ax + WIDTH / 2, ay + HEIGHT, bx + WIDTH / 2, by
        if ay == by:
            x1, y1, x2, y2 = (ax + WIDTH, ay + HEIGHT / 2, bx, by + HEIGHT / 2) if ax < bx else (
                ax, ay + HEIGHT / 2, bx + WIDTH, by + HEIGHT / 2)
        # Straight down in the column of the caller; the bend is in the last gap, where no box is.
        bend, middle = max(y1, y2 - GAP), y2 - GAP / 2 if y2 > y1 else y2
        out.append(f'<path d="M{x1:.0f} {y1:.0f}V{bend:.0f}C{x1:.0f} {middle:.0f} {x2:.0f} {middle:.0f} '
                   f'{x2:.0f} {y2:.0f}" fill="none" stroke="#667" marker-end="url(#tip)"/>')
    for room, (x, y) in place.items():
        fill = "#fdf3dc" if room == "parsrec.h" else "#e8eef7"
        out.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{WIDTH}" height="{HEIGHT}" rx="6" fill="{fill}" stroke="#446"/>')
        out.append(f'<text x="{x + WIDTH / 2:.0f}" y="{y + 18:.0f}" text-anchor="middle" font-weight="bold">{room}</text>')
        out.append(f'<text x="{x + WIDTH / 2:.0f}" y="{y + 35:.0f}" text-anchor="middle" font-size="11" fill="#334">'
                   f'{PURPOSE.get(room, "the public interface")}</text>')
    return "\n".join(out + ["</svg>"])


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split("\n\n")[1])
    build = os.path.abspath(sys.argv[1])
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    print(draw(arrows(build)))


if __name__ == "__main__":
    main()
