; Parameters for simavr: the chip that the image is for, a clock that makes one cycle 1000 ns, and the trigger pin PB5 (of an
; ATtiny85 PB2) written to pin.vcd in the current folder. Tag, length, value; see simavr's documentation.
#define TEXT(x) #x
#define NAME(x) TEXT(x)
#ifdef __AVR_ATtiny85__
#define PIN 2
#else
#define PIN 5
#endif
    .section .mmcu, ""
    .byte 1, 64
chip:
    .ascii NAME(__AVR_DEVICE_NAME__)
    .skip 64 - (. - chip)
    .byte 2, 4
    .long 1000000
    .byte 12, 64
    .ascii "pin.vcd"
    .skip 57
    .byte 13, 4
    .long 1
    .byte 15, 35
    .byte 'B', PIN, 0
    .ascii "trigger"
    .skip 25
    .global _mmcu
_mmcu:
    .byte 0, 0
