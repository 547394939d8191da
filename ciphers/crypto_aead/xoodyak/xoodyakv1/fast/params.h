#define CYCLIST_ID_BYTES 0      /* round 2: the nonce is absorbed after K */
/* Input and output by lanes where they are whole. */
#define CYCLIST_FAST
#define CYCLIST_MODE CYCLIST_KEYED
