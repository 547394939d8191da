"""Power meters: the user's ``lab.toml`` names them, ``meters/*.toml`` beside this file describe their kinds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from ..model import paths, toml
from ..model.errors import UserError, cut, unknown

KINDS = Path(__file__).parent / "meters"
#: volts of a supply, at the most
VOLTS = 60.0
#: columns of lines that a meter sends, with what makes seconds, volts, amperes and watts of them; ``bits`` is a number
#: whose binary digits are levels, and ``-`` is left out
COLUMNS: dict[str, tuple[str, float]] = {
    "s": ("t", 1.0),
    "ms": ("t", 1e-3),
    "us": ("t", 1e-6),
    "V": ("v", 1.0),
    "mV": ("v", 1e-3),
    "A": ("i", 1.0),
    "mA": ("i", 1e-3),
    "uA": ("i", 1e-6),
    "W": ("w", 1.0),
    "mW": ("w", 1e-3),
    "uW": ("w", 1e-6),
    "bits": ("bits", 1.0),
    "-": ("-", 0.0),
}


class MeterKind(toml.Table, frozen=True, kw_only=True):
    """What is known of all meters of one kind: the module of ``meters/`` that reads them, the ``library`` or
    ``program`` that it needs with the ``package`` that brings it, and defaults of what :class:`Meter` explains.
    ``shunt_most``, ``shunt_offset`` and ``shunt_resolution`` are the volts over a shunt that make ``most``, ``offset``
    and ``resolution`` of ``shunt_ohms``. ``needs`` are the keys that ``lab.toml`` has to have, ``path`` says that the
    port is a file, and ``virtual`` with what the port of a meter begins that can be played."""

    name: str = ""
    title: str
    module: str
    library: str = ""
    program: str = ""
    package: str = ""
    path: bool = True
    needs: tuple[str, ...] = ()
    rate: float | None = None
    latency: float = 0.0
    gain: float | None = None
    offset: float | None = None
    most: float | None = None
    resolution: float | None = None
    shunt_most: float | None = None
    shunt_offset: float | None = None
    shunt_resolution: float | None = None
    digital: bool = False
    columns: tuple[str, ...] = ()
    baud: int = 115200
    virtual: tuple[str, ...] = ()

    @property
    def missing(self) -> str:
        """What has to be installed; empty where all is here."""
        if self.program and paths.tool(self.program) is None:
            return f"no {self.program}: {self.package}"
        if self.library and find_spec(self.library) is None:
            return f"no {self.library}: {self.package}"
        return ""


class Meter(toml.Table, frozen=True, kw_only=True):
    """A power meter in a board's supply. ``port`` is where it is: a serial port, an I2C bus, a folder of sysfs, a file
    of lines, or for ``sigrok`` what ``sigrok-cli --driver`` takes.

    It gives ``rate`` samples in a second; a change is right in them after ``latency`` seconds. A reading of x amperes
    is within ``gain`` * x + ``offset`` amperes of the truth, and less than ``most``. ``resolution`` is
    the step between two readings in the coarsest range that is used: amperes, or watts where it gives watts; left out,
    it is seen from the readings. ``volts`` is the voltage of the supply where the meter does not measure it, and what a
    ``source`` supplies. ``bit`` is the digital input that is wired to the trigger pin. A slow meter looks on for
    ``seconds``. ``idle_milliamperes`` is what a ``virtual`` one shows while its board waits.
    """

    name: str = ""
    driver: str
    port: str
    volts: float | None = None
    rate: float | None = None
    latency: float | None = None
    gain: float | None = None
    offset: float | None = None
    most: float | None = None
    resolution: float | None = None
    bit: int | None = None
    seconds: float = 2.0
    source: bool = False
    baud: int | None = None
    columns: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    shunt_ohms: float = 0.1
    address: int = 0x40
    virtual: bool = False
    idle_milliamperes: float = 1.0


class Metered(toml.Table, frozen=True, kw_only=True):
    """A meter with all that its kind says where ``lab.toml`` does not."""

    meter: Meter
    kind: MeterKind
    rate: float
    latency: float
    gain: float
    offset: float
    most: float
    #: amperes, or watts where it gives watts; 0 where nobody declares it
    resolution: float
    columns: tuple[str, ...]
    baud: int
    #: the digital input at the trigger pin; None where the meter has none
    bit: int | None

    @property
    def name(self) -> str:
        """As ``lab.toml`` has it."""
        return self.meter.name

    @property
    def place(self) -> str:
        """What is locked for it: the device, whatever the name is by which ``lab.toml`` has it."""
        port = self.meter.port
        return f"meter {Path(port).resolve() if self.kind.path else port}"

    @property
    def text(self) -> str:
        """What it is and how far it can be trusted, for the record."""
        rate, latency = f"{self.rate:g} samples/s", f"latency {self.latency * 1e3:g} ms"
        trust = f"±{self.gain * 100:g} % ±{self.offset * 1e6:g} µA"
        return f"meter {self.name}: {self.meter.driver} at {cut(self.meter.port)}, {rate}, {latency}, {trust}"


@cache
def kinds() -> Mapping[str, MeterKind]:
    """Every kind of meter by the name that ``driver`` has in ``lab.toml``."""
    return {f.stem: toml.load(f, MeterKind, {"name": f.stem}) for f in sorted(KINDS.glob("*.toml"))}


def metered(meter: Meter) -> Metered:
    """The meter with its kind; :class:`UserError` names what is wrong or missing."""
    where = f"meters.{meter.name}"
    if meter.driver not in kinds():
        raise UserError(f"{where}: {unknown('driver', meter.driver, kinds())}")
    kind = kinds()[meter.driver]
    own: dict[str, float] = {}
    for key, least, most, unit in _NUMBERS:
        value = getattr(meter, key)
        value = getattr(kind, key, None) if value is None else value
        if value is None and (over := getattr(kind, f"shunt_{key}", None)) is not None and meter.shunt_ohms > 0:
            value = over / meter.shunt_ohms
        if value is None and (key in kind.needs or key in _DECLARED):
            raise UserError(f"{where}.{key}: missing; {unit}")
        if value is not None and not least <= value <= most:
            raise UserError(f"{where}.{key}: {unit}, from {least:g} to {most:g}")
        own[key] = 0.0 if value is None else value
    for key in kind.needs:
        if getattr(meter, key) in (None, ()):
            raise UserError(f"{where}.{key}: missing; {meter.driver} does not say it itself")
    columns = meter.columns or kind.columns
    if wrong := [c for c in columns if c not in COLUMNS]:
        raise UserError(f"{where}.columns: {unknown('column', wrong[0], COLUMNS)}")
    roles = [COLUMNS[c][0] for c in columns if c != "-"]
    if columns and (len(set(roles)) < len(roles) or not {"i", "w"} & set(roles)):
        raise UserError(f"{where}.columns: name a current or a power, and each quantity once")
    if len(set(meter.channels)) < len(meter.channels):
        raise UserError(f"{where}.channels: name each once")
    if meter.virtual and not any(meter.port.startswith(v) for v in kind.virtual):
        plays = "; ".join(f"a port {v}.." if v else "any port" for v in kind.virtual) or "none of this driver"
        raise UserError(f"{where}: nobody plays a virtual meter there; played are: {plays}")
    if "\0" in meter.port or not meter.port or (kind.path and meter.virtual and Path(meter.port).is_dir()):
        raise UserError(f"{where}.port: write where the meter is, such as /dev/ttyACM1")
    digital = kind.digital or "bits" in columns
    return Metered(
        meter=meter,
        kind=kind,
        **{key: own[key] for key in ("rate", "latency", "gain", "offset", "most", "resolution")},
        columns=columns,
        baud=int(own["baud"]),
        bit=(meter.bit or 0) if digital else None,
    )


#: numbers of a meter: key, bounds, what to write
_NUMBERS = (
    ("rate", 0.1, 10e6, "write samples in a second"),
    ("latency", 0, 10, "write seconds"),
    ("gain", 0, 1, "write the part of a reading that it may be wrong by, such as 0.01"),
    ("offset", 0, 10, "write the amperes that a reading may be wrong by besides"),
    ("most", 1e-6, 1000, "write the most amperes that it reads"),
    ("resolution", 1e-12, 1, "write the step between two readings, in amperes, or in watts where it gives watts"),
    ("volts", 0.1, VOLTS, "write volts"),
    ("bit", 0, 7, "write a digital input's number"),
    ("seconds", 0.05, 600, "write seconds"),
    ("baud", 300, 10_000_000, "write the line's bits in a second"),
    ("shunt_ohms", 1e-6, 1e6, "write the shunt's ohms"),
    ("address", 3, 0x77, "write an address on the bus"),
    ("idle_milliamperes", 0, 1000, "write milliamperes"),
)
#: what figures cannot go without
_DECLARED = ("rate", "gain", "offset", "most")
