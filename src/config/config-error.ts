// What stops the start: where the fault is, which field, what was found, what was expected, and what to do about it.
// Values of secret fields and of environment variables are never quoted.

/** The way to a field: `['providers', 'openai', 'base_url']`; numbers are list positions, from 0. */
export type FieldPath = readonly (string | number)[];

/** Where in a file; line and column count from 1. */
export type Place = { readonly file: string; readonly line: number; readonly column: number };

export type ConfigFault = {
  /** null: the fault is not in a file. */
  readonly place: Place | null;
  /** The field's path, or the environment variable's name; '' for the whole file. */
  readonly field: string;
  /** A clause without its subject, what was expected before what was found: `must be a string; got 5`. */
  readonly problem: string;
  /** Full sentences. */
  readonly remedy: string;
};

/** @example `tollgate.yaml:4:9: server.port must be a whole number from 0 to 65535; got "x". Correct the value, or …` */
export class ConfigError extends Error {
  readonly fault: ConfigFault;

  constructor(fault: ConfigFault) {
    const { place, field, problem, remedy } = fault;
    const where = place ? `${place.file}:${place.line}:${place.column}: ` : '';
    super(`${where}${field === '' ? '' : `${field} `}${problem}. ${remedy}`);
    this.name = 'ConfigError';
    this.fault = fault;
  }
}

/** `models["gpt-4.1"].routes[0].provider`: names that are not plain words stand in quotes. */
export function formatPath(path: FieldPath): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[\w$-]+$/u.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}

/** The inverse of `formatPath`. */
export function parsePath(text: string): FieldPath {
  return [...text.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([\w$-]+)/gu)].map(([, index, quoted, name]) => {
    if (index !== undefined) return Number(index);
    return quoted === undefined ? name! : (JSON.parse(quoted) as string);
  });
}
