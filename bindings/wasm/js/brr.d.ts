/** Bytes, or where to get them: a `URL`, a string that is one or, in Node, the path of a file. */
export type Source = ArrayBuffer | ArrayBufferView | { readonly href: string } | string;

/** `WebAssembly.Module`, where the types of the platform have it. */
export type Module = typeof globalThis extends {
  WebAssembly: { Module: new (...args: never[]) => infer M };
} ? M : never;

export type MechanismName = "exponential" | "brr" | "tree" | "k-ary";
export type LayoutName = "keep" | "words";
export type UnknownName = "random" | "mask" | "drop" | "keep";
export type SearchName = "scan" | "multi-index";
export type CaseName = "plain" | "sentence";

/** A list of words: `function-words`, `names`, `places`, several of them with `+` between, or words. */
export type Words = string | readonly string[];

/** How much privacy: at most one of the three; by default `Choices.budget`. */
export interface Budget {
  /** Loss per bit in which two codes differ. */
  epsilon?: number;
  /** Privacy-loss bound: epsilon times the average distance of two words. */
  bound?: number;
  /** Expected share of words that stay, between 0 and 1. */
  keep?: number;
}

export interface Options extends Budget {
  /** How words are drawn. Without one, as with the others, the first of `Brr.choices`. */
  mechanism?: MechanismName;
  /** Keep white space and listed punctuation, or only words. */
  layout?: LayoutName;
  /** What becomes of tokens that the model does not know: all but `random` are not private. */
  unknown?: UnknownName;
  /** How `brr` finds the nearest word, with the same answers. */
  search?: SearchName;
  /**
   * Decode the draws of a text together with the language model of `LoadOptions.language`, which
   * costs no privacy; by default not. It is a plausible text then, not what was written. `outcomes`
   * and `posterior` speak of a word's draw, before it is decoded.
   */
  context?: boolean;
  /**
   * Words that stay as they are, all others being private. Fix them before any text is seen: which of
   * them stand where is then public (`Guarantee.adjacency` says so). Private words are drawn among
   * private words alone, of whose pairs nothing was measured: give `tree` or `k-ary` (with `context` and a built-in
   * list, `brr` too), an epsilon or a bound.
   */
  public?: Words;
  /** Instead: the only words that are private, beside those that the model does not know. */
  private?: Words;
  /** Whether capital letters are written: by the output alone, so they cost no privacy. */
  case?: CaseName;
}

/** A part of a text, in UTF-16 code units, and the list that it draws from, if not all private words. */
export interface Span {
  start: number;
  end: number;
  list?: string;
}

/** What spans and sessions take besides. */
export interface SpanOptions extends Options {
  /** Lists that spans may name; by default the built-in `names` and `places`. */
  lists?: Readonly<Record<string, Words>>;
  /** Integers become integers from `low` to `high`, with a loss of 1/`scale` for each unit; identifiers get new digits. */
  numbers?: { low: number; high: number; scale: number };
}

/** A text of which some spans were privatized. */
export interface PrivatizedSpans {
  text: string;
  /** Where each span is now, in the order in which they were given. */
  spans: { start: number; end: number }[];
  /** How many tokens each span had. */
  tokens: number[];
  /** Largest loss between neighbours; in a session, what this text added to it. */
  loss: number;
}

/** A text with the originals in it: private. */
export interface Restored {
  text: string;
  /** How many surrogates became originals. */
  restored: number;
  /** How many were left, as it is not certain what they stand for. */
  ambiguous: number;
}

/** A name that an option may have, and what it means. */
export interface Choice<Name> {
  readonly name: Name;
  readonly help: string;
}

/** What can be chosen, from the core's own table: the default comes first. */
export interface Choices {
  readonly mechanism: readonly Choice<MechanismName>[];
  readonly layout: readonly Choice<LayoutName>[];
  readonly unknown: readonly Choice<UnknownName>[];
  readonly search: readonly Choice<SearchName>[];
  readonly case: readonly Choice<CaseName>[];
  /** The budget when none is given, and the names of all that can be. */
  readonly budget: {
    readonly name: keyof Budget;
    readonly value: number;
    readonly names: readonly (keyof Budget)[];
  };
}

