/* brr: on-device text privatization.
 *
 * Generated from bindings/c/src: do not edit.
 *
 * Every function that can fail returns a brr_status, and then
 * brr_error_message() tells the calling thread what happened. Models, language
 * models and privatizers are read-only and may be shared by threads; a
 * privatizer keeps its models alive. No function ever calls exit or abort.
 */

#ifndef BRR_H
#define BRR_H

#include <stddef.h>
#include <stdint.h>

// Binary randomized response: the paper's mechanism.
#define BRR_MECHANISM_BRR 0

// The exponential mechanism over the same codes, with a certified epsilon.
#define BRR_MECHANISM_EXPONENTIAL 1

// Tree response over the model's tree: mostly a word of the same small group.
#define BRR_MECHANISM_TREE 2

// K-ary randomized response: the word itself with a fixed probability, otherwise any word.
#define BRR_MECHANISM_K_ARY 3

// `value` is epsilon, the loss per unit of the mechanism's distance: a bit in which two codes
// differ, a level of the tree, or 1 between any two words.
#define BRR_BUDGET_EPSILON 0

// `value` is the privacy-loss bound: epsilon times the average distance.
#define BRR_BUDGET_BOUND 1

// `value` is the expected share of words that stay, between 0 and 1.
#define BRR_BUDGET_KEEP 2

// White space, HTML line breaks and listed punctuation are kept.
#define BRR_LAYOUT_KEEP 0

// Words with single spaces between them, and nothing else.
#define BRR_LAYOUT_WORDS 1

// Tokens that the model does not know become random words.
#define BRR_UNKNOWN_RANDOM 0

// They become `<unk>`, which tells which tokens are unknown.
#define BRR_UNKNOWN_MASK 1

// They are left out, which tells how many tokens are unknown.
#define BRR_UNKNOWN_DROP 2

// They are written as they are: NOT PRIVATE.
#define BRR_UNKNOWN_KEEP 3

// BRR looks at every code, in a time that tells nothing about the word.
#define BRR_SEARCH_SCAN 0

// BRR uses multi-index hashing: faster at a large epsilon, in a time that depends on the
// noisy code.
#define BRR_SEARCH_MULTI_INDEX 1

// Words are written as the model spells them.
#define BRR_CASE_PLAIN 0

// With capital letters by the output alone: at the start of sentences, in "I", and in names
// and places.
#define BRR_CASE_SENTENCE 1

// Bytes of a word, its NUL included.
#define BRR_WORD_BYTES 256

// What a call came to.
typedef enum brr_status {
  // Done.
  BRR_OK = 0,
  // A null pointer, or a choice that does not exist.
  BRR_INVALID_ARGUMENT = 1,
  // The text is not UTF-8, or the model does not have the word.
  BRR_INVALID_INPUT = 2,
  // A budget that is out of range, or that the model cannot solve.
  BRR_INVALID_BUDGET = 3,
  // Not a model, or a damaged one; or a language model for the words of another.
  BRR_INVALID_MODEL = 4,
  // A file could not be read.
  BRR_IO = 5,
  // The operating system gave no randomness; nothing was privatized.
  BRR_NO_ENTROPY = 6,
  // The caller's buffer is too small; nothing was written to it.
  BRR_BUFFER_TOO_SMALL = 7,
  // A bug in brr. Nothing was privatized.
  BRR_INTERNAL = 9,
  // A share of kept words was asked of a model whose file was not checked.
  BRR_UNCHECKED_MODEL = 10,
} brr_status;

// Why what a model file says about itself is believed, or is not. What is not
// believed is not used: what holds for any codes stands in for it.
typedef enum brr_standing {
  // Nobody has looked at it yet: brr_model_check() does.
  BRR_STANDING_UNCHECKED = 0,
  // The file is one that this library was released with.
  BRR_STANDING_PINNED = 1,
  // brr_model_check() has looked at all pairs of words.
  BRR_STANDING_CHECKED = 2,
} brr_standing;

// A language model: which words follow which, in public text. Read-only;
// threads may share it.
typedef struct brr_language brr_language;

// A model: words and their codes. Read-only; threads may share it.
typedef struct brr_model brr_model;

// Privatizes texts. Read-only; threads may share it.
typedef struct brr_privatizer brr_privatizer;

// A word, and how likely it is.
typedef struct brr_chance {
  // The word: UTF-8 with a NUL after its end.
  char word[BRR_WORD_BYTES];
  // How likely.
  double probability;
  // Not below this: equal to `probability` if that is exact, else the lower
  // end of a 95 % interval.
  double low;
  // Not above this, likewise.
  double high;
} brr_chance;

