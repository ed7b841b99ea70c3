import io
import os
import zipfile

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratkit.compressed import compression
from stratkit.errors import InputError
from stratkit.notation.sources import NamedStream, Unreadable, sources

LOGS = (".gsn", ".xml")


def contents(*paths):
    """(name, bytes) of each source, or the text of an error."""
    found = []
    for source in sources([str(path) for path in paths], LOGS):
        if isinstance(source, InputError):
            found.append(str(source))
        else:
            found.append((source.name, source.stream.read(1000)))
    return found


def a_zip(**members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name.replace("_", "."), data)
    return out.getvalue()


def test_folders_are_searched_in_order(tmp_path):
    for name in ("b.gsn", "a/z.XML", "a/b/c.xml", "c.txt", "B.gsn"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / "z.zip").write_bytes(a_zip(b_xml="2", a_gsn="1", c_txt="3"))
    names = ["B.gsn", "a/b/c.xml", "a/z.XML", "b.gsn"]
    expected = [(str(tmp_path / name), name.encode()) for name in names]
    inside = tmp_path / "z.zip"
    expected += [(f"{inside}/a.gsn", b"1"), (f"{inside}/b.xml", b"2")]
    assert contents(tmp_path) == expected
    assert contents(tmp_path / "c.txt") == [(str(tmp_path / "c.txt"), b"c.txt")]


def test_what_a_folder_has_but_cannot_give_is_told(tmp_path):
    (tmp_path / "a.gsn").symlink_to("nowhere")
    os.mkfifo(tmp_path / "b.gsn")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert contents(tmp_path) == [
        f"{tmp_path}/a.gsn: cannot read: No such file or directory",
        f"{tmp_path}/b.gsn: not a regular file",
    ]


def test_only_what_cannot_be_opened_is_unreadable(tmp_path):
    [error] = sources([str(tmp_path / "none")], LOGS)
    assert isinstance(error, Unreadable)
    [error] = sources([str(tmp_path)], LOGS)
    assert isinstance(error, InputError) and not isinstance(error, Unreadable)


def test_members_with_one_name_both_count(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../a.gsn", "1")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("../../a.gsn", "2")
    assert contents(path) == [(f"{path}/../../a.gsn", n) for n in (b"1", b"2")]


def test_unusual_compression_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.gsn", "1")
    what = "zip that cannot be read: compressed by an unusual method"
    assert contents(path) == [f"{path}/a.gsn: {what}"]


def test_a_password_is_told(tmp_path):
    path = tmp_path / "a.zip"
    data = bytearray(a_zip(a_gsn="1"))
    data[6] |= 1  # the flag of encryption in the member's own header and in the list of contents
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)
    [told] = contents(path)
    assert told.startswith(f"{path}/a.gsn: zip that cannot be read: ") and "password" in told


@settings(max_examples=400)
@given(st.data())
def test_damaged_zips_give_sources_or_errors(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "fuzzed.zip"
    whole = bytearray(a_zip(a_gsn="1" * 50, b_xml="2" * 50))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(4, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole[: data.draw(st.integers(4, len(whole)))])
    for source in sources([str(path)], LOGS):
        if isinstance(source, NamedStream):
            try:
                source.stream.read(1000)
            except InputError as error:
                source = error
        if isinstance(source, InputError):
            assert str(source).startswith(str(path))


PLAIN = st.binary(max_size=2000).filter(lambda data: compression(data) is None)


@given(PLAIN, st.integers(1, 300))  # what is compressed is another file
def test_a_source_gives_all_its_bytes(data, step):
    source = NamedStream("s", io.BytesIO(data))
    assert data.startswith(source.head)
    pieces = iter(lambda: source.stream.read(step), b"")
    assert b"".join(pieces) == data
