"""A shop whose names mean harm, and what reports made of them may hold.

  hostile_names.py make FOLDER           writes actions.csv and items.csv
  hostile_names.py check FOLDER...       reads every report, table and picture in the folders
"""
import csv
import html.parser
import os
import random
import re
import sys
import xml.etree.ElementTree as tree

NAMES = [
    "<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "\"quoted\" 'single' &amp;",
    '=HYPERLINK("http://example.org","x")', "+1 apple", "-2 pears", "@sum(A1)", "\ttabbed",
    "tea\rcup", "two\nlines", "bell\x07 and \x1b[31mred\x1b[0m", "\u202egnp.exe", "שלום 12", "مرحبا",
    "a\u2069\u202eb", "</title></style></svg></pre>x", "| pipe | `code` **bold** [x](y)",
    "C1 \u0085\u009b31m", "a,b;c", "]]> --> \u2028x",
]
CATEGORIES = ["FOOD", "<b>BOLD</b>", "=CATEGORY", "דברים", "\x1b[2J\u202e"]
USERS = ["<b>u0</b>", "=u1", "\u202eu2", "שרה", '"u4"']
ELEMENTS = set("""html head meta title style body main section h1 h2 h3 p div table thead tbody tr th td dl dt dd pre
    svg g rect line text path circle polyline polygon figure figcaption ul ol li details summary a b strong em
    span small code br use defs clippath symbol image""".split())


def make(folder):
    random.seed(1)
    items = [(f"i{n}", name, CATEGORIES[n % len(CATEGORIES)]) for n, name in enumerate(NAMES)]
    items += [(f"<i>{n}</i>", f"Twin {n % 2}", "FOOD") for n in range(4)]
    items += [('@SUM(1,"2")', "a formula", "FOOD"), ("-9", "another", "FOOD")]
    with open(os.path.join(folder, "items.csv"), "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows([("item", "name", "category"), *items])
    rows, day = [("user", "session", "time", "item")], 1600000000
    for u in range(30):
        key = USERS[u] if u < len(USERS) else f"u{u}"
        for s in range(8):
            day += 86400
            rows += [(key, f"{u}.{s}", day, item[0]) for item in random.sample(items, 4)]
    with open(os.path.join(folder, "actions.csv"), "w", newline="", encoding="utf-8") as f:
        csv.writer(f, lineterminator="\n").writerows(rows)


class Page(html.parser.HTMLParser):
    """Elements and attributes that our reports are made of, nothing else."""

    def __init__(self, path):
        super().__init__()
        self.path, self.text = path, ""

    def handle_starttag(self, tag, attributes):
        assert tag in ELEMENTS, f"{self.path}: element {tag}"
        for name, value in attributes:
            assert not name.startswith("on"), f"{self.path}: attribute {name}"
            link = name in ("href", "src", "xlink:href")
            assert not link or value.startswith(("#", "data:image/png;")), f"{self.path}: {name}={value}"

    def handle_data(self, data):
        self.text += data


def check_text(path, text):
    for c in text:
        assert c in "\n\t" or c >= " ", f"{path}: control character {ord(c):#x}"
        assert not "\x7f" <= c <= "\x9f", f"{path}: control character {ord(c):#x}"
        assert c not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067", f"{path}: {ord(c):#x}"
    assert text.count("\u2068") == text.count("\u2069"), f"{path}: isolates that do not close"


def check(path):
    if path.endswith((".html", ".md")):
        text = open(path, encoding="utf-8", newline="").read()
        check_text(path, text)
        if path.endswith(".html"):
            page = Page(path)
            page.feed(text)
            page.close()
            return page.text
    elif path.endswith(".svg"):
        for element in tree.parse(path).iter():
            assert not element.tag.lower().endswith(("script", "foreignobject")), path
            assert not any(name.startswith("on") for name in element.attrib), path
    elif path.endswith(".csv"):
        for row in csv.reader(open(path, encoding="utf-8", newline="")):
            for cell in row:
                number = re.fullmatch(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?", cell)
                assert number or cell[:1] not in tuple("=+-@\t\r"), f"{path}: cell {cell!r}"
    return ""


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
        sys.exit()
    shown, count = "", 0
    for folder in sys.argv[2:]:
        for name in sorted(os.listdir(folder)):
            shown += check(os.path.join(folder, name))
            count += 1
    for name in ["<script>alert(1)</script>", '<img src=x onerror="alert(1)">', "=CATEGORY"]:
        assert name in shown, f"no page shows {name} as it is"
    print(f"{count} files checked")