// Everything that can be chosen. Begin with brr_options_default().
typedef struct brr_options {
  // BRR_MECHANISM_...
  uint32_t mechanism;
  // BRR_BUDGET_...: what `value` means.
  uint32_t budget;
  // How much privacy.
  double value;
  // BRR_LAYOUT_...
  uint32_t layout;
  // BRR_UNKNOWN_...
  uint32_t unknown;
  // BRR_SEARCH_...: how BRR_MECHANISM_BRR finds the nearest word.
  uint32_t search;
  // The language model with which the draws of a text are decoded together,
  // which costs no privacy; null for none. The text reads then: it is a
  // plausible text, not what was written.
  const struct brr_language *context;
  // Words that stay as they are, all others being private; null for none. The name of
  // a built-in list ("function-words", "names", "places", or several with '+' between
  // them), or words with a line feed after each, in UTF-8. Fix them before any text is
  // seen: which of them stand where is then public, and brr_privatizer_adjacency() says so.
  const char *public_words;
  // Instead: the only words that are private, beside those that the model does not
  // know. Null if all are.
  const char *private_words;
  // BRR_CASE_...: whether capital letters are written.
  uint32_t letter_case;
} brr_options;

// What is promised, per token. All losses are rounded up.
typedef struct brr_guarantee {
  // Loss per unit of the mechanism's distance, which brr_privatizer_metric() names.
  double epsilon;
  // Mean loss between a word and its nearest neighbour.
  double nearest;
  // Loss at the average pair of words: the privacy-loss bound.
  double bound;
  // Loss at the farthest pair: no two words exceed it.
  double worst;
  // Largest loss between a token without a code and a word.
  double unknown_loss;
  // Largest loss between any two tokens, words or not.
  double worst_token;
  // Expected share of words that stay; negative if not known.
  double expected_keep;
} brr_guarantee;

// A privatized text, to be freed with brr_text_free().
typedef struct brr_text {
  // UTF-8, with a NUL after its end.
  char *data;
  // Length in bytes, the NUL not counted.
  size_t len;
  // How many tokens the text had.
  uint64_t tokens;
  // How many of them the model does not know. (Not private: for the user's
  // own eyes.)
  uint64_t unknown;
  // How many of them are public words, by a list of public or private words.
  uint64_t public_tokens;
} brr_text;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The library's version, such as "0.1.0".
const char *brr_version(void);

// The most likely outputs when `word` goes in, itself among them: exact for
// the exponential mechanism, else estimated from `draws` draws (0 for the default, 10,000).
// BRR_INVALID_INPUT if the model does not have the word.
//
// # Safety
// `privatizer` is alive, `word` readable for `len` bytes, `out` writable for
// `capacity` elements, `count` writable.
enum brr_status brr_outcomes(const struct brr_privatizer *privatizer,
                             const char *word,
                             size_t len,
                             size_t draws,
                             struct brr_chance *out,
                             size_t capacity,
                             size_t *count);

// The most likely inputs behind the output `word`, for an observer who holds
// every word for equally likely beforehand. None if there were too few draws
// to tell.
//
// # Safety
// As for brr_outcomes().
enum brr_status brr_posterior(const struct brr_privatizer *privatizer,
                              const char *word,
                              size_t len,
                              size_t draws,
                              struct brr_chance *out,
                              size_t capacity,
                              size_t *count);

// What the last failed call of this thread says, for people; "" before the
// first. Valid until the thread's next call that fails.
const char *brr_error_message(void);

// Opens the English language model that is built into this library, for the
// words of brr_model_english().
//
// # Safety
// `out` is writable.
enum brr_status brr_language_english(struct brr_language **out);

// Opens a language model file, as `brr language build` makes them. `path`
// ends with NUL.
//
// # Safety
// `path` is a NUL-terminated string and `out` writable.
enum brr_status brr_language_open(const char *path, struct brr_language **out);

// Opens a language model from memory, which is copied.
//
// # Safety
// `data` is readable for `len` bytes and `out` writable.
enum brr_status brr_language_from_bytes(const uint8_t *data, size_t len, struct brr_language **out);

// Lets go of a language model; null is fine. Privatizers made with it live on.
//
// # Safety
// `language` is null or came from this library and is not used again.
void brr_language_free(struct brr_language *language);

// Opens the English model that is built into this library.
//
// # Safety
// `out` is writable.
enum brr_status brr_model_english(struct brr_model **out);

// Opens a model file. `path` ends with NUL.
//
// # Safety
// `path` is a NUL-terminated string and `out` writable.
enum brr_status brr_model_open(const char *path, struct brr_model **out);

// Opens a model from memory, which is copied.
//
// # Safety
// `data` is readable for `len` bytes and `out` writable.
enum brr_status brr_model_from_memory(const uint8_t *data, size_t len, struct brr_model **out);

// Lets go of a model; null is fine. Privatizers made from it live on.
//
// # Safety
// `model` is null or came from this library and is not used again.
void brr_model_free(struct brr_model *model);

// How many words a model has; 0 for null.
//
// # Safety
// `model` is null or a living model.
size_t brr_model_words(const struct brr_model *model);

// How many bits its codes have; 0 for null.
//
// # Safety
// `model` is null or a living model.
size_t brr_model_bits(const struct brr_model *model);

