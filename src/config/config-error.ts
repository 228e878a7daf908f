// The error that stops the start: the location of the fault, the field, what was found, what was
// expected, and the remedy. Values of secret fields and of environment variables are never quoted.

/**
 * The path of a field: `['providers', 'openai', 'base_url']`. Numbers are list positions from 0.
 */
export type FieldPath = readonly (string | number)[];

/** A position in a file; line and column count from 1. */
export type FileLocation = {
  readonly file: string;
  readonly line: number;
  readonly column: number;
};

type ConfigFault = {
  /** Left out or null: the fault is not in a file. */
  readonly location?: FileLocation | null;
  /** The field's path, or the environment variable's name; '' for the whole file. */
  readonly field: string;
  /**
   * A clause without its subject: what was expected, then what was found. `must be a string; got
   * 5`.
   */
  readonly problem: string;
  /** Full sentences. */
  readonly remedy: string;
};

/**
 * @example
 * `tollgate.yaml:4:9: server.port must be a whole number from 0 to 65535; got "x". Correct the …`
 */
export class ConfigError extends Error {
  readonly fault: ConfigFault;

  constructor(fault: ConfigFault, options?: ErrorOptions) {
    const { location, field, problem, remedy } = fault;
    const where = location ? `${location.file}:${location.line}:${location.column}: ` : '';
    super(`${where}${field === '' ? '' : `${field} `}${problem}. ${remedy}`, options);
    this.name = 'ConfigError';
    this.fault = fault;
  }
}

/** Example: `models["gpt-5.2"].routes[0].provider`. Names that are not plain words are quoted. */
export function formatPath(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[\w$-]+$/u.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

/** The inverse of `formatPath`. */
export function parsePath(text: string): FieldPath {
  return [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([\w$-]+)/gu)].map(
    ([, index, quoted, name]) => {
      if (index !== undefined) return Number(index);
      return quoted === undefined ? name! : (JSON.parse(quoted) as string);
    },
  );
}
