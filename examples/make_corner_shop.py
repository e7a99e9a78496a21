#!/usr/bin/env python3
"""Writes corner_shop.csv and corner_shop_items.csv: an invented shop, small enough to read.

Sixty customers of four kinds (families with a baby, coffee drinkers, cooks, students) come about
once a week for three months. Each kind has its own pairs of things that go together, so that
personal relationships can be seen in the data. Run it to get the same files again.
"""
import csv
import datetime
import random

TREE = {
    'FOOD > BAKERY': ['Rye bread', 'White rolls', 'Croissant', 'Cheese cake'],
    'FOOD > DAIRY': ['Milk', 'Oat drink', 'Butter', 'Yoghurt', 'Gouda', 'Parmesan'],
    'FOOD > FRUIT': ['Apples', 'Bananas', 'Lemons', 'Grapes'],
    'FOOD > VEGETABLES': ['Tomatoes', 'Onions', 'Garlic', 'Potatoes', 'Basil', 'Salad'],
    'FOOD > PANTRY': ['Spaghetti', 'Tomato sauce', 'Rice', 'Olive oil', 'Instant noodles', 'Muesli'],
    'FOOD > SWEETS': ['Dark chocolate', 'Oat biscuits', 'Gummy bears', 'Crisps'],
    'DRINKS > HOT': ['Coffee beans', 'Coffee filters', 'Green tea'],
    'DRINKS > COLD': ['Orange juice', 'Cola', 'Beer', 'Red wine', 'Mineral water'],
    'HOME > BABY': ['Nappies', 'Baby wipes', 'Baby porridge', 'Baby lotion'],
    'HOME > CLEANING': ['Laundry powder', 'Washing-up liquid', 'Sponges'],
    'HOME > PAPER': ['Kitchen roll', 'Toilet paper'],
}
PAIRS = {
    'family': [('Nappies', 'Baby wipes'), ('Baby porridge', 'Bananas'), ('Milk', 'Muesli'),
               ('Nappies', 'Laundry powder')],
    'coffee': [('Coffee beans', 'Oat drink'), ('Coffee beans', 'Coffee filters'),
               ('Croissant', 'Butter'), ('Dark chocolate', 'Coffee beans')],
    'cook': [('Spaghetti', 'Parmesan'), ('Tomatoes', 'Basil'), ('Onions', 'Garlic'),
             ('Red wine', 'Gouda'), ('Lemons', 'Olive oil')],
    'student': [('Instant noodles', 'Cola'), ('Crisps', 'Beer'), ('Spaghetti', 'Tomato sauce'),
                ('Milk', 'Oat biscuits')],
}


def main():
    rng = random.Random(20220814)
    names = [name for group in TREE.values() for name in group]
    code = {name: f'{1000 + 7 * i}' for i, name in enumerate(names)}
    with open('corner_shop_items.csv', 'w', newline='') as f:
        out = csv.writer(f, lineterminator='\n')
        out.writerow(['item', 'name', 'category'])
        out.writerows([code[n], n, path] for path, group in TREE.items() for n in group)
    with open('corner_shop.csv', 'w', newline='') as f:
        out = csv.writer(f, lineterminator='\n')
        out.writerow(['user', 'session', 'time', 'item'])
        receipt = 70001
        for customer in range(60):
            kind = list(PAIRS)[customer % 4]
            habits = rng.sample(names, 6)
            day = datetime.date(2024, 1, 1) + datetime.timedelta(days=rng.randrange(7))
            while day < datetime.date(2024, 4, 1):
                basket = []
                for pair in rng.sample(PAIRS[kind], rng.choice([1, 1, 2])):
                    basket += pair if rng.random() < .85 else pair[:1]
                basket += rng.sample(habits, rng.choice([0, 1, 1, 2]))
                basket += rng.sample(names, rng.choice([0, 0, 1, 2]))
                for name in dict.fromkeys(basket):
                    out.writerow([f'K{customer + 1:02}', receipt, day, code[name]])
                receipt += 1
                day += datetime.timedelta(days=rng.choice([4, 6, 7, 7, 8, 11]))


if __name__ == '__main__':
    main()
