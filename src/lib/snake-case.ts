// Names of fields, which code writes as `revenueMicros`, and the APIs and tables as `revenue_micros`.

type SnakeName<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : '';

type SnakeCase<Fields> = {
  readonly [Name in keyof Fields & string as SnakeName<Name>]: Fields[Name];
};

export type CamelName<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelName<Rest>>}`
  : Name;

export type CamelCase<Fields> = {
  readonly [Name in keyof Fields & string as CamelName<Name>]: Fields[Name];
};

/** Returns the fields under their names in the APIs. Not for names with digits between letters. */
export function snakeCase<Fields extends object>(fields: Fields): SnakeCase<Fields> {
  const nameOf = (name: string) => name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
  return renamed(fields, nameOf) as SnakeCase<Fields>;
}

/** Returns the fields of a row under their names in code. */
export function camelCase<Fields extends object>(fields: Fields): CamelCase<Fields> {
  return renamed(fields, camelName) as CamelCase<Fields>;
}

export function camelName(name: string): string {
  return name.replaceAll(/_./g, ([, one]) => one!.toUpperCase());
}

function renamed(fields: object, nameOf: (name: string) => string): unknown {
  const entries = Object.entries(fields).map(([name, value]) => [nameOf(name), value as unknown]);
  return Object.fromEntries(entries);
}
