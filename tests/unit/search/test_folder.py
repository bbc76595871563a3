"""A run's folder: one writer, no foreign code, nothing half written, clear errors."""

from __future__ import annotations

import threading
from pathlib import Path

import msgspec
import pytest

from surefoot.errors import RunError, UsageError
from surefoot.evaluation.learning import new_manifest
from surefoot.memory.folder import FORMAT
from surefoot.search.folder import Manifest, RunFolder, merge_library, read_library
from surefoot.search.settings import Settings


@pytest.fixture
def manifest(desk) -> Manifest:
    return new_manifest(desk, "skills", [101], [1], 0, Settings())


@pytest.fixture
def run(manifest: Manifest, tmp_path: Path) -> Path:
    """A run that has begun."""
    with RunFolder.create(tmp_path / "run", manifest):
        pass
    return tmp_path / "run"


def rewrite(run: Path, **fields: object) -> None:
    data = msgspec.json.decode((run / "manifest.json").read_bytes())
    (run / "manifest.json").write_bytes(msgspec.json.encode({**data, **fields}))


def test_a_run_keeps_its_manifest(run, manifest):
    with RunFolder.open(run) as folder:
        assert folder.manifest == manifest
    assert not [path.name for path in run.iterdir() if path.name.startswith(".")]


def test_a_run_has_one_writer(run):
    with RunFolder.open(run), pytest.raises(RunError, match="Another process works on the run"):
        RunFolder.open(run)
    with RunFolder.open(run):
        pass


def test_a_second_run_in_one_folder_is_refused_with_the_way_on(run, manifest):
    with pytest.raises(UsageError, match=f"holds a run already. Continue it with 'surefoot resume {run}'"):
        RunFolder.create(run, manifest)


def test_a_folder_with_other_files_is_left_alone(tmp_path, manifest):
    (tmp_path / "notes").touch()
    with pytest.raises(UsageError, match="is not empty"):
        RunFolder.create(tmp_path, manifest)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_a_start_that_was_cut_before_its_manifest_can_be_made_again(tmp_path, manifest):
    for name in ("lock", "library.json", ".manifest.json.123"):
        (tmp_path / name).touch()
    with RunFolder.create(tmp_path, manifest) as folder:
        assert folder.manifest == manifest


def test_a_place_that_can_not_be_a_folder_is_said(tmp_path, manifest):
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="No run can be made at"):
        RunFolder.create(tmp_path / "file", manifest)
    with pytest.raises(UsageError, match="There is no run at"):
        RunFolder.open(tmp_path / "file" / "run")


def test_other_code_is_named_and_the_lock_released(run):
    rewrite(run, code="0.0.1+abc")
    for _ in range(2):
        with pytest.raises(RunError, match=r"was made by surefoot code 0.0.1\+abc; this is "):
            RunFolder.open(run)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": 1}', b"\xff"])
def test_a_broken_manifest_is_said(run, data):
    (run / "manifest.json").write_bytes(data)
    with pytest.raises(RunError, match=r"The manifest of .* can't be read"):
        RunFolder.read_manifest(run)


def test_a_newer_format_is_refused_as_such(run):
    rewrite(run, format=FORMAT + 1, settings="of another kind")
    with pytest.raises(RunError, match=f"has format {FORMAT + 1}; this surefoot knows {FORMAT}"):
        RunFolder.read_manifest(run)


def test_a_broken_journal_is_said_and_the_lock_released(run):
    (run / "run.sqlite").write_bytes(b"no journal " * 1000)
    for name in ("run.sqlite-wal", "run.sqlite-shm"):
        (run / name).unlink(missing_ok=True)
    for _ in range(2):
        with pytest.raises(RunError, match="is not a journal of a run"):
            RunFolder.open(run)


def test_a_disk_that_refuses_is_said_and_the_file_before_stays(run, monkeypatch):
    with RunFolder.open(run) as folder:
        folder.save_bytes("report.json", b"old")

        def full(path: Path, data: bytes) -> None:
            path.touch()
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", full)
        with pytest.raises(RunError, match=r"report.json can't be written: No space left on device"):
            folder.save_bytes("report.json", b"new")
    assert (run / "report.json").read_bytes() == b"old"
    assert not [path.name for path in run.iterdir() if path.name.startswith(".")]


def test_held_out_configurations_must_not_be_development_ones(desk):
    with pytest.raises(UsageError, match="Configurations 2, 3 are both development and held-out"):
        new_manifest(desk, "skills", [1, 2, 3], [2, 3, 4], 0, Settings())


def test_the_library_is_read_as_it_was_at_the_start(desk, tmp_path):
    shared = tmp_path / "skills.json"
    shared.write_bytes(b"then")
    manifest = new_manifest(desk, "skills", [101], [1], 0, Settings(), shared)
    with RunFolder.create(tmp_path / "run", manifest) as folder:
        shared.write_bytes(b"now")
        assert folder.library == b"then"


def test_a_library_that_is_a_folder_is_said(tmp_path):
    with pytest.raises(UsageError, match="can't be read: Is a directory"):
        read_library(tmp_path)
    assert read_library(tmp_path / "none.json") == b""


def test_runs_that_end_together_both_reach_the_library(tmp_path):
    library = tmp_path / "deep" / "skills.json"
    inside = threading.Barrier(2, timeout=10)

    def merge(name: bytes) -> None:
        inside.wait()
        merge_library(library, lambda known: known + name)

    threads = [threading.Thread(target=merge, args=(name,)) for name in (b"a", b"b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(library.read_bytes()) == [97, 98]


def test_a_library_that_can_not_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(RunError, match=r"The skill library .* can't be written"):
        merge_library(tmp_path / "file" / "skills.json", lambda known: known)


def test_a_search_is_the_same_whatever_the_run_s_name_and_held_out_configurations(manifest):
    assert manifest.same_search(msgspec.structs.replace(manifest, id="other", held_out=(7,)))
    assert not manifest.same_search(msgspec.structs.replace(manifest, run_seed=manifest.run_seed + 1))
    assert not manifest.same_search(msgspec.structs.replace(manifest, code="other"))
