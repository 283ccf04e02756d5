/** Files by name, as those of the current folder of a command. */
export type Files = Record<string, Uint8Array | ArrayBuffer>;

/** The version of the package, which is that of `recast`. */
export const version: string;

/** What a run of the command printed and wrote. */
export interface Run {
  /** 0: done; 1: findings, differences, or an unsupported conversion; 2: an error. */
  code: number;
  /** Standard output. */
  output: string;
  /** Standard error. */
  errors: string;
  /** The files that the command wrote. */
  files: Record<string, Uint8Array>;
}

/**
 * Runs `recast` with these arguments, in a folder with these files alone.
 *
 * @throws {RecastError} if the run ends without an exit code, for example because it needs more memory than the module has.
 */
export function run(args: readonly string[], files?: Files): Run;

/**
 * The options of a command, in camelCase: `{ externalData: "weights.bin" }` is `--external-data=weights.bin`. `true` states an option without a
 * value, `false` and `undefined` omit it, and an array repeats it. An unknown option is an error.
 */
export type Options = Record<string, Value | readonly Value[] | undefined>;
type Value = string | number | boolean;

/** Options of `fold`, `convert` and `precision`. */
export interface RewriteOptions extends Options {
  /** Where tensor values go: `keep`, `inline`, or the name of a data file. */
  externalData?: string;
  /** Makes constants of initializers that callers can override. */
  freezeInitializers?: boolean;
  /** Removes `metadata_props`: all, or those with these keys, separated by commas. */
  dropMetadata?: boolean | string;
  /** Leaves out the comparison of the result with the model. */
  noVerify?: boolean;
}

export interface FoldOptions extends RewriteOptions {
  /** Names of passes and tiers, separated by commas: `default`, `exact`, `none`. */
  passes?: string;
  undefined?: "skip" | "fold";
  contested?: "skip" | "text" | "runtime";
}

export interface ConvertOptions extends RewriteOptions {
  opset?: number | "latest";
  /** A runtime with its version, such as `onnxruntime@1.17`. */
  target?: string;
  lowest?: boolean | string;
}

export interface PrecisionOptions extends RewriteOptions {
  to: "FLOAT16" | "BFLOAT16" | "FLOAT";
  policy?: "stable" | "all";
  io?: string | readonly string[];
  keepOp?: string | readonly string[];
  keepNode?: string | readonly string[];
  target?: string;
}

export interface LintOptions extends Options {
  /** Codes or prefixes of rules, or `ALL`. */
  select?: string | readonly string[];
  ignore?: string | readonly string[];
  /** Runtimes with their versions, such as `onnxruntime@1.17`. */
  target?: string | readonly string[];
  unsafeFixes?: boolean;
}

/** A new model, and how it was made. */
export interface Rewritten {
  model: Uint8Array;
  /** The entry of the model in the JSON of the command; docs/output.md lists its keys. */
  report: Report;
  /** Other files that were written: the data file of `externalData`. */
  files: Record<string, Uint8Array>;
}

/** A part of the JSON of the command. */
export type Report = Record<string, any>;

export interface Finding {
  path: string;
  scope: string | null;
  node: string | null;
  op: string | null;
  value: string | null;
  code: string;
  name: string;
  severity: "error" | "warning" | "info";
  message: string;
  text: string | null;
  fingerprint: string;
  bytes: { offset: number; length: number } | null;
  fix: { safety: string; what: string } | null;
}

export interface Difference {
  path: string;
  kind: "removed" | "added" | "changed" | "reordered" | "stored";
  left: string | null;
  right: string | null;
}

/**
 * `recast fold`: replaces casts of constants by their results.
 *
 * @throws {RecastError} if the bytes are not a model, or an option is invalid.
 */
export function fold(model: Uint8Array | ArrayBuffer, options?: FoldOptions, files?: Files): Rewritten;

/**
 * `recast convert`: changes the opset.
 *
 * @throws {RecastError} also if nodes cannot be converted: `error.report.blockers` lists them.
 */
export function convert(model: Uint8Array | ArrayBuffer, options: ConvertOptions, files?: Files): Rewritten;

/** `recast precision`: changes FLOAT to FLOAT16 or BFLOAT16, or back. */
export function precision(model: Uint8Array | ArrayBuffer, options: PrecisionOptions, files?: Files): Rewritten;

/** `recast lint`: finds unsafe, invalid and redundant casts. */
export function lint(model: Uint8Array | ArrayBuffer, options?: LintOptions, files?: Files): Finding[];

/** `recast lint --fix`: applies the safe fixes. `report.findings` has the remaining findings, `report.fixed` the fixed ones. */
export function fix(model: Uint8Array | ArrayBuffer, options?: LintOptions, files?: Files): Rewritten;

/** `recast inspect`: describes a model. */
export function inspect(model: Uint8Array | ArrayBuffer, options?: Options, files?: Files): Report;

/** `recast diff`: lists the differences between two models. */
export function diff(left: Uint8Array | ArrayBuffer, right: Uint8Array | ArrayBuffer, options?: Options, files?: Files): Difference[];

/** A run without a result. */
export class RecastError extends Error {
  /** The errors of the command; `code` is one of those that docs/output.md lists. */
  errors: { path: string | null; place: string | null; code: string; message: string }[];
  /** The report on the model, if there is one. */
  report: Report | null;
}
