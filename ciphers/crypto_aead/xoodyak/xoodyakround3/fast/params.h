#define CYCLIST_MODE CYCLIST_KEYED
/* Input and output by lanes where they are whole. */
#define CYCLIST_FAST
