"""The package and the command line do the same thing."""

import json
from collections import Counter

import pytest
from scipy.stats import chi2

import brr

# Each of the two distribution tests below fails by chance with this probability.
FALSE_ALARM = 1e-7


@pytest.mark.parametrize("mechanism", ["brr", "exponential"])
@pytest.mark.parametrize(
    ("flag", "value"), [("epsilon", 0.3), ("epsilon", 1.7), ("bound", 25.0), ("keep", 0.5)]
)
def test_guarantee(cli, tmp_path, mechanism, flag, value):
    if mechanism == "exponential" and flag == "keep" and not brr.Model.english().certificates:
        pytest.skip("the model has no certificates")
    manifest = tmp_path / "run.json"
    cli(
        "privatize", "--no-context", "--mechanism", mechanism, f"--{flag}", str(value),
        "--manifest", str(manifest), "the film was good",
    )  # fmt: skip
    theirs = json.loads(manifest.read_text())
    ours = brr.Privatizer(mechanism=mechanism, **{flag: value})
    guarantee = ours.guarantee
    assert theirs["model"]["identity"] == ours.model.file_identity
    assert theirs["adjacency"] == ours.adjacency
    assert theirs["epsilon"] == guarantee.epsilon
    assert theirs["metric"] == guarantee.metric
    assert theirs["bound"] == guarantee.bound
    assert theirs["loss_nearest"] == guarantee.nearest
    assert theirs["loss_worst"] == guarantee.worst
    assert theirs["loss_unknown"] == guarantee.unknown_loss
    assert theirs["expected_keep"] == ours.expected_keep
    assert theirs["total_loss"] == ours.total_loss(4)


def test_inspect(cli):
    assert json.loads(cli("inspect", "--json")) == brr.Model.english().inspect()


@pytest.mark.parametrize(("mechanism", "epsilon"), [("brr", 0.8), ("exponential", 0.25)])
def test_distribution(cli, mechanism, epsilon):
    """Two-sample chi-square test over the outputs for one word and an unknown one."""
    rows, line = 8000, "good zzqx"
    text = f"{line}\n" * rows
    theirs = cli(
        "privatize", "-q", "--mechanism", mechanism, "--epsilon", str(epsilon), text=text
    )
    privatizer = brr.Privatizer(mechanism=mechanism, epsilon=epsilon)
    ours = privatizer.privatize_batch([line] * rows)
    for position in (0, 1):
        a = Counter(row.split()[position] for row in theirs.splitlines())
        b = Counter(row.split()[position] for row in ours)
        assert sum(a.values()) == sum(b.values()) == rows
        assert p_value(a, b) > FALSE_ALARM / 2, (position, a.most_common(3), b.most_common(3))


def p_value(a: Counter, b: Counter) -> float:
    """Probability of two samples of equal size differing more than these do.

    Rare outputs go by a hash of the word into bins that are large enough for
    the chi-square approximation.
    """
    bins: dict[object, list[int]] = {}
    for word in a.keys() | b.keys():
        common = a[word] + b[word] >= 100
        entry = bins.setdefault(word if common else sum(word.encode()) % 16, [0, 0])
        entry[0] += a[word]
        entry[1] += b[word]
    statistic = sum((x - y) ** 2 / (x + y) for x, y in bins.values())
    return float(chi2.sf(statistic, max(len(bins) - 1, 1)))


def test_the_distribution_test_can_fail():
    # The statistic is 260 on average, with a standard deviation of 23, and must exceed
    # some 70: it is eight standard deviations above.
    rows = ["good"] * 12_000
    strong = brr.Privatizer(mechanism="brr", epsilon=0.8).privatize_batch(rows)
    weak = brr.Privatizer(mechanism="brr", epsilon=0.9).privatize_batch(rows)
    assert p_value(Counter(strong), Counter(weak)) < FALSE_ALARM
