/* How much stack encryption and decryption take on an AVR, seen by nobody but the code itself: RAM is painted before each
 * call, and the deepest byte that changed counts. Two paints, because a call may write what is there already. */
#include "crypto_aead.h"
#include "end.h"

enum { MESSAGE = 40, AD = 20, OUT = 128 };

extern uint8_t __heap_start; /* where static data ends */
static uint8_t *top;
static uint8_t text[OUT], message[OUT], inputs[64];
static unsigned long long text_len, message_len;

__attribute__((noinline)) static int call(int decrypt)
{
    top = (uint8_t *)SY_STACK_POINTER();
    if (decrypt)
        return crypto_aead_decrypt(message, &message_len, NULL, text, text_len, inputs, AD, inputs, inputs);
    return crypto_aead_encrypt(text, &text_len, message, MESSAGE, inputs, AD, NULL, inputs, inputs);
}

static uint16_t deepest(int decrypt)
{
    uint16_t found = 0;
    for (uint8_t paint = 0x5a; paint != 0; paint = paint == 0x5a ? 0xc3 : 0) {
        for (uint8_t *p = &__heap_start; p < (uint8_t *)SY_STACK_POINTER() - 4; p++)
            *p = paint;
        if (call(decrypt) != 0)
            return 0;
        uint8_t *p = &__heap_start;
        while (p <= top && *p == paint)
            p++;
        /* AVR's stack pointer is one byte below what was pushed last */
        if ((uint16_t)(top - p + 1) > found)
            found = (uint16_t)(top - p + 1);
    }
    return found;
}

int main(void)
{
    sy_begin();
    sy_target_init();
    uint16_t encrypt = deepest(0);
    sy_end((uint32_t)deepest(1) << 16 | encrypt);
}
