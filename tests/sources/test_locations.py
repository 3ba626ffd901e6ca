"""Files in an S3 store (a real server on this machine), or named by file://."""

import gzip
import shutil
import socket

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tallybayes as tb
from tallybayes.errors import TallyError
from tallybayes.sources import is_path, read
from tallybayes.sources.locations import name_of
from tests.objects import KEY, SECRET, serving

TABLE = pa.table({"a": [1, 2, 3, 4], "b": ["w", "x", "y", "z"]})


@pytest.fixture
def bucket(tmp_path):
    folder = tmp_path / "store" / "bucket"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture
def store(bucket):
    with serving(bucket.parent) as made:
        yield made


@pytest.fixture(params=["s3", "file"])
def uri_of(request, bucket):
    """Return the URI of something in the bucket, as s3:// and as file://."""
    if request.param == "file":
        yield lambda path: (bucket.parent / path).as_uri().replace("%2A", "*")
    else:
        with serving(bucket.parent) as made:
            yield made.uri


def write(path, table=TABLE):
    path.parent.mkdir(parents=True, exist_ok=True)
    ending = path.suffix
    if ending == ".parquet":
        pq.write_table(table, path, row_group_size=2)
    elif ending == ".arrow":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as out:
            out.write_table(table, max_chunksize=3)
    elif ending == ".ipc":
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
            out.write_table(table)
    else:
        rows = table.to_pylist()
        text = {
            ".csv": "a,b\n" + "".join(f"{row['a']},{row['b']}\n" for row in rows),
            ".tsv": "a\tb\n" + "".join(f"{row['a']}\t{row['b']}\n" for row in rows),
            ".jsonl": "".join(f'{{"a": {row["a"]}, "b": "{row["b"]}"}}\n' for row in rows),
            ".arff": "@relation r\n@attribute a numeric\n@attribute b string\n@data\n"
            + "".join(f"{row['a']},{row['b']}\n" for row in rows),
        }
        compressed = path.name.endswith(".gz")
        content = text[path.suffixes[-2] if compressed else ending].encode()
        path.write_bytes(gzip.compress(content) if compressed else content)
    return path


@pytest.mark.parametrize(
    "name", ["a.csv", "a.tsv", "a.csv.gz", "a.jsonl", "a.jsonl.gz", "a.arff", "a.parquet", "a.arrow", "a.ipc"]
)
def test_a_file_of_each_kind_is_read_from_a_store_as_from_here(bucket, uri_of, reads_as, name):
    write(bucket / name)
    source = reads_as(uri_of(f"bucket/{name}"), TABLE)
    assert source.again


def test_a_name_may_have_signs_that_no_uri_has(bucket, store, reads_as):
    write(bucket / "a b" / "100% [x].csv")
    reads_as(store.uri("bucket/a b/100% [x].csv"), TABLE)


def test_file_uris_are_unquoted(tmp_path, reads_as):
    path = write(tmp_path / "a b" / "100%.csv")
    assert "%20" in path.as_uri()
    reads_as(path.as_uri(), TABLE)


def test_a_glob_is_that_of_this_machine(bucket, uri_of, reads_as):
    write(bucket / "days" / "1.csv", TABLE[:2])
    write(bucket / "days" / "2.csv", TABLE[2:])
    write(bucket / "days" / "deep" / "3.csv", TABLE[:1])
    write(bucket / "days" / ".hidden.csv", TABLE)
    reads_as(uri_of("bucket/days/*.csv"), TABLE)
    reads_as(uri_of("bucket/*/*.csv"), TABLE)
    reads_as(uri_of("bucket/**/3.csv"), TABLE[:1])
    reads_as(uri_of("bucket/**/*.csv"), pa.concat_tables([TABLE, TABLE[:1]]))


def test_a_list_may_mix_places(bucket, store, tmp_path, reads_as):
    write(bucket / "1.csv", TABLE[:2])
    here = write(tmp_path / "2.csv", TABLE[2:])
    source = reads_as([store.uri("bucket/1.csv"), here], TABLE)
    assert source.name == "2 files"
    assert is_path(["s3://bucket/days/", "s3://bucket/a.csv"])


