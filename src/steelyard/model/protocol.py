"""What protocols ask of an authenticated cipher: the sizes of their messages, and the sections that fix them.

Sizes are those of the cipher's arguments, not of the packet: what is encrypted includes the bytes that a protocol adds
to its content before (a content type, a CoAP code), associated data are what it authenticates besides.
"""

from __future__ import annotations

from msgspec import Struct


class Size(Struct, frozen=True):
    """One size in bytes, and what has it. A ``typical`` one is an example of a small device's message; all others
    follow from the standard."""

    adlen: int
    mlen: int
    what: str
    typical: bool = False


class Protocol(Struct, frozen=True):
    """A protocol as a workload. ``associated`` says what its associated data are, ``standard`` where sizes are fixed,
    ``today`` the bundled variants that stand for what is used now, ``note`` what the calls do not show: other
    algorithms that the protocol has in place of an AEAD, for one. ``least`` and ``most`` are the bytes of its shortest
    and longest message, ``lengths`` all that it can have where it has not each between them, ``ad`` the least and the
    most of its associated data, ``both`` the most of the two together; None where no standard says."""

    name: str
    title: str
    standard: str
    associated: str
    today: tuple[str, ...]
    sizes: tuple[Size, ...]
    note: str = ""
    least: int = 0
    most: int | None = None
    lengths: tuple[int, ...] = ()
    ad: tuple[int, int | None] | None = None
    both: int | None = None

    def __post_init__(self) -> None:
        if sum(s.typical for s in self.sizes) != 1:
            raise ValueError(f"protocol {self.name}: one of its sizes is typical")
        if self.lengths and (self.least, self.most) != (min(self.lengths), max(self.lengths)):
            raise ValueError(f"protocol {self.name}: least and most are the first and the last of its lengths")

    @property
    def typical(self) -> Size:
        """The size that a question about the protocol means where nobody says more."""
        return next(s for s in self.sizes if s.typical)


