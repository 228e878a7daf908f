// Vectors of embeddings in the two forms of OpenAI's API: a list of numbers, and base64 of
// little-endian 32-bit floats. Hosts choose either, whatever was asked for.
import { objectOf } from '../../lib/json.ts';

export type Vector =
  | { readonly floats: readonly number[] }
  /** Of 32-bit floats, without NaN or infinity. */
  | { readonly base64: string };

const floatBytes = 4;

/** Untrusted. Returns null for anything but a vector in one of the forms. */
export function readVector(value: unknown): Vector | null {
  if (typeof value !== 'string') return readFloats(value);
  const floats = decode(value);
  if (floats.length === 0 || !floats.every(Number.isFinite)) return null;
  // Decoders differ in what they skip.
  const isExact = Buffer.from(value, 'base64').toString('base64') === value;
  return isExact ? { base64: value } : { floats: [...floats] };
}

export function readFloats(value: unknown): Vector | null {
  const isVector =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((number) => typeof number === 'number' && Number.isFinite(number));
  return isVector ? { floats: value as readonly number[] } : null;
}

/** Reads base64 of signed bytes, a byte for each dimension. They are normalised. */
export function readInt8(value: unknown): Vector | null {
  if (typeof value !== 'string') return null;
  const bytes = Buffer.from(value, 'base64');
  const vector = readFloats([...new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)]);
  return vector && normalise(vector);
}

/** Reads OpenAI's `[{index, embedding}]`. Returns null when one of them is no vector. */
export function readIndexed(
  data: unknown,
  readOne: (value: unknown) => Vector | null,
): readonly Vector[] | null {
  if (!Array.isArray(data)) return null;
  const vectors: Vector[] = [];
  for (const [position, entry] of data.entries()) {
    const { index = position, embedding } = objectOf(entry);
    const vector = readOne(embedding);
    if (!vector || typeof index !== 'number' || !(index >= 0 && index < data.length)) return null;
    vectors[index] = vector;
  }
  // Twice the same index leaves a hole.
  return Object.keys(vectors).length === data.length ? vectors : null;
}

/** Returns null when one of them is no vector. */
export function readList(values: unknown): readonly Vector[] | null {
  if (!Array.isArray(values)) return null;
  const vectors = values.map(readFloats);
  return vectors.includes(null) ? null : (vectors as readonly Vector[]);
}

export function sizeOf(vector: Vector): number {
  return 'floats' in vector ? vector.floats.length : decode(vector.base64).length;
}

/** Returns the vector in the form that the client asked for. */
export function encodeAs(encoding: 'float' | 'base64', vector: Vector): readonly number[] | string {
  if (encoding === 'float') return floatsOf(vector);
  return 'base64' in vector ? vector.base64 : encode(vector.floats);
}

/** Returns the first numbers as a vector of length 1. Only some models allow that. */
export function cut(vector: Vector, size: number): Vector {
  return normalise({ floats: floatsOf(vector).slice(0, size) });
}

/** Returns the vector with length 1, because clients compare by the dot product. */
export function normalise(vector: Vector): Vector {
  const floats = floatsOf(vector);
  const length = Math.sqrt(floats.reduce((sum, number) => sum + number * number, 0));
  return length === 0 ? vector : { floats: floats.map((number) => number / length) };
}

function floatsOf(vector: Vector): readonly number[] {
  return 'floats' in vector ? vector.floats : [...decode(vector.base64)];
}

function decode(base64: string): Float32Array {
  const bytes = Buffer.from(base64, 'base64');
  const count = bytes.length % floatBytes === 0 ? bytes.length / floatBytes : 0;
  // A copy, because the bytes may begin anywhere.
  return new Float32Array(new Uint8Array(bytes).buffer, 0, count);
}

function encode(floats: readonly number[]): string {
  return Buffer.from(new Float32Array(floats).buffer).toString('base64');
}
