"""The pages of this experiment: tables, sentences side by side, and a chart."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import lab  # noqa: E402

CALLED = {"brr-256": "BRR, 256 bits", "brr-64": "BRR, 64 bits", "exponential": "exponential, 256 bits", "k-ary": "k-ary response", "tree": "tree response"}
COLOURS = {"ours": "#0072b2", "decoded": "#56b4e9", "mldp": "#d55e00", "pypantera": "#e69f00", "diffractor": "#7a4b9a"}


def called(row):
    name = CALLED.get(row["who"], f"`{row['who']}`")
    return name + (", decoded" if row["decoded"] else "")


def share(value):
    return "-" if value is None else f"{value:.3f}"


def interval(row, value):
    """Half of an interval of 95 %, by the number of words."""
    words = row["attack"]["all"]["words"] if row.get("attack") else row["words"]
    return 1.96 * (value * (1 - value) / max(words, 1)) ** 0.5


def one_table(rows):
    cells = []
    for row in rows:
        attack = row["attack"]
        names = attack["names"]
        how = {"formula": "", "learned": " ¹"}.get(row.get("channel"), "")
        if row["decoded"]:
            # He may also take what he sees.
            value = max(attack["all"]["named"], row["stayed"])
        else:
            value = attack["all"]["named"]
        cells.append([called(row), f"{row['setting']:g}", f"{row['texts']:,}", share(row["stayed"]), share(row["similarity"]),
                      f"**{value:.3f}** ± {interval(row, value):.3f}{how}",
                      f"{names['named']:.2f} of {names['words']}" if names else "-", share(row["accuracy"]),
                      share(row["unknown_in_clear"]), share(row["written_in_clear"])])
    head = ["mechanism", ">setting", ">texts", ">words kept", ">similarity", ">**attacker: all words**", ">attacker: names", ">nearest centroid",
            ">unknown words in clear", ">capitals and digits in clear"]
    return lab.table(head, cells)


def cost_table(rows):
    cells = []
    for row in rows:
        cells.append([called(row), f"{row['setting']:g}", f"{row['start']:.1f} s", f"{1e3 * row['seconds_a_word']:,.3g} ms", f"{row['megabytes']:,.0f} MB"])
    return lab.table(["mechanism", ">setting", ">start-up", ">time a word", ">resident"], cells)


def audited():
    """What the audit found of mechanisms, by name."""
    record = json.loads((pathlib.Path(__file__).resolve().parents[1] / "audit-peers/results.json").read_text(encoding="utf-8"))
    return {row["who"]: row for row in record["results"] if "error" not in row}


def by_audit(row, found):
    """The line of a mechanism without a formula: a lower bound, from draws."""
    disjoint = any(check["name"] == "supports" and check["verdict"] == "infinite loss observed" for check in found["checks"])
    bound = found["epsilon_at_least"]
    shown = "infinite, observed" if disjoint else "no epsilon holds" if bound is None else f"epsilon at least {bound:.2f}"
    return [called(row), f"{found['epsilon']:g}", f"{found['draws']:,}", "", "", "", f"{shown} ²", f"epsilon {found['epsilon']:g}",
            "-" if bound is None else f"at least {bound / found['epsilon']:.2f} ²"]


def worst_table(rows):
    cells, audits, seen = [], audited(), set()
    for row in rows:
        check, worst = row.get("check"), row.get("worst")
        if not check:
            if "/" in row["who"] and row["who"] in audits and row["who"] not in seen:
                seen.add(row["who"])
                cells.append(by_audit(row, audits[row["who"]]))
            continue
        off = f"{check['deviations']:+.1f}" if check["deviations"] is not None else f"{check['excluded']} excluded"
        shown = lambda value, form: "infinite" if value is None else form.format(value)
        # Records without the number of pairs compared had pairs of CusText for which it claims nothing.
        if worst.get("compared", 0 if row["who"] == "pypantera/CusText" else 1):
            losses = [shown(worst["loss"], "{:.1f}"), f"{worst['claimed'] or 0:.1f}", shown(worst["most_of_claim"], "{:.2f}")]
        else:
            # The largest of all pairs, of which nothing is claimed.
            losses = [shown(worst.get("largest", worst["loss"]), "{:.1f}"), "nothing", "-"]
        cells.append([called(row), f"{row['setting']:g}", f"{check['draws']:,}", share(check["stayed"]), share(check["expected"]), off,
                      *losses])
    head = ["mechanism", ">setting", ">draws", ">stayed", ">by the formula", ">deviations", ">worst loss", ">claimed for that pair", ">most of what is claimed"]
    return lab.table(head, cells)


def trained_table(rows):
    found, names = {}, list(dict.fromkeys(row["data"] for row in rows))
    for row in rows:
        key = ("original text", "") if row["who"] == "original text" else (called(row), f"{row['setting']:g}")
        found.setdefault(key, {})[row["data"]] = row["accuracy"]
    cells = [[*key, *(share(of.get(name)) for name in names)] for key, of in found.items()]
    return lab.table(["mechanism", ">setting", *(f">{name}" for name in names)], cells)


def promise_table(rows):
    cells = [[CALLED[row["who"]], f"{row['setting']:g}", f"{row['loss_per_word']:.2f}", "" if row["bound"] is None else f"{row['bound']:.2f}", row["metric"]]
             for row in rows]
    return lab.table(["mechanism", ">epsilon", ">loss between the worst two words", ">bound", "metric"], cells)


def sentences(record):
    """A page of sentences side by side."""
    found, lines = record["results"], ["# The same sentences through all mechanisms", "",
        "Written by `experiments/field/run`: sentences of our own, each mechanism at its middle setting in [the table](README.md).", ""]
    for number, original in enumerate(record["settings"]["sentences"]):
        cells = [["*original*", "", original]]
        cells += [[called(row), f"{row['setting']:g}", row["texts"][number].replace("|", "/")] for row in found["sentences"]]
        lines += [lab.table(["mechanism", ">setting", "text"], cells), ""]
    return "\n".join(lines)


def svg(rows, title):
    """Similarity against what the attacker names."""
    width, height, left, top, right, bottom = 860, 480, 60, 40, 250, 50
    x = lambda value: left + value * (width - left - right)
    y = lambda value: height - bottom - value * (height - top - bottom)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" font-family="sans-serif" font-size="12">',
           f"<title>{title}</title>", f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
           f'<text x="{left}" y="20" fill="#222222" font-size="14">{title}</text>']
    for k in (0, 0.25, 0.5, 0.75, 1):
        out.append(f'<path d="M{left} {y(k):.1f}H{width - right}" stroke="#dddddd"/><text x="{left - 8}" y="{y(k) + 4:.1f}" text-anchor="end" fill="#444444">{k:g}</text>')
        out.append(f'<text x="{x(k):.1f}" y="{height - bottom + 18}" text-anchor="middle" fill="#444444">{k:g}</text>')
    out.append(f'<text x="{x(0.5):.1f}" y="{height - 8}" text-anchor="middle" fill="#222222">share of words that the attacker names</text>')
    out.append(f'<text x="14" y="{y(0.5):.1f}" transform="rotate(-90 14 {y(0.5):.1f})" text-anchor="middle" fill="#222222">similarity of the text</text>')
    lines = {}
    for row in rows:
        named = row["attack"]["all"]["named"]
        lines.setdefault((called(row), row["who"], row["decoded"]), []).append((max(named, row["stayed"]) if row["decoded"] else named, row["similarity"]))
    shapes = ["M-4 0A4 4 0 1 0 4 0A4 4 0 1 0 -4 0", "M-4 -4H4V4H-4Z", "M0 -5L5 4H-5Z", "M-5 0L0 -5L5 0L0 5Z", "M-4 -1H-1V-4H1V-1H4V1H1V4H-1V1H-4Z",
              "M0 5L5 -4H-5Z", "M-5 -2H5V2H-5Z"]
    count = {}
    for number, ((name, who, decoded), points) in enumerate(lines.items()):
        group = who.split("/")[0] if "/" in who else "decoded" if decoded else "ours"
        count[group] = count.get(group, -1) + 1
        colour, shape = COLOURS[group], shapes[count[group] % len(shapes)]
        points.sort()
        path = "L".join(f"{x(a):.1f} {y(max(b, 0)):.1f}" for a, b in points)
        out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-opacity="0.4"/>')
        mark = lambda a, b: f'<path transform="translate({a:.1f} {b:.1f})" d="{shape}" fill="{colour}"/>'
        out += [mark(x(a), y(max(b, 0))) for a, b in points]
        at = top + 16 * number + 6
        out.append(mark(width - right + 20, at) + f'<text x="{width - right + 32}" y="{at + 4}" fill="#222222">{name.replace("`", "")}</text>')
    return "\n".join(out) + "\n</svg>\n"


def render(record, into=None):
    found = record["results"]
    names = found["data"]
    rows = lambda data: [row for row in found["rows"] if row["data"] == data]
    tables = {}
    for number, name in enumerate(["first", "second"]):
        tables[name] = one_table(rows(names[number])) if number < len(names) else "Not measured in this run."
    first, settings = rows(names[0]), record["settings"]
    tables["data"] = (f"{', '.join(names)}: {settings['texts']:,} texts each; {settings['attacked']:,} words of each release are attacked.")
    tables["data"] += "".join(f"\n\nMeasured earlier, by `{run['command']}` (commit {run['commit']}, {run['date']}): {', '.join(run['names'])}." for run in found.get("earlier", []))
    tables["cost"] = cost_table(first)
    tables["worst"] = worst_table(first)
    tables["trained"] = trained_table(found["trained"]) if found["trained"] else "Not measured in this run."
    tables["promised"] = promise_table(found["promised"])
    tables["failed"] = "\n".join(f"- {name}: {why}" for name, why in found["failed"].items()) or "All of them ran."
    if into:
        (into / "sentences.md").write_text(sentences(record), encoding="utf-8")
        for number, name in enumerate(names):
            (into / f"field-{number + 1}.svg").write_text(svg(rows(name), f"Similarity against the attacker: {name}"), encoding="utf-8")
    return tables
