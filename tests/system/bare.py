"""Bare systems: a release of Debian or Ubuntu in a folder, which shares only this machine's network settings."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

#: environment by which programs find proxies, certificates and package indexes
_NETWORK = re.compile(
    r"(?i)(.*_proxy|SSL_CERT_.*|.*_CA_BUNDLE|PIP_(?!CACHE).*|CARGO_(HTTP|NET|REGISTR|SOURCE).*|GIT_SSL_CAINFO)"
)
#: and the files by which they do
_FILES = (
    "/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "~/.config/pip/pip.conf", "~/.pip/pip.conf",
    "~/.cargo/config.toml", "/usr/local/share/ca-certificates",
)  # fmt: skip
#: makes the folder the root of a process of its own, with its own mounts, which end with it
_ENTER = """
mount --bind "$0" "$0" && cd "$0" && mount -t proc proc proc && mount --rbind /dev dev && pivot_root . .outside &&
exec chroot . sh -c 'umount -l /.outside; cd /root && exec "$@"' sh "$@"
"""
#: releases of Ubuntu's, which Debian's debootstrap may be too old to know: they are all made as its first one was, from
#: the archive that this script names; without a keyring of Ubuntu's unchecked, for nothing is taken from the system
UBUNTU = ("noble",)
UBUNTU_MIRROR = ["", "gutsy"]
UBUNTU_KEYS = Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
UBUNTU_OPTIONS = [
    "--components=main,universe", f"--keyring={UBUNTU_KEYS}" if UBUNTU_KEYS.exists() else "--no-check-gpg"
]  # fmt: skip
UPDATES = ("updates", "security")


def absent() -> str:
    """Why none can be made here, or nothing."""
    if os.geteuid() != 0:
        return "bare systems are made by root alone"
    for program in ("debootstrap", "unshare", "pivot_root", "git"):
        if shutil.which(program) is None:
            return (
                f"{program} is not installed: apt install {program if program == 'debootstrap' else 'util-linux git'}"
            )
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False).returncode:
        return "this machine lets not even root make mounts"
    return ""


class Bare:
    """A system of ``release`` below ``root``."""

    def __init__(self, release: str, root: Path) -> None:
        self.root = root
        include = "--include=git,make,ca-certificates"  # what the README asks for, and what every installation has
        own_mounts = ["unshare", "--mount"]  # what debootstrap may leave mounted ends with it
        ubuntu = release in UBUNTU
        place = [release, str(root), *(UBUNTU_MIRROR if ubuntu else _mirror())]
        options = UBUNTU_OPTIONS if ubuntu else []
        _done([*own_mounts, "debootstrap", "--variant=minbase", include, *options, *place])
        (root / ".outside").mkdir()
        if ubuntu:  # where every installation has its updates from
            sources = root / "etc/apt/sources.list"
            first = sources.read_text()
            sources.write_text(first + "".join(first.replace(release, f"{release}-{more}") for more in UPDATES))
        for here in (Path(name).expanduser() for name in _FILES):
            inside = root / str(here).lstrip("/").replace(str(Path.home()).lstrip("/"), "root", 1)
            inside.parent.mkdir(parents=True, exist_ok=True)
            if here.is_dir():
                shutil.copytree(here, inside, dirs_exist_ok=True)
            elif here.exists():
                inside.unlink(missing_ok=True)  # it may be a link to outside
                shutil.copy(here, inside)
        proxies = [
            line for line in _done(["apt-config", "dump"]).splitlines() if re.match(r"(?i)acquire::\S*proxy", line)
        ]
        (root / "etc/apt/apt.conf.d/99proxy").write_text("\n".join(proxies) + "\n")
        (root / "etc/dpkg/dpkg.cfg.d/throwaway").write_text("force-unsafe-io\n")  # what is lost is made again
        self.environment = {name: value for name, value in os.environ.items() if _NETWORK.fullmatch(name)}
        for value in self.environment.values():
            if value.startswith("/") and Path(value).is_dir():
                (root / value.lstrip("/")).mkdir(parents=True, exist_ok=True)
        self.run("update-ca-certificates")

    def run(self, command: str, folder: str = "/root") -> subprocess.CompletedProcess[str]:
        """What a shell of root's does with ``command``."""
        known = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LANG": "C.UTF-8",
        }
        words = ["sh", "-c", f"cd {shlex.quote(folder)} && {command}"]
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", _ENTER, str(self.root)]
        inside = ["env", "-i", *(f"{n}={v}" for n, v in (self.environment | known).items()), *words]
        return subprocess.run([*enter, *inside], capture_output=True, text=True, check=False)

    def check_out(self, repository: Path) -> str:
        """Copies what the repository's HEAD holds; the folder in the system."""
        folder = self.root / "root" / "steelyard"
        folder.mkdir()
        with subprocess.Popen(["git", "archive", "HEAD"], cwd=repository, stdout=subprocess.PIPE) as packed:
            subprocess.run(["tar", "-x", "-C", str(folder)], stdin=packed.stdout, check=True)
        return "/root/steelyard"


def _mirror() -> list[str]:
    """Where this machine has Debian from; debootstrap knows a place itself where it has not."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Label: Debian"]
    return sorted(set(_done(command).split()))[:1]


def _done(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout
