"""The layer itself: it must lose what a strict disk may lose, or the other tests prove nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.power import PowerDisk


def write(path: Path, data: bytes, *, sync: bool, sync_name: bool = True) -> None:
    handle = os.open(path, os.O_CREAT | os.O_WRONLY)
    os.write(handle, data)
    if sync:
        os.fdatasync(handle)
    os.close(handle)
    if sync_name:
        sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    os.fsync(handle)
    os.close(handle)


def lose_power(disk: PowerDisk, mode: str, seed: int = 1) -> None:
    disk.cut(mode, seed)
    with pytest.raises(OSError):
        os.listdir(disk.path)
    disk.on()


@pytest.mark.parametrize(
    ("sync", "sync_name", "mode", "found"),
    [
        (True, True, "none", b"bytes"),
        (False, True, "none", b""),
        (True, False, "none", None),
        (False, False, "none", None),
        (False, False, "all", b"bytes"),
    ],
)
def test_what_was_not_synced_is_gone(sync, sync_name, mode, found):
    with PowerDisk() as disk:
        path = Path(disk.path, "file")
        write(path, b"bytes", sync=sync, sync_name=sync_name)
        assert path.read_bytes() == b"bytes", "before the power goes everything is there"
        lose_power(disk, mode)
        assert (path.read_bytes() if path.exists() else None) == found


def test_a_write_is_torn_at_sectors():
    torn = 0
    for seed in range(1, 40):
        with PowerDisk() as disk:
            path = Path(disk.path, "file")
            write(path, bytes(4096), sync=True)
            write(path, b"\xff" * 4096, sync=False)
            lose_power(disk, "random", seed)
            data = path.read_bytes()
            sectors = {data[at : at + 512] for at in range(0, 4096, 512)}
            assert sectors <= {bytes(512), b"\xff" * 512}
            torn += len(sectors) == 2
        if torn:
            return
    raise AssertionError("nothing was torn")


def test_a_rename_is_whole_and_needs_a_sync():
    for mode, name in [("none", "old"), ("all", "new")]:
        with PowerDisk() as disk:
            write(Path(disk.path, "old"), b"x", sync=True)
            os.rename(Path(disk.path, "old"), Path(disk.path, "new"))
            lose_power(disk, mode)
            assert os.listdir(disk.path) == [name]


def test_a_full_disk_takes_nothing_until_something_goes():
    with PowerDisk() as disk:
        disk.space(64 * 1024)
        one, two = Path(disk.path, "one"), Path(disk.path, "two")
        one.write_bytes(bytes(60 * 1024))
        with pytest.raises(OSError, match="No space left"):
            two.write_bytes(bytes(8 * 1024))
        with pytest.raises(OSError, match="No space left"):
            handle = os.open(two, os.O_CREAT | os.O_WRONLY)
            try:
                os.posix_fallocate(handle, 0, 32 * 1024)
            finally:
                os.close(handle)
        one.unlink()
        two.write_bytes(bytes(8 * 1024))
