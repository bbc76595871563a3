"""Confinement by the operating system: what a program process can't do even when it tries in earnest.

Layers, in the order in which a process enters them: capabilities dropped (where it had any), no new
privileges, Landlock (files, TCP, signals), seccomp (system calls). What a layer is for:

    landlock   no file is read but Python's installation, none written but in the run's own folder
    seccomp    no process, thread, socket or new program; no other process is touched
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterable

from surefoot.boundary.seccomp import filter_for

MODES = ("require", "best-effort", "off")
LOST = {
    "landlock": "a hostile program can read and write the files of whoever runs it",
    "seccomp": "a hostile program can open sockets, start processes and signal others",
}
"""What is lost without a layer."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # Landlock's system calls, of the same numbers everywhere
_NO_NEW_PRIVILEGES, _SECCOMP_FILTER, _SET_SECCOMP = 38, 2, 22
_CAPABILITIES_3 = 0x20080522
_WRITE_FILE, _READ_FILE, _READ_DIR, _REFER, _TRUNCATE, _IOCTL = 1 << 1, 1 << 2, 1 << 3, 1 << 13, 1 << 14, 1 << 15
_EXECUTE, _SPECIAL = 1 << 0, 1 << 6 | 1 << 9 | 1 << 10 | 1 << 11
_TCP, _SCOPES = 0b11, 0b11
_SHARED_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache")


class Sandbox:
    """The layers that work here, probed once; `enter` confines the calling process for good.

    `level` names them, `missing` says why others are not there.
    """

    def __init__(self, mode: str, readable: Iterable[str]):
        self.missing: dict[str, str] = {}
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.syscall.restype = ctypes.c_long
        self._readable = [*readable, *_SHARED_LIBRARIES, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
        self._abi = 0
        self._seccomp = False
        if mode == "off":
            self.missing = dict.fromkeys(LOST, "switched off")
        else:
            self._probe()
        names = ["process", *([f"landlock {self._abi}"] if self._abi else []), *(["seccomp"] if self._seccomp else [])]
        self.level = ", ".join(names)

    def _probe(self) -> None:
        """Find out in a process of its own, which is confined and then ends."""
        self._abi = max(self._libc.syscall(_CREATE, None, 0, 1), 0)
        self._seccomp = filter_for(0) is not None
        if not self._seccomp:
            self.missing["seccomp"] = f"there is no table for {os.uname().machine}"
        for layer in ("landlock", "seccomp"):
            if layer in self.missing or self._works(layer):
                continue
            self.missing[layer] = "this kernel, or what surefoot runs in, does not allow it"
            if layer == "landlock":
                self._abi = 0
            else:
                self._seccomp = False

    def _works(self, layer: str) -> bool:
        if layer == "landlock" and not self._abi:
            return False
        pid = os.fork()
        if pid == 0:
            try:
                self._libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
                self._restrict("/tmp", ()) if layer == "landlock" else self._filter()
            except BaseException:  # noqa: BLE001 - the exit status is the answer
                os._exit(1)
            os._exit(0)
        return os.waitpid(pid, 0)[1] == 0

    def enter(self, folder: str, readable: Iterable[str] = ()) -> None:
        """Confine this process: it writes in `folder` alone. OSError where a layer that was found fails."""
        if not self._abi and not self._seccomp:
            return
        self._drop_capabilities()
        self._checked(self._libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
        if self._abi:
            self._restrict(folder, readable)
        if self._seccomp:
            self._filter()

    def _drop_capabilities(self) -> None:
        header = struct.pack("=Ii", _CAPABILITIES_3, 0)
        self._libc.capset(header, bytes(24))

    def _restrict(self, folder: str, readable: Iterable[str]) -> None:
        files = (1 << (13 + (self._abi >= 2) + (self._abi >= 3))) - 1
        files |= _IOCTL if self._abi >= 5 else 0
        attributes = struct.pack("=QQQ", files, _TCP if self._abi >= 4 else 0, _SCOPES if self._abi >= 6 else 0)
        size = 8 if self._abi < 4 else 16 if self._abi < 6 else 24
        rules = self._checked(self._libc.syscall(_CREATE, attributes, size, 0))
        try:
            for path in dict.fromkeys((*self._readable, *readable)):
                self._permit(rules, path, (_READ_FILE | _READ_DIR) & files)
            self._permit(rules, folder, files & ~(_EXECUTE | _SPECIAL | _IOCTL))
            self._permit(rules, os.devnull, _READ_FILE | _WRITE_FILE)
            self._permit(rules, "/dev/zero", _READ_FILE)
            self._checked(self._libc.syscall(_RESTRICT, rules, 0))
        finally:
            os.close(rules)

    def _permit(self, rules: int, path: str, access: int) -> None:
        try:
            opened = os.open(path, os.O_PATH)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(_stat(opened).st_mode):
                access &= _WRITE_FILE | _READ_FILE | _TRUNCATE
            rule = struct.pack("=Qi", access, opened)
            self._checked(self._libc.syscall(_ADD, rules, 1, rule, 0))
        finally:
            os.close(opened)

    def _filter(self) -> None:
        code = filter_for(_own_pid())
        assert code is not None
        held = ctypes.create_string_buffer(code, len(code))
        program = struct.pack("HP" if sys.maxsize > 1 << 32 else "HI", len(code) // 8, ctypes.addressof(held))
        self._checked(self._libc.prctl(_SET_SECCOMP, _SECCOMP_FILTER, program, 0, 0))

    def _checked(self, result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


_own_pid, _stat = os.getpid, os.fstat  # the real ones: they are closed later
