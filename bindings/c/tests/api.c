/* Tests of the C library: every function, every kind of failure, and threads.
 * Run under valgrind by scripts/test-c: api MODEL_FILE UNCHECKED_MODEL_FILE LANGUAGE_FILE */
#include <brr.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                                     \
  do {                                                                       \
    if (!(condition)) {                                                      \
      fprintf(stderr, "%s:%d: %s (last error: %s)\n", __FILE__, __LINE__,    \
              #condition, brr_error_message());                              \
      exit(1);                                                               \
    }                                                                        \
  } while (0)

static const char TEXT[] = "The film was a waste of an evening, wasn't it?";

static struct brr_privatizer *make(struct brr_model *model, uint32_t mechanism, double epsilon) {
  struct brr_options options = brr_options_default();
  options.mechanism = mechanism;
  options.budget = BRR_BUDGET_EPSILON;
  options.value = epsilon;
  struct brr_privatizer *privatizer = NULL;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  return privatizer;
}

static uint8_t *read_all(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = malloc(*size);
  CHECK(bytes != NULL && fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static void models(const char *path) {
  struct brr_model *model = (struct brr_model *)1;
  CHECK(brr_model_open("/nowhere/model.brr", &model) == BRR_IO && model == NULL);
  CHECK(strstr(brr_error_message(), "cannot read") != NULL);
  CHECK(brr_model_open(NULL, &model) == BRR_INVALID_ARGUMENT);
  CHECK(brr_model_open(path, NULL) == BRR_INVALID_ARGUMENT);
  CHECK(brr_model_from_memory((const uint8_t *)"not a model", 11, &model) == BRR_INVALID_MODEL);
  CHECK(brr_model_from_memory(NULL, 8, &model) == BRR_INVALID_ARGUMENT);
  CHECK(brr_model_from_memory(NULL, 0, &model) == BRR_INVALID_MODEL);

  size_t size = 0;
  uint8_t *bytes = read_all(path, &size);
  CHECK(brr_model_from_memory(bytes, size, &model) == BRR_OK);
  bytes[size / 2] ^= 1;
  struct brr_model *damaged = NULL;
  CHECK(brr_model_from_memory(bytes, size, &damaged) == BRR_INVALID_MODEL && damaged == NULL);
  free(bytes);

  struct brr_model *opened = NULL;
  CHECK(brr_model_open(path, &opened) == BRR_OK);
  CHECK(brr_model_words(opened) == brr_model_words(model) && brr_model_words(model) > 1);
  CHECK(brr_model_bits(opened) % 64 == 0 && brr_model_words(NULL) == 0);
  brr_model_free(opened);
  brr_model_free(model);
  brr_model_free(NULL);
}

static void languages(const char *path, const char *model_path) {
  struct brr_language *language = (struct brr_language *)1;
  CHECK(brr_language_open("/nowhere/english.lm", &language) == BRR_IO && language == NULL);
  CHECK(brr_language_open(NULL, &language) == BRR_INVALID_ARGUMENT);
  CHECK(brr_language_open(path, NULL) == BRR_INVALID_ARGUMENT);
  CHECK(brr_language_english(NULL) == BRR_INVALID_ARGUMENT);
  CHECK(brr_language_open(model_path, &language) == BRR_INVALID_MODEL && language == NULL);
  CHECK(brr_language_from_bytes((const uint8_t *)"garbage", 7, &language) == BRR_INVALID_MODEL && language == NULL);
  CHECK(strstr(brr_error_message(), "not a language model") != NULL);
  CHECK(brr_language_from_bytes(NULL, 8, &language) == BRR_INVALID_ARGUMENT);
  CHECK(brr_language_open(path, &language) == BRR_OK);
  brr_language_free(language);
  size_t size = 0;
  uint8_t *bytes = read_all(path, &size);
  CHECK(brr_language_from_bytes(bytes, size, &language) == BRR_OK);
  brr_language_free(language);
  brr_language_free(NULL);
  bytes[size / 2] ^= 1;
  CHECK(brr_language_from_bytes(bytes, size, &language) == BRR_INVALID_MODEL && language == NULL);
  free(bytes);
}

/* Draws that are decoded together: as many tokens, the same structure and the same guarantee; and
 * at so large a bound, the same text. */
static void *contexts(void *other_model) {
  static const char PLAIN[] = "all is well. nothing changes at so large a bound!";
  struct brr_model *model = NULL;
  CHECK(brr_model_english(&model) == BRR_OK);
  struct brr_options options = brr_options_default();
  CHECK(options.context == NULL);
  options.budget = BRR_BUDGET_BOUND;
  struct brr_language *language = NULL;
  CHECK(brr_language_english(&language) == BRR_OK);
  struct brr_privatizer *decoded[2], *drawn = NULL;
  options.value = 20;
  CHECK(brr_privatizer_new(model, &options, &drawn) == BRR_OK);
  options.context = language;
  for (int i = 0; i < 2; i++) {
    options.value = i == 0 ? 20 : 400;
    CHECK(brr_privatizer_new(model, &options, &decoded[i]) == BRR_OK);
  }
  struct brr_model *other = NULL;
  struct brr_privatizer *none = NULL;
  CHECK(brr_model_open(other_model, &other) == BRR_OK);
  CHECK(brr_privatizer_new(other, &options, &none) == BRR_INVALID_MODEL && none == NULL);
  CHECK(strstr(brr_error_message(), "another vocabulary") != NULL);
  brr_model_free(other);
  brr_language_free(language); /* the privatizers keep it alive */

  struct brr_guarantee with, without;
  CHECK(brr_privatizer_guarantee(decoded[0], &with) == BRR_OK);
  CHECK(brr_privatizer_guarantee(drawn, &without) == BRR_OK);
  CHECK(with.epsilon == without.epsilon && with.worst_token == without.worst_token);
  struct brr_text out;
  CHECK(brr_privatize(decoded[0], TEXT, strlen(TEXT), &out) == BRR_OK);
  CHECK(out.tokens == 11 && out.data[out.len - 1] == '?' && strchr(out.data, ',') != NULL);
  brr_text_free(&out);
  CHECK(brr_privatize(decoded[1], PLAIN, strlen(PLAIN), &out) == BRR_OK);
  CHECK(strcmp(out.data, PLAIN) == 0);
  brr_text_free(&out);
  brr_privatizer_free(drawn);
  for (int i = 0; i < 2; i++) brr_privatizer_free(decoded[i]);
  brr_model_free(model);
  return NULL;
}

/* Words of a public list stay, others become private words, and capital letters come from the output. */
static void policies(const struct brr_model *model) {
  struct brr_options options = brr_options_default();
  CHECK(options.public_words == NULL && options.private_words == NULL && options.letter_case == BRR_CASE_PLAIN);
  options.mechanism = BRR_MECHANISM_TREE;
  options.budget = BRR_BUDGET_EPSILON;
  options.value = 0.8;
  options.public_words = "function-words";
  options.letter_case = BRR_CASE_SENTENCE;
  struct brr_privatizer *privatizer = NULL;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  CHECK(strstr(brr_privatizer_adjacency(privatizer), "public list function-words") != NULL);
  CHECK(strcmp(brr_privatizer_kept_words(privatizer), "private words stay as they are") == 0);
  static const char LATE[] = "THE doctor was NOT here";
  struct brr_text out;
  CHECK(brr_privatize(privatizer, LATE, strlen(LATE), &out) == BRR_OK);
  CHECK(strncmp(out.data, "The ", 4) == 0 && strstr(out.data, " was not here") != NULL);
  CHECK(out.tokens == 5 && out.public_tokens == 4);
  brr_text_free(&out);
  brr_privatizer_free(privatizer);
  privatizer = NULL;
  options.private_words = "doctor\nnurse\n";
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_INVALID_ARGUMENT && privatizer == NULL);
  options.public_words = NULL;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  brr_privatizer_free(privatizer);
  privatizer = NULL;
  options.private_words = "doctor\nqzxj\n";
  CHECK(brr_privatizer_new(model, &options, &privatizer) != BRR_OK && privatizer == NULL);
  CHECK(strstr(brr_error_message(), "line 2") != NULL && strstr(brr_error_message(), "qzxj") == NULL);
  options.private_words = "no such list";
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_INVALID_ARGUMENT && privatizer == NULL);
}

/* A file that the library was not released with: believed after a check. */
static void *standings(void *path) {
  struct brr_model *model = NULL;
  struct brr_privatizer *privatizer = NULL;
  CHECK(brr_model_open(path, &model) == BRR_OK);
  CHECK(brr_model_standing(model) == BRR_STANDING_UNCHECKED);
  struct brr_options options = brr_options_default();
  options.value = 0.999;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_UNCHECKED_MODEL && privatizer == NULL);
  CHECK(strstr(brr_error_message(), "brr_model_check()") != NULL);
  options.budget = BRR_BUDGET_EPSILON;
  options.value = 1;
  struct brr_guarantee before, after;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  CHECK(brr_privatizer_guarantee(privatizer, &before) == BRR_OK && before.expected_keep < 0);
  brr_privatizer_free(privatizer);

  CHECK(brr_model_check(model, 2) == BRR_OK);
  CHECK(brr_model_standing(model) == BRR_STANDING_CHECKED);
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  CHECK(brr_privatizer_guarantee(privatizer, &after) == BRR_OK);
  CHECK(after.expected_keep > 0.9 && after.worst < before.worst);
  brr_privatizer_free(privatizer);
  brr_model_free(model);
  CHECK(brr_model_check(NULL, 0) == BRR_INVALID_ARGUMENT);
  CHECK(brr_model_standing(NULL) == BRR_STANDING_UNCHECKED);
  return NULL;
}

