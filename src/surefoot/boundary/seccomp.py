"""The system calls that a program process may make, as a classic BPF program; x86_64 and aarch64.

Everything else fails with EPERM (`clone3` with ENOSYS, so that callers fall back to `clone` and hear EPERM).
No process, thread, socket or program image can be made, no other process be touched, no mode, owner or
time of a file be changed.
"""

from __future__ import annotations

import errno
import platform
import struct

ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND = 0, 4, 16, 24
_AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_X86 = {
    "read": 0, "write": 1, "open": 2, "close": 3, "stat": 4, "fstat": 5, "lstat": 6, "poll": 7, "lseek": 8, "mmap": 9,
    "mprotect": 10, "munmap": 11, "brk": 12, "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15,
    "pread64": 17, "pwrite64": 18, "readv": 19, "writev": 20, "access": 21, "pipe": 22, "select": 23,
    "sched_yield": 24, "mremap": 25, "msync": 26, "mincore": 27, "madvise": 28, "dup": 32, "dup2": 33, "pause": 34,
    "nanosleep": 35, "getpid": 39, "sendfile": 40, "sendto": 44, "recvfrom": 45, "sendmsg": 46, "recvmsg": 47,
    "shutdown": 48, "getsockname": 51, "getpeername": 52, "setsockopt": 54, "getsockopt": 55, "exit": 60, "uname": 63,
    "fcntl": 72, "flock": 73, "fsync": 74, "fdatasync": 75, "truncate": 76, "ftruncate": 77, "getdents": 78,
    "getcwd": 79, "chdir": 80, "fchdir": 81, "rename": 82, "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87,
    "symlink": 88, "readlink": 89, "umask": 95, "gettimeofday": 96, "getrlimit": 97, "getrusage": 98, "sysinfo": 99,
    "times": 100, "getuid": 102, "getgid": 104, "geteuid": 107, "getegid": 108, "getppid": 110, "getpgrp": 111,
    "getgroups": 115, "getpgid": 121, "getsid": 124, "rt_sigpending": 127, "rt_sigtimedwait": 128,
    "rt_sigsuspend": 130, "sigaltstack": 131, "statfs": 137, "fstatfs": 138, "arch_prctl": 158, "gettid": 186,
    "time": 201, "futex": 202, "sched_getaffinity": 204, "getdents64": 217, "set_tid_address": 218,
    "restart_syscall": 219, "fadvise64": 221, "clock_gettime": 228, "clock_getres": 229, "clock_nanosleep": 230,
    "exit_group": 231, "epoll_wait": 232, "epoll_ctl": 233, "openat": 257, "mkdirat": 258, "newfstatat": 262,
    "unlinkat": 263, "renameat": 264, "linkat": 265, "symlinkat": 266, "readlinkat": 267, "faccessat": 269,
    "pselect6": 270, "ppoll": 271, "set_robust_list": 273, "get_robust_list": 274, "epoll_pwait": 281,
    "fallocate": 285, "epoll_create1": 291, "dup3": 292, "pipe2": 293, "preadv": 295, "pwritev": 296, "getcpu": 309,
    "renameat2": 316, "getrandom": 318, "membarrier": 324, "copy_file_range": 326, "statx": 332, "rseq": 334,
    "close_range": 436, "faccessat2": 439,
}  # fmt: skip
_ARM = {
    "getcwd": 17, "epoll_create1": 20, "epoll_ctl": 21, "epoll_pwait": 22, "dup": 23, "dup3": 24, "fcntl": 25,
    "flock": 32, "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "statfs": 43,
    "fstatfs": 44, "truncate": 45, "ftruncate": 46, "fallocate": 47, "faccessat": 48, "chdir": 49, "fchdir": 50,
    "openat": 56, "close": 57, "pipe2": 59, "getdents64": 61, "lseek": 62, "read": 63, "write": 64, "readv": 65,
    "writev": 66, "pread64": 67, "pwrite64": 68, "preadv": 69, "pwritev": 70, "sendfile": 71, "pselect6": 72,
    "ppoll": 73, "readlinkat": 78, "newfstatat": 79, "fstat": 80, "fsync": 82, "fdatasync": 83, "exit": 93,
    "exit_group": 94, "set_tid_address": 96, "futex": 98, "set_robust_list": 99, "get_robust_list": 100,
    "nanosleep": 101, "clock_gettime": 113, "clock_getres": 114, "clock_nanosleep": 115, "sched_getaffinity": 123,
    "sched_yield": 124, "restart_syscall": 128, "sigaltstack": 132, "rt_sigsuspend": 133, "rt_sigaction": 134,
    "rt_sigprocmask": 135, "rt_sigpending": 136, "rt_sigtimedwait": 137, "rt_sigreturn": 139, "times": 153,
    "getpgid": 155, "getsid": 156, "getgroups": 158, "uname": 160, "getrlimit": 163, "getrusage": 165, "umask": 166,
    "getcpu": 168, "gettimeofday": 169, "getpid": 172, "getppid": 173, "getuid": 174, "geteuid": 175, "getgid": 176,
    "getegid": 177, "gettid": 178, "sysinfo": 179, "getsockname": 204, "getpeername": 205, "sendto": 206,
    "recvfrom": 207, "setsockopt": 208, "getsockopt": 209, "shutdown": 210, "sendmsg": 211, "recvmsg": 212,
    "brk": 214, "munmap": 215, "mremap": 216, "mmap": 222, "fadvise64": 223, "mprotect": 226, "msync": 227,
    "mincore": 232, "madvise": 233, "renameat2": 276, "getrandom": 278, "membarrier": 283, "copy_file_range": 285,
    "statx": 291, "rseq": 293, "close_range": 436, "faccessat2": 439,
}  # fmt: skip
_SIGNALS = {"x86_64": (62, 234), "aarch64": (129, 131)}
"""`kill` and `tgkill`: a process may end itself."""
_IOCTL = {"x86_64": 16, "aarch64": 29}
_TERMINAL_OR_NOT, _BYTES_WAITING, _CLOSE_ON_EXEC, _NOT_BLOCKING = 0x5401, 0x541B, 0x5451, 0x5421
_CLONE3 = 435
_TABLES = {"x86_64": _X86, "aarch64": _ARM}