_TLS = ("aes128gcm", "chacha20poly1305", "aes128ccm")
PROTOCOLS = {
    p.name: p
    for p in (
        Protocol(
            "tls13",
            "TLS 1.3 record",
            "RFC 8446, 5.2 and 5.4",
            "type, version and length of the record: 5 bytes",
            _TLS,
            (
                Size(5, 3, "alert: level, description, content type (6, 5.2)"),
                Size(5, 37, "Finished with SHA-256: 4 + 32 bytes, content type (4, 4.4.4)"),
                Size(5, 65, "64 bytes of content, content type", typical=True),
                Size(5, 513, "smallest max_fragment_length, 512 bytes (RFC 6066, 4), content type"),
                Size(5, 16385, "maximum: 16384 bytes of content, content type (5.1, 5.2)"),
            ),
            least=1,  # the content type
            most=16385,
            ad=(5, 5),
        ),
        Protocol(
            "dtls13",
            "DTLS 1.3 record",
            "RFC 9147, 4",
            "unified header: a byte, connection identifier, sequence number of 1 or 2 bytes, length of 0 or 2",
            _TLS,
            (
                Size(2, 65, "smallest header: sequence number of 1 byte, no length; 64 bytes of content"),
                Size(5, 3, "alert, header with sequence number and length of 2 bytes"),
                Size(5, 65, "64 bytes of content, content type, the same header", typical=True),
                Size(13, 65, "the same with a connection identifier of 8 bytes"),
                Size(5, 16385, "maximum: 16384 bytes of content, content type"),
            ),
            "the sequence number is encrypted besides: one more block (4.2.3)",
            least=1,
            most=16385,
            ad=(2, 260),  # a connection identifier has at most 255 bytes (RFC 9146, 3)
        ),
        Protocol(
            "quic",
            "QUIC header and packet",
            "RFC 9001, 5.3; RFC 9000, 17",
            "the packet's header up to and with the packet number",
            _TLS,
            (
                Size(4, 1, "short header without connection identifier, a PING (RFC 9001, A.5)"),
                Size(11, 64, "short header, connection identifier of 8 bytes, packet number of 2", typical=True),
                Size(20, 99, "a server's Initial (RFC 9001, A.3)"),
                Size(22, 1162, "a client's Initial in the smallest datagram for it, 1200 bytes (RFC 9001, A.2)"),
                Size(11, 1173, "a datagram of 1200 bytes with the short header above (RFC 9000, 14)"),
            ),
            "the header is protected besides: one more block (RFC 9001, 5.4)",
            least=1,  # a frame (RFC 9000, 12.4)
            ad=(2, None),  # the first byte and a packet number (RFC 9000, 17.3.1)
        ),
        Protocol(
            "oscore",
            "OSCORE message",
            "RFC 8613, 5.3 and 5.4",
            "Encrypt0 structure around the external_aad: 20 to 31 bytes",
            ("aes128ccm8",),
            (
                Size(20, 5, "request: sender identifier empty, sequence number of 1 byte (C.4)"),
                Size(20, 14, "response (C.7)"),
                Size(22, 64, "identifier of 1 byte, sequence number of 2", typical=True),
                Size(31, 1026, "identifier of 7, number of 5 (3.3, 5.2), 1024 of payload (RFC 7252, 4.6): maxima"),
            ),
            least=1,  # the code (RFC 8613, 5.3)
            ad=(20, None),  # with longer nonces there are longer identifiers
        ),
        Protocol(
            "cose",
            "COSE_Encrypt0",
            "RFC 9052, 5.3",
            "Enc_structure with the algorithm in the protected header: 15 bytes, 16 for ChaCha20-Poly1305, and the "
            "external data",
            ("aes128ccm8", "aes128gcm", "chacha20poly1305"),
            (
                Size(15, 20, "the example without external data (C.4.1)"),
                Size(15, 64, "64 bytes, no external data", typical=True),
                Size(31, 64, "64 bytes, 16 bytes of external data"),
            ),
            "the standard sets no maximum",
            ad=(12, None),  # the structure with nothing in it
        ),
        Protocol(
            "lorawan",
            "LoRaWAN frame",
            "LoRaWAN L2 1.0.4, 4.3 and 4.4; RP002-1.0.3, 2.4 and 2.5",
            "MHDR, FHDR and FPort: 9 bytes, and up to 15 of FOpts",
            ("aes128ccm8",),
            (
                Size(9, 11, "maximum at US902-928 DR0"),
                Size(9, 24, "24 bytes of FRMPayload", typical=True),
                Size(9, 51, "maximum at EU863-870 DR0"),
                Size(24, 36, "the same with FOpts of 15 bytes"),
                Size(9, 222, "maximum at EU863-870 DR4 and above, where repeaters may be"),
            ),
            "AES in counter mode and AES-CMAC with two keys, and no AEAD; an AEAD in their place is weighed",
            most=242,
            ad=(9, 24),
            both=251,  # FOpts are of the room of FRMPayload
        ),
        Protocol(
            "ble",
            "Bluetooth LE link layer",
            "Bluetooth Core 5.4, Vol 6, Part B 2.4 and Part E 2",
            "first byte of the header, masked",
            ("aes128ccm8",),
            (
                Size(1, 1, "smallest control PDU: an opcode"),
                Size(1, 27, "maximum without data length extension", typical=True),
                Size(1, 251, "maximum"),
            ),
            "CCM with a tag of 4 bytes, nonces of 13; the size of a tag costs nothing",
            least=1,  # what is empty is not encrypted (Part E, 1)
            most=251,
            ad=(1, 1),
        ),
        Protocol(
            "ieee802154",
            "IEEE 802.15.4 frame",
            "IEEE 802.15.4-2020, 7.2, 9.3, 9.4 and 11.3",
            "MAC header with auxiliary security header: 15 bytes with short addresses and a key index",
            ("aes128ccm8",),
            (
                Size(15, 20, "20 bytes of payload", typical=True),
                Size(27, 94, "maximum with both addresses of 8 bytes, MIC of 4"),
                Size(15, 106, "maximum: 127 bytes minus header, MIC of 4 and FCS of 2"),
            ),
            "CCM* with tags of 4, 8 or 16 bytes",
            most=121,
            ad=(3, 121),  # frame control and security control at least (7.2, 9.4)
            both=121,  # of 127 bytes, without FCS and the shortest MIC
        ),
        Protocol(
            "canfd",
            "CAN FD payload",
            "ISO 11898-1:2015, data length code (8.4.2.3 in Linux): 0 to 8, 12, 16, 20, 24, 32, 48 or 64 bytes",
            "identifier of 29 bits, in 4 bytes",
            ("aes128ccm8", "aes128gcm"),
            (
                Size(4, 8, "maximum of classical CAN"),
                Size(4, 16, "with a tag of 16 bytes a payload of 32", typical=True),
                Size(4, 48, "with a tag of 16 bytes the maximum"),
                Size(4, 64, "maximum, the tag elsewhere"),
            ),
            "the standard has no cryptography; an AEAD over identifier and payload is weighed",
            most=64,
            lengths=(*range(9), 12, 16, 20, 24, 32, 48, 64),
            ad=(4, 4),
        ),
        Protocol(
            "firmware",
            "firmware block of 4 KiB",
            "RFC 9052, 5.3; RFC 7959, 2.2",
            "Enc_structure of COSE_Encrypt0: 15 bytes",
            ("aes128gcm", "chacha20poly1305", "aes128ccm"),
            (
                Size(15, 1024, "maximum of a CoAP block, which brings it (RFC 7959, 2.2)"),
                Size(15, 4096, "a sector of a serial flash", typical=True),
            ),
            "no standard fixes the size of a sector; each is its own COSE_Encrypt0 here",
            ad=(12, None),
        ),
    )
}  # fmt: skip
