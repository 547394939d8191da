/*
 * Calls one block cipher on an ATmega328P: prints every block of inputs.h encrypted, and decrypted again.
 */
#include <avr/interrupt.h>
#include <avr/io.h>
#include <avr/sleep.h>
#include <string.h>

#include "api.h"
#include "crypto_block.h"
#include "inputs.h"

static unsigned char context[CRYPTO_CONTEXTBYTES] __attribute__((aligned(8)));

static void put(char c)
{
    while (!(UCSR0A & 1 << UDRE0))
        ;
    UDR0 = c;
}

static void print(const unsigned char *x)
{
    for (unsigned char i = 0; i < CRYPTO_BLOCKBYTES; i++) {
        put("0123456789abcdef"[x[i] >> 4]);
        put("0123456789abcdef"[x[i] & 15]);
    }
    put('\n');
}

int main(void)
{
    UCSR0B = 1 << TXEN0;
    for (unsigned char i = 0; i < sizeof(blocks) / CRYPTO_BLOCKBYTES; i++) {
        unsigned char x[CRYPTO_BLOCKBYTES];

        crypto_block_encrypt_schedule(context, keys[i]);
        crypto_block_encrypt(x, blocks[i], context);
        print(x);
        crypto_block_decrypt_schedule(context, keys[i]);
        crypto_block_decrypt(x, x, context);
        print(x);
    }
    while (!(UCSR0A & 1 << TXC0))
        ;
    cli();
    sleep_mode(); /* for ever: simavr ends */
}
