/* SAEF-ForkSkinny-128-256 (Tables 1 and 4 of the specification) */
#define FORK_N 16
#define FORK_T 32
#define FORK_RINIT 21
#define FORK_R0 27
#define FORK_R1 27
