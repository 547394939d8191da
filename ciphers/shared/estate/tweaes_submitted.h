/* As the submission's code, and its known answers, have it. */
#define ESTATE_SUBMITTED
