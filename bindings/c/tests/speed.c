/* Words per second through the C library; examples/native_speed.rs is the same
 * in Rust.
 * speed ROUNDS, with a text of 200 words on standard input. */
#define _POSIX_C_SOURCE 200809L
#include <brr.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
  static char text[65536];
  size_t len = fread(text, 1, sizeof text, stdin);
  int rounds = argc > 1 ? atoi(argv[1]) : 5;
  struct brr_model *model = NULL;
  struct brr_privatizer *privatizer = NULL;
  if (brr_model_english(&model) != BRR_OK) return 1;
  struct brr_options options = brr_options_default();
  options.mechanism = BRR_MECHANISM_BRR;
  if (brr_privatizer_new(model, &options, &privatizer) != BRR_OK) return 1;
  double start = 0, words = 0;
  for (int i = -20; i < 20 * rounds; i++) {
    if (i == 0) start = now(); /* warm by now */
    struct brr_text out;
    if (brr_privatize(privatizer, text, len, &out) != BRR_OK) return 1;
    if (i >= 0) words += (double)out.tokens;
    brr_text_free(&out);
  }
  printf("%.0f\n", words / (now() - start));
  brr_privatizer_free(privatizer);
  brr_model_free(model);
  return 0;
}
