// Attributes in OTLP's JSON. A request writes about fifty of them, so they are joined as text; names
// are constants, and only values are escaped.
// https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
type Maybe<Value> = Value | null | undefined;

/** A list of attributes under way. Attributes that are null or undefined are left out. */
export class AttributeList {
  /** Joined at once: a text that grows piece by piece costs twice as much to send. */
  readonly #pieces: string[] = [];

  text(name: string, value: Maybe<string>): this {
    if (value !== null && value !== undefined) this.#add(name, `{"stringValue":${quote(value)}}`);
    return this;
  }

  whole(name: string, value: Maybe<number>): this {
    if (value !== null && value !== undefined) this.#add(name, `{"intValue":"${value}"}`);
    return this;
  }

  fraction(name: string, value: Maybe<number>): this {
    if (value !== null && value !== undefined) this.#add(name, `{"doubleValue":${value}}`);
    return this;
  }

  /** Only what is true is worth its bytes. */
  flag(name: string, value: Maybe<boolean>): this {
    if (value === true) this.#add(name, '{"boolValue":true}');
    return this;
  }

  /** A list of one text. */
  oneOf(name: string, value: Maybe<string>): this {
    if (value !== null && value !== undefined)
      this.#add(name, `{"arrayValue":{"values":[{"stringValue":${quote(value)}}]}}`);
    return this;
  }

  /** Returns a JSON array. */
  write(): string {
    return `[${this.#pieces.join()}]`;
  }

  #add(name: string, value: string): void {
    this.#pieces.push(`{"key":"${name}","value":${value}}`);
  }
}

/** Texts of an attribute's values by name; names are constants or checked. */
export type TextAttributes = Readonly<Record<string, string>>;

export function writeTexts(attributes: TextAttributes): string {
  const list = new AttributeList();
  for (const [name, value] of Object.entries(attributes)) list.text(name, value);
  return list.write();
}

/** Ids and names need no escapes, and testing for that is cheaper than escaping. */
const plain = /^[\w ./:-]*$/;

export function quote(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text);
}