// Checks what a model's file says about itself, if it is not known to hold: looks at
// all pairs of words, with this number of threads (0 for all cores). Takes seconds for some ten
// thousand words. BRR_INVALID_MODEL if it does not hold.
//
// Privatizers made afterwards use its certificates, and can be asked for a share of
// kept words.
//
// # Safety
// `model` is a living model.
enum brr_status brr_model_check(const struct brr_model *model, size_t threads);

// Why what the model's file says is believed, or is not; unchecked for null.
//
// # Safety
// `model` is null or a living model.
enum brr_standing brr_model_standing(const struct brr_model *model);

// The defaults: the exponential mechanism with the budget at which at most half of
// the words stay, layout kept, unknown tokens replaced at random.
struct brr_options brr_options_default(void);

// Sets a privatizer up. Null `options` are the defaults. With a list of words, the exponential
// mechanism is certified on the private words, which takes seconds.
//
// # Safety
// `model` is a living model, `options` null or readable, with a language model
// that is null or alive and lists of words that are null or end with a NUL, `out` writable.
enum brr_status brr_privatizer_new(const struct brr_model *model,
                                   const struct brr_options *options,
                                   struct brr_privatizer **out);

// Lets go of a privatizer; null is fine.
//
// # Safety
// `privatizer` is null or came from this library and is not used again.
void brr_privatizer_free(struct brr_privatizer *privatizer);

// What a privatizer promises.
//
// # Safety
// `privatizer` is alive and `out` writable.
enum brr_status brr_privatizer_guarantee(const struct brr_privatizer *privatizer,
                                         struct brr_guarantee *out);

// Which texts are neighbours, in a sentence: the relation that the guarantee is
// about. It says what is public. Valid while the privatizer lives; null for null.
//
// # Safety
// `privatizer` is null or alive.
const char *brr_privatizer_adjacency(const struct brr_privatizer *privatizer);

// What `expected_keep` and a budget by share are shares of, as the rest of a sentence that begins
// "half of": "words stay as they are", or what holds of private words where some are public. Valid
// while the privatizer lives; null for null.
//
// # Safety
// `privatizer` is null or alive.
const char *brr_privatizer_kept_words(const struct brr_privatizer *privatizer);

// The distance in which the guarantee is stated: "hamming-256" counts bits in which two codes
// differ, "tree-15" levels of a tree, and "discrete" is 1 between any two words. Valid while the
// privatizer lives; null for null.
//
// # Safety
// `privatizer` is null or alive.
const char *brr_privatizer_metric(const struct brr_privatizer *privatizer);

// The largest loss between two words at each whole distance from 0 on, such as the level in a
// tree; `count` gets how many there are. None, and null, if it is epsilon times the distance,
// and for null. Valid while the privatizer lives.
//
// # Safety
// `privatizer` is null or alive, `count` null or writable.
const double *brr_privatizer_losses(const struct brr_privatizer *privatizer, size_t *count);

// The largest loss between two neighbouring texts of `tokens` tokens each: losses
// add up. INFINITY if the rule for unknown tokens tells neighbours apart; NaN for
// null.
//
// # Safety
// `privatizer` is null or alive.
double brr_privatizer_total_loss(const struct brr_privatizer *privatizer, uint64_t tokens);

// Privatizes `len` bytes of UTF-8 into a text that the caller frees.
//
// # Safety
// `privatizer` is alive, `text` readable for `len` bytes, `out` writable.
enum brr_status brr_privatize(const struct brr_privatizer *privatizer,
                              const char *text,
                              size_t len,
                              struct brr_text *out);

// Privatizes `count` texts of UTF-8 at once, which is faster than one by one: `texts[i]`
// has `lens[i]` bytes, or ends with NUL if `lens` is null. Fills `count` texts at `out`, and
// the caller frees each; on failure all of them are empty.
//
// # Safety
// `privatizer` is alive, `texts` and `lens`, if not null, readable for `count` elements,
// every text readable for its length, and `out` writable for `count` elements.
enum brr_status brr_privatize_batch(const struct brr_privatizer *privatizer,
                                    const char *const *texts,
                                    const size_t *lens,
                                    size_t count,
                                    struct brr_text *out);

// Frees a text and empties it; null and empty ones are fine.
//
// # Safety
// `text` is null, or was filled by brr_privatize() or brr_privatize_batch() and not changed since.
void brr_text_free(struct brr_text *text);

// Privatizes `len` bytes of UTF-8 into the caller's buffer, with a NUL after
// its end. `written` becomes the length without the NUL.
//
// If `capacity` does not do, the status is BRR_BUFFER_TOO_SMALL, the buffer
// is left alone and `written` is what this draw would have taken. The next
// call draws anew and may take more: leave some room.
//
// # Safety
// `privatizer` is alive, `text` readable for `len` bytes, `buffer` writable
// for `capacity` bytes, `written` writable.
enum brr_status brr_privatize_into(const struct brr_privatizer *privatizer,
                                   const char *text,
                                   size_t len,
                                   char *buffer,
                                   size_t capacity,
                                   size_t *written);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BRR_H */
