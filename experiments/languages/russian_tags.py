"""Writes the tags of Russian words on standard input, one on each line, as JSON: those of OpenCorpora's dictionary, by
pymorphy3. Runs in an environment that has it. There are at most 64, as `brr build --tags` wants."""
import json
import sys

import pymorphy3

CASES = {"nomn": "nomn", "gent": "gent", "gen2": "gent", "datv": "datv", "accs": "accs", "ablt": "ablt", "loct": "loct",
         "loc2": "loct"}
KINDS = {"NOUN": "noun", "ADJF": "adjective", "PRTF": "adjective", "ADJS": "short form", "PRTS": "short form", "VERB": "verb",
         "INFN": "infinitive", "ADVB": "adverb"}


def tags(tag):
    """Part of speech with case, person, and number or gender."""
    kind = KINDS.get(str(tag.POS), "other")
    forms = ["plural"] if tag.number == "plur" else [tag.gender] if tag.gender else ["masc", "femn"]
    if kind in ("noun", "adjective"):
        return [f"{kind} {form} {CASES[tag.case]}" for form in forms if tag.case in CASES]
    if kind != "verb":
        return [kind]
    if tag.tense == "past":
        return [f"verb past {form}" for form in forms]
    return [f"verb {tag.person or 'imperative'} {tag.number}"]


analyzer = pymorphy3.MorphAnalyzer(lang="ru")
words = sys.stdin.read().split("\n")
known = (word for word in words if word and analyzer.word_is_known(word))
all_of = lambda word: sorted({one for parse in analyzer.parse(word) for one in tags(parse.tag)})
print(json.dumps({word: all_of(word) for word in known}, ensure_ascii=False))