/* The header's words about the defaults, checked. */
static void defaults(struct brr_model *model) {
  struct brr_options options = brr_options_default();
  CHECK(options.mechanism == BRR_MECHANISM_EXPONENTIAL);
  CHECK(options.budget == BRR_BUDGET_KEEP && options.value == 0.5);
  CHECK(options.layout == BRR_LAYOUT_KEEP && options.unknown == BRR_UNKNOWN_RANDOM);
  CHECK(brr_model_standing(model) == BRR_STANDING_PINNED && brr_model_check(model, 0) == BRR_OK);
  struct brr_privatizer *plain = NULL, *same = NULL;
  CHECK(brr_privatizer_new(model, NULL, &plain) == BRR_OK);
  CHECK(brr_privatizer_new(model, &options, &same) == BRR_OK);
  struct brr_guarantee a, b;
  CHECK(brr_privatizer_guarantee(plain, &a) == BRR_OK && brr_privatizer_guarantee(same, &b) == BRR_OK);
  CHECK(a.epsilon == b.epsilon && a.expected_keep == b.expected_keep && a.expected_keep > 0.4 && a.expected_keep <= 0.5);
  brr_privatizer_free(plain);
  brr_privatizer_free(same);
}

static void adjacencies(struct brr_model *model) {
  struct brr_options options = brr_options_default();
  struct brr_privatizer *privatizer = NULL;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  CHECK(strstr(brr_privatizer_adjacency(privatizer), "punctuation marks") != NULL);
  brr_privatizer_free(privatizer);
  options.layout = BRR_LAYOUT_WORDS;
  options.unknown = BRR_UNKNOWN_MASK;
  options.search = BRR_SEARCH_MULTI_INDEX;
  CHECK(brr_privatizer_new(model, &options, &privatizer) == BRR_OK);
  CHECK(strstr(brr_privatizer_adjacency(privatizer), "punctuation") == NULL);
  CHECK(strstr(brr_privatizer_adjacency(privatizer), "infinite loss") != NULL);
  CHECK(isinf(brr_privatizer_total_loss(privatizer, 1)));
  brr_privatizer_free(privatizer);
  CHECK(brr_privatizer_adjacency(NULL) == NULL && brr_privatizer_kept_words(NULL) == NULL);
}

