/* Privatizes a text with the built-in English model:
 *
 *     ./privatize "the film was a terrible waste of an evening" 0.5
 *
 * The second argument is the share of words to keep. */
#include <brr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(const char *what) {
  fprintf(stderr, "error: %s: %s\n", what, brr_error_message());
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  const char *text = argc > 1 ? argv[1] : "The film was a terrible waste of an evening!";
  struct brr_options options = brr_options_default();
  if (argc > 2) options.value = atof(argv[2]);

  struct brr_model *model = NULL;
  if (brr_model_english(&model) != BRR_OK) return failed("model");

  struct brr_privatizer *privatizer = NULL;
  enum brr_status status = brr_privatizer_new(model, &options, &privatizer);
  brr_model_free(model); /* the privatizer keeps it alive */
  if (status != BRR_OK) return failed("options");

  struct brr_text private;
  status = brr_privatize(privatizer, text, strlen(text), &private);
  if (status == BRR_OK) {
    puts(private.data);
    struct brr_guarantee promise;
    brr_privatizer_guarantee(privatizer, &promise);
    fprintf(stderr, "epsilon %.3f per bit, bound %.1f, whole text at most %.0f\n",
            promise.epsilon, promise.bound,
            brr_privatizer_total_loss(privatizer, private.tokens));
    fprintf(stderr, "%s\n", brr_privatizer_adjacency(privatizer));
  }
  brr_text_free(&private);
  brr_privatizer_free(privatizer);
  return status == BRR_OK ? EXIT_SUCCESS : failed("text");
}