def filter_for(pid: int, machine: str = "") -> bytes | None:
    """The filter of process `pid` as an array of `struct sock_filter`; None for other machines."""
    machine = machine or platform.machine()
    if machine not in _TABLES:
        return None
    code = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, _AUDIT[machine], 1, 0), _step(_RETURN, KILL)]
    code.append(_step(_LOAD, _NUMBER))
    for number in sorted(_TABLES[machine].values()):  # the most frequent have low numbers on both
        code += [_step(_EQUAL, number, 0, 1), _step(_RETURN, ALLOW)]
    code += [_step(_EQUAL, _CLONE3, 0, 1), _step(_RETURN, REFUSE | errno.ENOSYS)]
    for number in _SIGNALS[machine]:
        code += _where(number, _FIRST, (pid,))
    code += _where(_IOCTL[machine], _SECOND, (_TERMINAL_OR_NOT, _BYTES_WAITING, _CLOSE_ON_EXEC, _NOT_BLOCKING))
    code.append(_step(_RETURN, REFUSE | errno.EPERM))
    return b"".join(code)


def _where(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Allow one call where the low half of an argument is one of some values."""
    checks = [_step(_LOAD, argument)]
    for value in values:
        checks += [_step(_EQUAL, value, 0, 1), _step(_RETURN, ALLOW)]
    checks.append(_step(_RETURN, REFUSE | errno.EPERM))
    return [_step(_EQUAL, number, 0, len(checks)), *checks]


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