static void options(struct brr_model *model) {
  struct brr_privatizer *privatizer = NULL;
  struct brr_options bad = brr_options_default();
  bad.budget = BRR_BUDGET_EPSILON;
  bad.value = -1;
  CHECK(brr_privatizer_new(model, &bad, &privatizer) == BRR_INVALID_BUDGET && privatizer == NULL);
  CHECK(strstr(brr_error_message(), "epsilon must be") != NULL);
  bad.value = NAN;
  CHECK(brr_privatizer_new(model, &bad, &privatizer) == BRR_INVALID_BUDGET);
  bad = brr_options_default();
  bad.mechanism = 99;
  CHECK(brr_privatizer_new(model, &bad, &privatizer) == BRR_INVALID_ARGUMENT);
  bad = brr_options_default();
  bad.unknown = 99;
  CHECK(brr_privatizer_new(model, &bad, &privatizer) == BRR_INVALID_ARGUMENT);
  bad = brr_options_default();
  bad.search = 99;
  CHECK(brr_privatizer_new(model, &bad, &privatizer) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatizer_new(NULL, NULL, &privatizer) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatizer_new(model, NULL, NULL) == BRR_INVALID_ARGUMENT);
}

static void guarantees(struct brr_model *model) {
  struct brr_privatizer *privatizer = make(model, BRR_MECHANISM_BRR, 0.5);
  struct brr_guarantee promise;
  CHECK(brr_privatizer_guarantee(privatizer, &promise) == BRR_OK);
  CHECK(promise.epsilon <= 0.5 && promise.epsilon > 0.499);
  CHECK(promise.nearest < promise.bound && promise.bound < promise.worst);
  CHECK(brr_privatizer_total_loss(privatizer, 0) == 0);
  CHECK(brr_privatizer_total_loss(privatizer, 10) >= 10 * promise.worst);
  CHECK(isnan(brr_privatizer_total_loss(NULL, 1)));
  CHECK(brr_privatizer_guarantee(NULL, &promise) == BRR_INVALID_ARGUMENT);
  size_t count = 99;
  CHECK(strcmp(brr_privatizer_metric(privatizer), "hamming-256") == 0);
  CHECK(brr_privatizer_losses(privatizer, &count) == NULL && count == 0);
  brr_privatizer_free(privatizer);
  brr_privatizer_free(NULL);
  privatizer = make(model, BRR_MECHANISM_TREE, 0.85);
  CHECK(strcmp(brr_privatizer_metric(privatizer), "tree-15") == 0);
  const double *losses = brr_privatizer_losses(privatizer, &count);
  CHECK(count == 16 && losses[0] == 0 && losses == brr_privatizer_losses(privatizer, NULL));
  for (size_t level = 1; level < count; level++) CHECK(losses[level] > 0.84 * level && losses[level] < 0.8501 * level);
  CHECK(brr_privatizer_guarantee(privatizer, &promise) == BRR_OK && promise.worst == losses[15]);
  brr_privatizer_free(privatizer);
  CHECK(brr_privatizer_metric(NULL) == NULL);
  count = 99;
  CHECK(brr_privatizer_losses(NULL, &count) == NULL && count == 0);
}