export interface ExplainOptions extends Options {
  /** How many words to tell; by default 10. */
  top?: number;
  /** How many draws to estimate from; by default 10,000. */
  draws?: number;
}

export interface Counts {
  /** How many tokens the text had. */
  tokens: number;
  /** How many of them the model does not know. Not private. */
  unknown: number;
  /** How many of them are public words, by `Options.public` or `Options.private`. */
  public: number;
  /**
   * Largest loss between two neighbouring texts (`Guarantee.adjacency`) of so many private tokens;
   * `Infinity` if the rule for unknown tokens tells neighbours apart.
   */
  loss: number;
}

export interface Privatized extends Counts {
  text: string;
}

/** A part of a privatized text: structure, or an output word beside its original and, if it was decoded, beside the word drawn. */
export type Part =
  | { text: string; original?: undefined }
  | { text: string; drawn?: string; original: string; known: boolean; changed: boolean; public: boolean };

/** A privatized text beside the words it was made from. Not for release. */
export interface Trace extends Privatized {
  parts: Part[];
}

/** A probability, and between which numbers it is known to lie. */
export interface Chance {
  probability: number;
  low: number;
  high: number;
}

export interface LikelyWord extends Chance {
  word: string;
}

/** Computed; estimated from draws; computed for the nearest words only; not known. */
export type Method = "exact" | "drawn" | "nearest" | "opaque";

export interface Outcomes {
  /** How likely the word stays. */
  stays: Chance;
  /** The most likely outputs. */
  likely: LikelyWord[];
  /** Share of outputs among the `nearest` words around the input, itself included. */
  reach: { nearest: number; share: number }[];
  method: Method;
}

export interface Posterior {
  /** The most likely inputs, every word being equally likely beforehand. */
  likely: LikelyWord[];
  method: Method;
}

/** Losses per token, rounded up. */
export interface Guarantee {
  readonly mechanism: MechanismName;
  readonly epsilon: number;
  /** The distance that epsilon is measured in, such as `hamming-256`. */
  readonly metric: string;
  /** Mean loss between a word and its nearest neighbour. */
  readonly nearest: number;
  /** Loss at the average pair of words. */
  readonly bound: number;
  /** Loss at the farthest pair: no two words exceed it. */
  readonly worst: number;
  /** Largest loss between a token without a code and a word. */
  readonly unknownLoss: number;
  /** The larger of `worst` and `unknownLoss`. */
  readonly worstToken: number;
  /** The loss at each whole distance from 0 on, such as the level in a tree; empty if it is `epsilon` times the distance. */
  readonly losses: readonly number[];
  /** Expected share of words that stay, if it is known. */
  readonly expectedKeep: number | null;
  /**
   * What `expectedKeep` and `keep` are shares of, as the rest of a sentence that begins "half of": "words stay as they are",
   * or what holds of private words where some are public.
   */
  readonly keptWords: string;
  /** Which texts are neighbours, in a sentence: what the guarantee is about, and what is public. */
  readonly adjacency: string;
}

export interface ModelInfo {
  readonly words: number;
  readonly bits: number;
  /** How many certificates of the exponential mechanism are believed; 0 if unchecked. */
  readonly certificates: number;
  /** Whether `keep` can be asked of randomized response; not if unchecked. */
  readonly calibrated: boolean;
  /**
   * Why what the file says about itself is believed, or is not: `pinned` for the model that
   * came with this package. Any other is `unchecked` in WebAssembly: guarantees are then those
   * that hold for any codes, and `keep` is an error.
   */
  readonly standing: "pinned" | "checked" | "unchecked";
  /** Whether there is a tree of its words, which the mechanism `tree` needs. */
  readonly tree: boolean;
  /** The language that it is for, and how many function words its table has (none for English, which has a list). */
  readonly language: { readonly code: string; readonly name: string; readonly functionWords: number };
  /** Which instructions the search uses. */
  readonly backend: "simd128" | "scalar";
  /** Provenance, licence, quality. */
  readonly meta: Readonly<Record<string, string>>;
}

