"""On a real standalone cluster: one master, two workers, on loopback."""

import datetime
import os
import time
from collections import Counter

import pytest

pyspark = pytest.importorskip("pyspark")
MASTER = os.environ.get("BRR_SPARK_MASTER")
if MASTER is None:
    pytest.skip(
        "BRR_SPARK_MASTER names no cluster: run scripts/test-spark", allow_module_level=True
    )

from pyspark.sql import SparkSession  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import brr  # noqa: E402
import brr.spark  # noqa: E402


@pytest.fixture(scope="module")
def spark():
    session = (
        SparkSession.builder.master(MASTER)
        .appName("brr tests")
        .config("spark.executor.cores", "1")
        .config("spark.executor.memory", "1g")
        .config("spark.cores.max", "2")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "64")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(spark):
    rows = [
        (
            i,
            None if i % 10 == 3 else ["The film", "was good", ""][i % 3],
            [f"t{i}", None],
            {"k": i},
            datetime.datetime(2024, 1, 1) + datetime.timedelta(seconds=i),
            i / 8,
        )
        for i in range(1000)
    ]
    schema = "id long, text string, tags array<string>, m map<string,int>, t timestamp, x float"
    return spark.createDataFrame(rows, schema).repartition(4, "id").persist()


def test_there_are_two_workers(spark):
    # Executors report for duty in their own time.
    until = time.monotonic() + 1200
    status = spark.sparkContext._jsc.sc().getExecutorMemoryStatus
    while status().size() < 3 and time.monotonic() < until:
        time.sleep(0.2)
    hosts = status().size()
    assert hosts == 3, "the driver and two executors"


def test_rows_order_and_other_columns_stay(frame):
    private = brr.spark.privatize(frame, "text", mechanism="brr", epsilon=30.0)
    assert private.schema == frame.schema
    before = frame.withColumn("partition", F.spark_partition_id()).collect()
    after = private.withColumn("partition", F.spark_partition_id()).collect()
    assert len(after) == 1000
    assert len({row.partition for row in after}) == 4
    for a, b in zip(before, after):
        kept = a.asDict()
        kept["text"] = None if a.text is None else a.text.lower()
        assert b.asDict() == kept


def test_noise_is_the_executors_own(spark):
    same = spark.range(400).repartition(4).select(F.lit("the film was good").alias("text"))
    private = brr.spark.privatize(same, "text", epsilon=0.05)
    first = [row.text for row in private.collect()]
    second = [row.text for row in private.collect()]
    assert len(set(first)) > 390
    assert len(set(first) & set(second)) < 5, "another action, other noise"


def test_a_task_that_runs_again_does_not_repeat_its_noise(spark, tmp_path):
    folder = str(tmp_path)

    def fail_once(batches):
        """Write what arrives to a file, and fail the first time."""
        import uuid

        from pyspark import TaskContext

        for batch in batches:
            attempt = TaskContext.get().attemptNumber()
            with open(f"{folder}/{attempt}-{uuid.uuid4()}", "w") as out:
                out.write("\n".join(batch.column(0).to_pylist()))
            if attempt == 0:
                raise RuntimeError("a lost executor, say")
            yield batch

    same = spark.range(50).coalesce(1).select(F.lit("the film was good").alias("text"))
    private = brr.spark.privatize(same, "text", epsilon=0.05)
    result = [row.text for row in private.mapInArrow(fail_once, "text string").collect()]
    files = {path.name[0]: path.read_text().splitlines() for path in tmp_path.iterdir()}
    assert set(files) == {"0", "1"}, "the task ran twice"
    assert files["1"] == result
    assert len(set(files["0"]) & set(files["1"])) < 3


def test_a_model_of_ones_own_travels_as_a_broadcast(spark, frame, tmp_path):
    path = tmp_path / "model.brr"
    path.write_bytes(brr.Model.english().to_bytes())
    private = brr.spark.privatize(frame, "text", model=path, mechanism="brr", epsilon=30.0)
    path.unlink()
    counts = Counter(row.text for row in private.select("text").collect())
    assert counts["the film"] == sum(i % 3 == 0 and i % 10 != 3 for i in range(1000))