static void texts(struct brr_model *model) {
  struct brr_privatizer *privatizer = make(model, BRR_MECHANISM_BRR, 0.3);
  struct brr_text out;
  CHECK(brr_privatize(privatizer, TEXT, strlen(TEXT), &out) == BRR_OK);
  CHECK(out.tokens >= 9 && strlen(out.data) == out.len);
  CHECK(out.data[out.len - 1] == '?' && strcmp(out.data, TEXT) != 0);
  brr_text_free(&out);
  brr_text_free(&out); /* emptied by the first */
  brr_text_free(NULL);

  CHECK(brr_privatize(privatizer, NULL, 0, &out) == BRR_OK && out.len == 0 && out.tokens == 0);
  brr_text_free(&out);
  CHECK(brr_privatize(privatizer, "\xff secret", 8, &out) == BRR_INVALID_INPUT && out.data == NULL);
  CHECK(strstr(brr_error_message(), "secret") == NULL);
  CHECK(brr_privatize(NULL, TEXT, 4, &out) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize(privatizer, NULL, 4, &out) == BRR_INVALID_ARGUMENT);

  char buffer[1024];
  size_t written = 0;
  memset(buffer, 'x', sizeof buffer);
  CHECK(brr_privatize_into(privatizer, TEXT, strlen(TEXT), buffer, 4, &written) == BRR_BUFFER_TOO_SMALL);
  CHECK(written > 4 && buffer[0] == 'x');
  CHECK(brr_privatize_into(privatizer, TEXT, strlen(TEXT), buffer, sizeof buffer, &written) == BRR_OK);
  CHECK(strlen(buffer) == written && buffer[written + 1] == 'x');
  CHECK(brr_privatize_into(privatizer, TEXT, 3, NULL, 9, &written) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize_into(privatizer, TEXT, 3, buffer, 9, NULL) == BRR_INVALID_ARGUMENT);
  brr_privatizer_free(privatizer);
}

