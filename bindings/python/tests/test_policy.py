"""Public and private words, models of some words, and capital letters."""

import json
import pickle

import pytest

import brr

TREE = {"mechanism": "tree", "epsilon": 0.8}
TEXT = "The DOCTOR told Susan that she was not well. I am sorry."


def words(text):
    return [word.strip(".,") for word in text.lower().split()]


@pytest.fixture(scope="module")
def function_words():
    privatizer = brr.Privatizer(public="function-words", **TREE)
    return {w for w in brr.Model.english().words if privatizer.trace(w).public}


def test_public_words_stay_and_private_ones_become_private_words(function_words):
    assert {"the", "that", "she", "not", "i", "am"} <= function_words
    assert not {"will", "may", "us", "doctor"} & function_words
    for context in [False, True]:
        privatizer = brr.Privatizer(public="function-words", context=context, **TREE)
        for _ in range(20):
            private = privatizer.privatize_counted(TEXT)
            for before, after in zip(words(TEXT), words(private.text), strict=True):
                assert (
                    (before == after)
                    if before in function_words
                    else after not in function_words
                )
        assert (private.tokens, private.public) == (12, 7)
        assert private.loss == privatizer.total_loss(5)
        assert private.text == private.text.lower()
        assert "public list function-words" in privatizer.adjacency


def test_only_listed_words_are_private():
    privatizer = brr.Privatizer(private=["Doctor", "nurse"], mechanism="k-ary", epsilon=0.1)
    found = {privatizer.privatize("the doctor xyzzy is in").split()[1] for _ in range(100)}
    assert found == {"doctor", "nurse"}
    assert privatizer.private == ["Doctor", "nurse"]
    both = brr.Privatizer(private="names+places", **TREE)
    assert both.privatize("the film was good") == "the film was good"
    outcomes = both.outcomes("susan")
    assert outcomes.likely[0].word == "susan"
    with pytest.raises(brr.InputError):
        both.outcomes("film")


def test_lists_may_hold_words_of_the_model_alone(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# ours\ndoctor\nqzxjsecret\n")
    for wrong in [path, ["doctor", "susan", "qzxjsecret"]]:
        with pytest.raises(brr.InputError, match="line") as error:
            brr.Privatizer(public=wrong, **TREE)
        assert "qzxj" not in str(error.value)
    with pytest.raises(brr.ArgumentError, match="function-words") as error:
        brr.Privatizer(public="qzxj", **TREE)
    assert "qzxj" not in str(error.value)
    with pytest.raises(brr.ArgumentError):
        brr.Privatizer(public="names", private="places", **TREE)
    with pytest.raises(brr.ArgumentError):
        brr.Privatizer(public=7, **TREE)


def test_a_list_travels(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("doctor\nnurse\n")
    for given in ["function-words", path, ["the", "of"]]:
        privatizer = brr.Privatizer(public=given, case="sentence", **TREE)
        again = pickle.loads(pickle.dumps(privatizer))
        assert (again.public, again.case) == (privatizer.public, "sentence")
        assert again.adjacency == privatizer.adjacency


def test_the_record_of_a_file_names_the_list(tmp_path):
    (tmp_path / "in.txt").write_text(TEXT + "\n")
    options = {"public": "function-words", "manifest": tmp_path / "run.json", **TREE}
    brr.privatize_file(tmp_path / "in.txt", tmp_path / "out.txt", **options)
    policy = json.loads((tmp_path / "run.json").read_text())["policy"]
    assert (policy["list"], policy["public_tokens"]) == ("function-words", 7)
    privatizer = brr.Privatizer(public="function-words", **TREE)
    counted = privatizer.privatize_batch_counted([TEXT, None])
    assert privatizer.manifest(counted)["policy"]["identity"] == policy["identity"]
    with pytest.raises(brr.BrrError):
        brr.estimate([TEXT], privatizer)


def test_capital_letters_depend_on_the_output_alone():
    privatizer = brr.Privatizer(private=["doctor", "nurse"], case="sentence", **TREE)
    for text in ["susan is in paris. was i?", "SUSAN Is In PARIS. WAS I?"]:
        assert privatizer.privatize(text) == "Susan is in Paris. Was I?"


def test_a_subset_is_a_model_of_its_own():
    model = brr.Model.english()
    cities = model.subset(["Paris", "london", "Rome", "berlin"])
    assert sorted(cities.words) == ["berlin", "london", "paris", "rome"]
    assert cities.identity != model.identity
    assert cities.standing == "unchecked"
    assert not cities.certificates
    privatizer = brr.Privatizer(cities, mechanism="k-ary", epsilon=1)
    assert privatizer.privatize("Rome") in cities.words
    names = model.subset("names")
    assert "susan" in names.words
    with pytest.raises(brr.InputError):
        model.subset(["qzxj"])


def test_the_default_mechanism_is_certified_on_the_private_words():
    privatizer = brr.Privatizer(private=["doctor", "nurse", "lawyer", "baker"], keep=0.6)
    assert 0.5 < privatizer.expected_keep <= 0.6
    with pytest.raises(brr.BudgetError):
        brr.Privatizer(private=["doctor", "nurse"], mechanism="brr", keep=0.6)