def test_a_model_that_was_checked_is_checked_where_it_arrives(spark, frame, unchecked):
    with pytest.raises(brr.UncheckedModelError):
        brr.spark.privatize(frame, "text", model=unchecked, keep=0.999)
    unchecked.check()
    private = brr.spark.privatize(frame, "text", model=unchecked, keep=0.999)
    assert private.filter(F.col("text").isNull()).count() == 100


@pytest.mark.parametrize("own", [False, True])
def test_a_language_model_decodes_on_the_executors(spark, frame, own):
    texts = ["the film was good .", "a good film ."]
    context = brr.build_language(texts) if own else True
    private = brr.spark.privatize(frame, "text", mechanism="brr", bound=400.0, context=context)
    counts = Counter(row.text for row in private.select("text").collect())
    assert counts["the film"] == sum(i % 3 == 0 and i % 10 != 3 for i in range(1000))
    assert counts[None] == 100
    noisy = brr.spark.privatize(frame, "text", bound=16.0, context=context)
    lengths = Counter(len((row.text or "").split()) for row in noisy.select("text").collect())
    assert set(lengths) == {0, 2}


def test_schema_and_metadata_of_columns_pass(spark):
    text = F.lit("the film").alias("text", metadata={"source": "clinic"})
    table = spark.range(3).select("id", text)
    private = brr.spark.privatize(table, "text", epsilon=0.05)
    assert private.schema == table.schema
    assert private.schema["text"].metadata == {"source": "clinic"}


def test_distribution_is_that_of_the_package(spark):
    """Two-sample z test on the share of kept words; false alarms below 1e-6."""
    rows = 6000
    same = spark.range(rows).repartition(2).select(F.lit("good").alias("text"))
    private = brr.spark.privatize(same, "text", epsilon=0.8)
    theirs = private.filter(F.col("text") == "good").count()
    ours = brr.Privatizer(epsilon=0.8).privatize_batch(["good"] * rows).count("good")
    spread = (2 * rows * 0.25) ** 0.5
    assert abs(theirs - ours) < 5 * spread


def test_tree_response_draws_on_the_executors_as_here(spark):
    """Two-sample z tests on the shares of two words; false alarms below 1e-6 together."""
    rows, tree = 6000, {"mechanism": "tree", "epsilon": 0.9}
    same = spark.range(rows).repartition(2).select(F.lit("doctor").alias("text"))
    theirs = Counter(row.text for row in brr.spark.privatize(same, "text", **tree).collect())
    ours = Counter(brr.Privatizer(**tree).privatize_batch(["doctor"] * rows))
    near, _ = (ours + theirs - Counter({"doctor": 10**6})).most_common(1)[0]
    for word in ("doctor", near):
        share = (theirs[word] + ours[word]) / (2 * rows)
        spread = (2 * rows * share * (1 - share)) ** 0.5
        assert 0 < share < 1
        assert abs(theirs[word] - ours[word]) < 5.2 * spread, word


@pytest.mark.parametrize("context", [False, True])
def test_a_policy_holds_on_the_executors(spark, context):
    text = "the doctor's son was not in chicago , john"
    same = spark.range(400).repartition(2).select(F.lit(text).alias("text"))
    tree = {"mechanism": "tree", "epsilon": 0.3, "context": context}
    model = brr.Model.english()
    listed = set(model.subset("names+places").words)
    private = brr.spark.privatize(same, "text", private="names+places", **tree)
    rows = [row.text.split(" ") for row in private.collect()]
    kept = text.split(" ")
    for row in rows:
        assert len(row) == len(kept)
        assert row[:6] == kept[:6]
        assert row[7] == ","
        assert {row[6], row[8]} <= listed
    assert len({row[6] for row in rows}) > 1
    own = brr.spark.privatize(same, "text", private=["doctor", "nurse"], **tree)
    drawn = {row.text for row in own.collect()}
    assert drawn <= {text, text.replace("doctor", "nurse")}
    public = brr.spark.privatize(same, "text", public="function-words", **tree)
    words = set(model.words) - set(model.subset("function-words").words)
    for row in public.collect():
        found = row.text.split(" ")
        assert (found[0], found[3:6]) == ("the", kept[3:6])
        assert found[1].endswith("'s")
        assert {found[1][:-2], found[2], found[6], found[8]} <= words


