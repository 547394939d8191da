/* ISAP-A-128: Table 2.2. */
#define ISAP_S_H 12
#define ISAP_S_B 12
#define ISAP_S_E 12
#define ISAP_S_K 12