static void batches(struct brr_model *model) {
  struct brr_privatizer *privatizer = make(model, BRR_MECHANISM_EXPONENTIAL, 0.05);
  const char *const texts[] = {"One, two!", "", "three\nfour five"};
  const size_t lens[] = {4, 0, 5};
  struct brr_text out[3];
  CHECK(brr_privatize_batch(privatizer, texts, NULL, 3, out) == BRR_OK);
  CHECK(out[0].tokens == 2 && out[1].tokens == 0 && out[2].tokens == 3);
  CHECK(strchr(out[0].data, ',') != NULL && out[0].data[out[0].len - 1] == '!');
  CHECK(out[1].len == 0 && out[1].data[0] == 0 && strchr(out[2].data, '\n') != NULL);
  for (int i = 0; i < 3; i++) brr_text_free(&out[i]);
  CHECK(brr_privatize_batch(privatizer, texts, lens, 3, out) == BRR_OK);
  CHECK(out[0].tokens == 1 && out[0].data[out[0].len - 1] == ',' && out[2].tokens == 1);
  for (int i = 0; i < 3; i++) brr_text_free(&out[i]);

  /* One bad text fails all, and nothing is left to free. */
  const char *const bad[] = {"one", "\xff secret"};
  memset(out, 'x', sizeof out);
  CHECK(brr_privatize_batch(privatizer, bad, NULL, 2, out) == BRR_INVALID_INPUT);
  CHECK(out[0].data == NULL && out[1].data == NULL && strstr(brr_error_message(), "secret") == NULL);
  const char *const missing[] = {"one", NULL};
  CHECK(brr_privatize_batch(privatizer, missing, NULL, 2, out) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize_batch(privatizer, NULL, NULL, 2, out) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize_batch(privatizer, texts, NULL, 3, NULL) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize_batch(NULL, texts, NULL, 3, out) == BRR_INVALID_ARGUMENT);
  CHECK(brr_privatize_batch(privatizer, NULL, NULL, 0, NULL) == BRR_OK);
  brr_privatizer_free(privatizer);
}

static void explanations(struct brr_model *model, uint32_t mechanism) {
  struct brr_privatizer *privatizer = make(model, mechanism, 1.0);
  struct brr_chance chances[5];
  size_t count = 0;
  CHECK(brr_outcomes(privatizer, "film", 4, 50, chances, 5, &count) == BRR_OK && count >= 1);
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    CHECK(chances[i].word[0] != 0 && chances[i].low <= chances[i].probability);
    sum += chances[i].probability;
  }
  CHECK(sum <= 1.0 + 1e-9);
  CHECK(brr_posterior(privatizer, "film", 4, 50, chances, 5, &count) == BRR_OK);
  CHECK(count > 0 && strcmp(chances[0].word, "film") == 0);
  CHECK(brr_outcomes(privatizer, "qqqqxzzz", 8, 9, chances, 5, &count) == BRR_INVALID_INPUT && count == 0);
  CHECK(brr_outcomes(privatizer, "film", 4, 9, NULL, 5, &count) == BRR_INVALID_ARGUMENT);
  CHECK(brr_outcomes(privatizer, "film", 4, 9, NULL, 0, &count) == BRR_OK && count == 0);
  brr_privatizer_free(privatizer);
}

static void *run_thread(void *shared) {
  for (int i = 0; i < 5; i++) {
    struct brr_text out;
    CHECK(brr_privatize(shared, TEXT, strlen(TEXT), &out) == BRR_OK);
    brr_text_free(&out);
    CHECK(brr_privatize(NULL, TEXT, 1, &out) == BRR_INVALID_ARGUMENT);
    CHECK(strstr(brr_error_message(), "privatizer is null") != NULL);
  }
  return NULL;
}

static void threads(struct brr_model *model) {
  struct brr_privatizer *shared = make(model, BRR_MECHANISM_BRR, 0.5);
  pthread_t thread[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&thread[i], NULL, run_thread, shared) == 0);
  for (int i = 0; i < 4; i++) pthread_join(thread[i], NULL);
  brr_privatizer_free(shared);
}

int main(int argc, char **argv) {
  CHECK(argc == 4 && brr_error_message()[0] == 0 && brr_version()[0] != 0);
  models(argv[1]);
  languages(argv[3], argv[1]);
  struct brr_model *model = NULL;
  CHECK(brr_model_english(&model) == BRR_OK);
  /* Rust's handle of a thread that starts others is freed when that thread ends; the main
   * thread's would be a leak to valgrind. */
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, standings, argv[2]) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(pthread_create(&thread, NULL, contexts, argv[2]) == 0 && pthread_join(thread, NULL) == 0);
  defaults(model);
  adjacencies(model);
  policies(model);
  options(model);
  guarantees(model);
  texts(model);
  batches(model);
  explanations(model, BRR_MECHANISM_BRR);
  explanations(model, BRR_MECHANISM_EXPONENTIAL);
  threads(model);
  brr_model_free(model);
  puts("C API: ok");
  return 0;
}
