// Names of fields as the APIs write them: `revenue_micros` for `revenueMicros`.

type SnakeName<Name> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeName<Rest>}`
  : '';

type SnakeCase<Fields> = {
  readonly [Name in keyof Fields & string as SnakeName<Name>]: Fields[Name];
};

/** Returns the fields under their names in the APIs. Not for names with digits between letters. */
export function snakeCase<Fields extends object>(fields: Fields): SnakeCase<Fields> {
  const nameOf = (name: string) => name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [nameOf(name), value as unknown]),
  ) as SnakeCase<Fields>;
}
