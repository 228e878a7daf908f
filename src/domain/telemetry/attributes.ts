// Attributes in OTLP's JSON. The name of a span's attribute is encoded once, and only its value is
// written for each request. https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding
import { type JsonBytes, piece } from './json-bytes.ts';

type Maybe<Value> = Value | null | undefined;

/**
 * Writes an attribute with a comma behind it, or nothing when its value is null or undefined. The list
 * ends with `dropComma`.
 */
export type WriteAttribute<Value> = (json: JsonBytes, value: Maybe<Value>) => void;

export function text(name: string): WriteAttribute<string> {
  return attribute(name, '{"stringValue":', '}', (json, value) => json.text(value));
}

export function whole(name: string): WriteAttribute<number> {
  return attribute(name, '{"intValue":"', '"}', (json, value) => json.whole(value));
}

/** An attribute in units of which the value counts millionths, such as seconds. */
export function millionths(name: string): WriteAttribute<number> {
  return attribute(name, '{"doubleValue":', '}', (json, value) => {
    const units = Math.floor(value / 1e6);
    json.whole(units);
    json.byte(point);
    json.digits(value - units * 1e6, 6);
  });
}

/** An attribute that is left out unless it is true. */
export function flag(name: string): WriteAttribute<true> {
  return attribute(name, '{"boolValue":true', '}', () => {});
}

/** An attribute whose value is a list of one text. */
export function oneOf(name: string): WriteAttribute<string> {
  return attribute(name, '{"arrayValue":{"values":[{"stringValue":', '}]}}', (json, value) =>
    json.text(value),
  );
}

const point = 0x2e;

function attribute<Value>(
  name: string,
  before: string,
  after: string,
  write: (json: JsonBytes, value: Value) => void,
): WriteAttribute<Value> {
  const head = piece(`{"key":"${name}","value":${before}`);
  const tail = piece(`${after}},`);
  return (json, value) => {
    if (value === null || value === undefined) return;
    json.piece(head);
    write(json, value);
    json.piece(tail);
  };
}

/** Texts of an attribute's values by name; names are constants or checked. */
export type TextAttributes = Readonly<Record<string, string>>;

/** Returns a JSON array, for what is written once. */
export function writeTexts(attributes: TextAttributes): string {
  const list = Object.entries(attributes).map(
    ([key, stringValue]) =>
      `{"key":"${key}","value":{"stringValue":${JSON.stringify(stringValue)}}}`,
  );
  return `[${list.join()}]`;
}