@pytest.mark.parametrize("pattern", ["bucket/days", "bucket/days/", "bucket/days/*/*.parquet", "bucket/**/*.parquet"])
def test_directories_named_key_value_are_columns(bucket, uri_of, reads_as, pattern):
    write(bucket / "days" / "year=2020" / "1.parquet", TABLE[:2])
    write(bucket / "days" / "year=2021" / "1.parquet", TABLE[2:])
    write(bucket / "days" / "_temporary" / "1.parquet", TABLE[2:]) if "*" not in pattern else None
    reads_as(uri_of(pattern), TABLE.append_column("year", pa.array([2020, 2020, 2021, 2021])))


def test_directories_named_key_value_are_columns_of_csv_too(bucket, uri_of, reads_as):
    write(bucket / "kind=x%2Fy" / "1.csv", TABLE[:2])
    write(bucket / "kind=z" / "1.csv", TABLE[2:])
    reads_as(uri_of("bucket/kind=*/*.csv"), TABLE.append_column("kind", pa.array(["x/y", "x/y", "z", "z"])))


def test_a_schema_that_differs_names_the_column_and_the_file(bucket, store, sentence):
    write(bucket / "days" / "1.parquet")
    write(bucket / "days" / "2.parquet", pa.table({"a": ["x"], "b": ["y"]}))
    assert sentence(store.uri("bucket/days")) == (
        "s3://bucket/days/2.parquet, column 'a': wanted whole numbers, as in s3://bucket/days/1.parquet, got text."
        " Make them one type."
    )
    write(bucket / "days" / "2.parquet", TABLE.select(["a"]))
    assert sentence(store.uri("bucket/days")) == (
        "s3://bucket/days/2.parquet: wanted the columns of s3://bucket/days/1.parquet, got none named 'b'."
    )


def test_columns_that_are_not_asked_for_are_not_fetched(bucket, store):
    wide = pa.table({f"c{k}": pa.array(range(k, 100_000 + k)) for k in range(10)})
    pq.write_table(wide, bucket / "wide.parquet", compression=None, use_dictionary=False, row_group_size=20_000)
    size = (bucket / "wide.parquet").stat().st_size
    [*_] = read(store.uri("bucket/wide.parquet"), columns=["c3"])
    assert store.sent < size / 4


def test_columns_that_a_model_ignores_are_not_fetched(bucket, store):
    wide = {f"c{k}": pa.array(range(k, 100_000 + k)) for k in range(10)}
    path = bucket / "wide.parquet"
    pq.write_table(pa.table(wide | {"y": ["no", "yes"] * 50_000}), path, compression=None, use_dictionary=False)
    model = tb.fit(store.uri("bucket/wide.parquet"), "y", events={"c[1-9]": "ignore"}, where="c2 >= 0")
    assert store.sent < path.stat().st_size / 2
    assert model == tb.fit(path, "y", events={"c[1-9]": "ignore"})
    assert model == tb.fit(path, ["no", "yes"] * 50_000, events={"c[1-9]": "ignore", "y": "ignore"})


