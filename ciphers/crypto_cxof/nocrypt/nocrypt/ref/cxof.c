/*
 * nocrypt: the baseline of every customizable-XOF measurement.
 *
 * This is not an XOF. The output is the start of the message, zero-padded; the customization string
 * is not looked at. It exists so that the cost of the harness can be measured and subtracted.
 */
#include <stddef.h>
#include <string.h>

#include "api.h"
#include "crypto_cxof.h"

int crypto_cxof(unsigned char *out, unsigned long long outlen, const unsigned char *in, unsigned long long inlen,
                const unsigned char *cs, unsigned long long cslen)
{
    size_t n = (size_t)(inlen < outlen ? inlen : outlen);

    (void)cs;
    (void)cslen;
    memset(out, 0, (size_t)outlen);
    if (n != 0)
        memcpy(out, in, n);
    return 0;
}
