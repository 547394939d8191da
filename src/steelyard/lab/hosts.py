"""What other machines say of their boards. It is asked when a campaign is planned, and kept, so that stored records are
found while a machine is off."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from threading import Event

import msgspec
from msgspec import Struct

from ..model import checked, whole
from ..model.call import DeviceError
from ..model.errors import UserError, cut, printable
from ..model.reasons import Failure, Reason
from ..model.target import load_target
from . import wire
from .config import Board, Host, Lab, Station
from .connection import Connection
from .description import check


class Kept(Struct, frozen=True):
    """What a host said of a board when it was asked last."""

    host: Host
    named: str
    said: wire.Described


def described(lab: Lab, names: Sequence[str]) -> dict[str, wire.Described | Failure]:
    """What hosts say of these boards, each host asked once; or why they do not."""
    found: dict[str, wire.Described | Failure] = {}
    hosts: dict[str, list[Board]] = {}
    for name in names:
        hosts.setdefault(lab.boards[name].host, []).append(lab.boards[name])
    if hosts:
        from concurrent.futures import ThreadPoolExecutor

        over = Event()
        with ThreadPoolExecutor(len(hosts)) as pool:
            try:
                for answers in pool.map(lambda boards: _described(lab.host(boards[0]), boards, over), hosts.values()):
                    found |= answers
            except BaseException:
                over.set()  # the pool waits for its threads
                raise
    return found


def _described(host: Host, boards: Sequence[Board], over: Event) -> dict[str, wire.Described | Failure]:
    found: dict[str, wire.Described | Failure] = {}
    try:
        connection = Connection(host, over)
    except DeviceError as e:
        return {board.name: e.failure for board in boards}
    try:
        for board in boards:
            try:
                said = connection.ask(wire.Describe(board.named), wire.Described, over)
                with suppress(OSError):
                    whole.put(_file(board), msgspec.msgpack.encode(Kept(host, board.named, said)))
                found[board.name] = said
            except DeviceError as e:
                found[board.name] = e.failure
    finally:
        connection.close()
    return found


def stations(lab: Lab, names: Sequence[str]) -> tuple[list[Station], list[str]]:
    """Boards by name, wherever they are; :class:`UserError` with a suggestion. A board whose host does not answer is
    taken for what it was the last time, of which there are remarks."""
    said = described(lab, [name for name in dict.fromkeys(names) if lab.named(name).host])
    found, remarks = [], []
    for name in names:
        board = lab.boards[name]
        if not board.host:
            found.append(lab.board(name))
            continue
        its = said[name]
        if isinstance(its, Failure):
            kept = _kept(lab, board) if its.reason == Reason.UNREACHABLE else None
            if kept is None:
                raise UserError(f"{board.title}: {its.detail}; {its.next_action}")
            remarks.append(f"{board.title}: {its.detail}; it is taken for what it was the last time")
            its = kept
        found.append(station(lab, board, its))
    return found, remarks


def station(lab: Lab, board: Board, said: wire.Described) -> Station:
    """The board as its host describes it; :class:`UserError` where that is not the board that we mean."""
    where = f"boards.{board.name}"
    try:
        there = checked.convert(json.loads(said.lab), Lab)
        check(there)
        found = there.board(board.named)
    except (ValueError, RecursionError, OSError, UserError) as e:  # such as a port with too long a name
        text = cut(printable(str(e)), 300)
        raise UserError(f"{where}: what {board.host} says of it describes no board: {text}") from None
    if found.board.target != board.target:
        raise UserError(f"{where}.target: is {board.target} here and {found.board.target} in the lab.toml there")
    if said.target != load_target(board.target).digest:
        raise UserError(
            f"{where}: {board.target} is another target at {board.host}: install the same Steelyard at both"
        )
    mine = found.board.but(name=board.name, host=board.host, named=board.named)
    return found.but(board=mine, host=lab.host(board), known=digest_of(said.lab))


def digest_of(told: bytes) -> str:
    """The identity of what is known of a board, out of JSON that describes it, but for its clock: runs take that which
    it has then, as those of boards here do."""
    known = json.loads(told)
    for board in known["boards"].values():
        board.pop("clock_ppm", None)
    return hashlib.sha256(json.dumps(known, sort_keys=True).encode()).hexdigest()


def _kept(lab: Lab, board: Board) -> wire.Described | None:
    with suppress(OSError, msgspec.MsgspecError):
        kept = msgspec.msgpack.decode(_file(board).read_bytes(), type=Kept)
        if (kept.host, kept.named) == (lab.host(board), board.named):
            return kept.said
    return None


def _file(board: Board) -> Path:
    return board.files / "away"