def test_several_columns_by_name_or_as_columns(spark):
    rows = [("The film", 1, "Was GOOD", "Evening")] * 20
    table = spark.createDataFrame(rows, "title string, id long, Body string, `a.b` string")
    kept = ("the film", 1, "was good", "evening")
    for columns in (
        ["title", "Body", "a.b"],
        ("TITLE", "body", "A.B"),
        [F.col("title"), F.col("body"), F.col("`a.b`")],
        [table.title, table["Body"], table["`a.b`"], "title"],
    ):
        private = brr.spark.privatize(table, columns, mechanism="brr", epsilon=30.0)
        assert private.schema == table.schema
        assert {tuple(row) for row in private.collect()} == {kept}
    private = brr.spark.privatize(table, F.col("title"), mechanism="brr", epsilon=30.0)
    assert {tuple(row) for row in private.collect()} == {("the film", *rows[0][1:])}
    for wrong in (F.upper("title"), F.col("title").alias("Body"), 7):
        with pytest.raises(brr.InputError, match=r"no column|withColumn|found int"):
            brr.spark.privatize(table, wrong, epsilon=1.0)
    with pytest.raises(brr.InputError, match="at least one"):
        brr.spark.privatize(table, [], epsilon=1.0)


def test_names_are_told_apart_as_spark_does(spark):
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        table = spark.createDataFrame([("The film", "Good")], "text string, TEXT string")
        private = brr.spark.privatize(table, "TEXT", mechanism="brr", epsilon=30.0)
        assert tuple(private.first()) == ("The film", "good")
        with pytest.raises(brr.InputError, match="no column"):
            brr.spark.privatize(table, "Text", epsilon=1.0)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    with pytest.raises(brr.InputError, match="2 columns"):
        brr.spark.privatize(table, "TEXT", epsilon=1.0)


def test_mistakes_are_told_before_any_task_runs(frame):
    for column in ("nothing", "id", "tags"):
        with pytest.raises(brr.InputError, match=column):
            brr.spark.privatize(frame, column, epsilon=1.0)
    with pytest.raises(brr.BudgetError):
        brr.spark.privatize(frame, "text", epsilon=-1.0)
    with pytest.raises(brr.FileError):
        brr.spark.privatize(frame, "text", model="missing.brr", epsilon=1.0)
    with pytest.raises(brr.FileError):
        brr.spark.privatize(frame, "text", context="missing.lm", epsilon=1.0)
    doubled = frame.select("text", "text")
    with pytest.raises(brr.InputError, match="2 columns"):
        brr.spark.privatize(doubled, "text", epsilon=1.0)
    with pytest.raises(brr.BudgetError, match="epsilon=, bound= and keep="):
        brr.spark.privatize(frame, "text")


def test_an_executor_with_another_model_refuses(spark, frame):
    plan = brr.spark._Plan([1], {"epsilon": 1.0}, "0" * 64, 1.0, False, None)
    model = brr.Model.english().file_identity
    epsilon = brr.Privatizer(epsilon=1.0).guarantee.epsilon
    other = brr.spark._Plan([1], {"epsilon": 1.0}, model, epsilon, False, None, "0" * 64)
    for wrong in (plan, other):
        work = lambda batches, wrong=wrong: brr.spark._privatize_batches(wrong, batches)  # noqa: E731
        with pytest.raises(Exception, match="install the same version"):
            frame.mapInArrow(work, frame.schema).collect()