export interface LoadOptions {
  /** The module, if not the one beside this file. */
  wasm?: Source | Module;
  /** Which of the two modules beside this file; by default what the engine can. */
  simd?: boolean;
  /**
   * The language model for `Options.context`: `true` for the English one beside this file, which is
   * loaded only then, or another; by default none.
   */
  language?: boolean | Source;
}

/** Kinds of errors, as in every language of brr. */
export type ErrorCode =
  | "argument"
  | "input"
  | "budget"
  | "model"
  | "unchecked-model"
  | "file"
  | "entropy"
  | "internal";

/** What went wrong, and of which kind; never quotes the text. */
export class BrrError extends Error {
  constructor(code: ErrorCode, message: string, options?: ErrorOptions);
  readonly code: ErrorCode;
}

/** Whether this engine has 128-bit vectors. */
export function hasSimd(): boolean;

/** A conversation in which each distinct word has one surrogate. Made by `Brr.session()`. */
export class Session {
  private constructor();
  /** Which conversations are neighbours, and so what is public: also which positions held equal words. */
  readonly adjacency: string;
  /** Largest loss between neighbours so far: each distinct word costs once for each list. */
  readonly loss: number;
  /** How many distinct words were drawn. */
  readonly words: number;
  /** How many surrogates stand for more than one word. */
  readonly collisions: number;
  /** Privatizes a whole text; `loss` is what it added. */
  privatize(text: string): Privatized;
  /** Privatizes these parts of a text; what is not marked goes out as it is. */
  privatizeSpans(text: string, spans: readonly Span[]): PrivatizedSpans;
  /** Tells of text that leaves in clear: surrogates that stand in it too are ambiguous. */
  addPublic(text: string): void;
  /** Puts the originals back into a text, such as a model's answer. */
  restore(text: string): Restored;
  /** The same for a text that comes in parts. */
  restorer(): Restorer;
  /** The session as bytes. They hold the originals: keep them like the texts. */
  export(): Uint8Array;
  /** Overwrites what the session knows. */
  free(): void;
}

/** Restores a text that comes in parts, cut anywhere. Made by `Session.restorer()`. */
export class Restorer {
  private constructor();
  readonly restored: number;
  readonly ambiguous: number;
  /** Takes the next part; gives what can be told of the text now. */
  push(part: string): string;
  /** Gives the rest of the text, which has ended. */
  finish(): string;
  /** Overwrites what the restorer knows. */
  free(): void;
}

/** A loaded model, ready to privatize. */
export class Brr {
  private constructor();
  /** Loads the module and a model; by default the English one beside this file. */
  static load(model?: Source, options?: LoadOptions): Promise<Brr>;
  /** What the model is. */
  readonly model: ModelInfo;
  /** What can be chosen. */
  readonly choices: Choices;
  /** Privatizes a text. Each call draws anew. */
  privatize(text: string, options?: Options): Privatized;
  /** Privatizes many texts, each word on its own: faster than one by one. */
  privatizeBatch(texts: string[], options?: Options): Counts & { texts: string[] };
  /** Privatizes these parts of a text; what is not marked goes out as it is. */
  privatizeSpans(text: string, spans: readonly Span[], options?: SpanOptions): PrivatizedSpans;
  /** Which texts with marked spans are neighbours, and so what is public. */
  spansAdjacency(options?: SpanOptions): string;
  /** Begins a session, or goes on with one that was exported. */
  session(options?: SpanOptions, exported?: Uint8Array): Session;
  /** Privatizes a text and tells what became of which word. Not for release. */
  trace(text: string, options?: Options): Trace;
  /** What comes out when a word goes in; an error of code `input` if the model does not have it. */
  outcomes(word: string, options?: ExplainOptions): Outcomes;
  /** What may have gone in when a word came out; likewise. */
  posterior(word: string, options?: ExplainOptions): Posterior;
  /** What is promised with these options, per token. */
  guarantee(options?: Options): Guarantee;
  /** Lets go of all memory. */
  free(): void;
}
