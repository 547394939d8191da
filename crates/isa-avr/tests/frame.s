; Frame of a random program; see simavr.rs.
	.equ DDRB, @DDRB@
	.equ PORTB, DDRB + 1
	.equ UDR0, @UDR0@
	.equ RAMEND, @RAMEND@

; parameters for simavr: device, frequency, trace of pin B0
	.section .mmcu, ""
	.byte 1, 64
device:
	.ascii "@DEVICE@"
	.skip 64 - (. - device)
	.byte 2, 4
	.long 1000000
	.byte 12, 64
name:
	.ascii "@VCD@"
	.skip 64 - (. - name)
	.byte 13, 4
	.long 1
	.byte 15, 35
	.byte 'B', 0, 0
	.ascii "pin"
	.skip 29
	.global _mmcu
_mmcu:
	.byte 0, 0

	.text
	.global main
main:
	cli
	clr r0
	ldi r24, hi8(RAMEND)
	out 0x3e, r24
	ldi r24, lo8(RAMEND)
	out 0x3d, r24
	ldi r30, 0
	ldi r31, 1
	ldi r24, 0
	ldi r25, 8
1:	st Z+, r0
	sbiw r24, 1
	brne 1b
	sbi DDRB, 0
	; each register starts with a value of its own
	ldi r30, 0
	ldi r31, 0
	ldi r24, 7
2:	mov r25, r24
	st Z+, r24
	ldi r23, 37
	add r24, r23
	cpi r30, 23
	brne 2b
@BODY@
	call checkpoint
	ldi r30, 0x00
	ldi r31, 0x01
	ldi r19, 16
3:	ldi r16, 32
	call line
	dec r19
	brne 3b
	cli
	sleep

; sends r0..r31, SREG and SP, and changes nothing
checkpoint:
	push r31
	in r31, 0x3f
	push r31
	.irp n, 30,29,28,27,26,25,24,23,22,21,20,19,18,17,16,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0
	push r\n
	.endr
	in r30, 0x3d
	in r31, 0x3e
	push r31
	push r30
	in r30, 0x3d
	in r31, 0x3e
	adiw r30, 1
	ldi r16, 35
	rcall line
	pop r16
	pop r16
	.irp n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
	pop r\n
	.endr
	pop r31
	out 0x3f, r31
	pop r31
	ret

; sends r16 bytes at Z in hexadecimal
line:
	ld r17, Z+
	mov r18, r17
	swap r18
	rcall digit
	mov r18, r17
	rcall digit
	dec r16
	brne line
	ldi r18, 10
	sts UDR0, r18
	ret

digit:
	andi r18, 15
	subi r18, -48
	cpi r18, 58
	brcs 4f
	subi r18, -39
4:	sts UDR0, r18
	ret

; what ELPM finds, on both sides of 64 KiB; in .text, since simavr loads no section of another name
@FAR@