def test_a_model_of_a_store_is_that_of_this_machine_to_the_byte(bucket, store, tmp_path):
    path = write(bucket / "a.parquet", pa.table({"a": [1, 2, 3, 4], "y": ["no", "yes", "no", "yes"]}))
    tb.fit(store.uri("bucket/a.parquet"), "y").save(tmp_path / "there.tally")
    tb.fit(path, "y").save(tmp_path / "here.tally")
    assert (tmp_path / "there.tally").read_bytes() == (tmp_path / "here.tally").read_bytes()
    assert SECRET.encode() not in (tmp_path / "there.tally").read_bytes()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("bucket/b.csv", "s3://bucket/b.csv: wanted a file, got none at that path."),
        ("nowhere/b.csv", "s3://nowhere/b.csv: wanted a file, got none at that path."),
        ("bucket/z*.csv", "s3://bucket/z*.csv: wanted files that match, got none."),
        (
            "bucket/empty",
            "s3://bucket/empty: wanted a directory of data files, got one without any."
            " Pass a glob for files of another kind, such as 'directory/*.csv'.",
        ),
        ("bucket/bad.csv", "s3://bucket/bad.csv: wanted 2 values in every row, got 1 in row 1: '1'. Fix the line, or"),
        (
            "bucket/bad.parquet",
            "s3://bucket/bad.parquet: wanted a readable parquet file, got one that cannot be read (",
        ),
        ("bucket/bad.arrow", "s3://bucket/bad.arrow: wanted a readable arrow file, got one that cannot be read ("),
        ("bucket/bad.csv.gz", "s3://bucket/bad.csv.gz: wanted a readable csv file, got one that cannot be read ("),
        ("bucket/a.doc", "s3://bucket/a.doc: wanted a file ending in .csv, "),
    ],
)
def test_errors_of_a_store_do_not_show_the_secret(bucket, store, sentence, path, said):
    (bucket / "empty").mkdir()
    (bucket / "empty" / "a.doc").write_text("no table")
    for name in ("bad.csv", "bad.parquet", "bad.arrow", "bad.csv.gz", "a.doc"):
        (bucket / name).write_bytes(b"a,b\n1\n" if name == "bad.csv" else b"ARROW1 and no more of it")
    message = sentence(store.uri(path))
    assert message.startswith(said)
    assert not any(word in message for word in (KEY, SECRET, "qzhushed", "127.0.0.1"))


def test_a_denied_read_is_reported(bucket, store, sentence):
    write(bucket / "a.csv")
    message = sentence(store.uri("bucket/a.csv", key="stranger"))
    assert message.startswith("s3://bucket/a.csv: wanted a file that can be reached, got none (")
    assert "ACCESS_DENIED" in message
    assert message.endswith("). Check its name, the credentials and the network.")
    assert "stranger" not in message


def test_an_unreachable_store_fails_soon_with_a_sentence(sentence):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for uri in (
        f"s3://me:secret@bucket/a.csv?endpoint_override=127.0.0.1:{port}&scheme=http&region=x",
        f"gs://anonymous@bucket/a.csv?endpoint_override=127.0.0.1:{port}&scheme=http&retry_limit_seconds=1",
    ):
        message = sentence(uri)
        assert message.startswith(f"{uri[:2]}://bucket/a.csv: wanted a file that can be reached, got none (")
        assert "secret" not in message


def test_a_store_that_disappears_midway_is_reported(bucket, sentence):
    write(bucket / "a.parquet")
    with serving(bucket.parent) as made:
        source = read(made.uri("bucket/a.parquet"))
        shutil.rmtree(bucket)
        with pytest.raises(tb.errors.BadData, match=r"^s3://bucket/a.parquet: wanted a readable parquet file, got one"):
            list(source)


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("https://example.org/a.csv", "https://example.org/a.csv: wanted a path, or a URI of s3, gs, "),
        ("https://me:hush@example.org/a.csv?sign=hush", "https://example.org/a.csv: wanted a path, or a URI of "),
        ("ftp://example.org/a.csv", "ftp://example.org/a.csv: wanted a path, or a URI of s3, gs, "),
        ("s3:///a.csv", "s3:///a.csv: wanted a bucket, as in s3://bucket/file.csv, got none."),
        ("s3://me:hu/sh@bucket/a.csv", "s3://...: wanted a URI such as s3://key:secret@bucket/file.csv, got an un"),
        ("s3://me:hu sh@bucket/a.csv", "s3://bucket/a.csv: wanted a file that can be reached, got none (its address"),
        ("s3://me:hush@bucket/a.csv?hush=hush", "s3://bucket/a.csv: wanted a file that can be reached, got none ("),
    ],
)
def test_a_bad_uri_is_reported_without_its_secret(uri, said):
    with pytest.raises(TallyError) as caught:
        read(uri)
    assert str(caught.value).startswith(said)
    assert not any(word in str(caught.value) for word in ("hu/", "hu ", "hush"))


def test_the_name_of_an_azure_uri_keeps_its_container():
    assert name_of("abfs://box:secret@me.dfs.core.windows.net/a.csv") == "abfs://box@me.dfs.core.windows.net/a.csv"
