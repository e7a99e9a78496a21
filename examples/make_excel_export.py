#!/usr/bin/env python3
"""Writes examples/excel_export.csv: the corner shop's receipts as a till program and Excel would save it.

Semicolons, decimal commas, dates as 03.01.2024 16:45, Windows-1252 letters, spaces around some codes,
returns with a negative quantity, and sales to customers without a card. docs/tour.md reads it.

usage: examples/make_excel_export.py     (from any folder)
"""
import csv
import pathlib
import random

HERE = pathlib.Path(__file__).resolve().parent
NAMES = {"Coffee beans": "Café beans", "Croissant": "Croissant à l'ancienne"}


def main():
    draw = random.Random(7)
    items = {row["item"]: row for row in csv.DictReader(open(HERE / "corner_shop_items.csv"))}
    price = {key: round(draw.uniform(0.6, 9.9), 2) for key in items}
    lines = ["Receipt;Date;Customer;Article no;Article;Group;Quantity;Unit price;Cashier"]
    moments, sold = {}, []
    for row in csv.DictReader(open(HERE / "corner_shop.csv")):
        day = row["time"]
        if row["session"] not in moments:
            moments[row["session"]] = (draw.randint(8, 19), draw.randint(0, 59), draw.randint(1, 4))
        hour, minute, cashier = moments[row["session"]]
        key, item = row["item"], items[row["item"]]
        name = NAMES.get(item["name"], item["name"])
        when = "%s.%s.%s %02d:%02d" % (day[8:10], day[5:7], day[:4], hour, minute)
        customer = row["user"] if draw.random() > 0.03 else ""
        quantity = -1 if draw.random() < 0.01 else draw.choice([1, 1, 1, 2, 3])
        code = key + " " if draw.random() < 0.05 else key
        sold.append((day, hour, minute, row["session"], len(sold), ";".join([row["session"], when, customer, code, name, item["category"].split(" > ")[-1],
                               str(quantity), ("%.2f" % price[key]).replace(".", ","), str(cashier)])))
    lines += [line for *_, line in sorted(sold)]
    (HERE / "excel_export.csv").write_bytes("\r\n".join(lines + [""]).encode("cp1252"))


main()
