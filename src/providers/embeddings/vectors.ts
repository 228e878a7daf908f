// Vectors of embeddings in the two forms of OpenAI's API: a list of numbers, and base64 of
// little-endian 32-bit floats. Hosts choose either, whatever was asked for.
import { objectOf } from '../../lib/json.ts';

/** 32-bit floats where the host wrote base64. All are finite, and there is one at least. */
export type Vector = readonly number[] | Float32Array;

const floatBytes = 4;

/** Untrusted. Returns null for anything but a vector in one of the forms. */
export function readVector(value: unknown): Vector | null {
  if (typeof value !== 'string') return readFloats(value);
  const bytes = Buffer.from(value, 'base64');
  if (bytes.length === 0 || bytes.length % floatBytes !== 0) return null;
  // A copy, because the bytes may begin anywhere.
  const floats = new Float32Array(new Uint8Array(bytes).buffer);
  return floats.every(Number.isFinite) ? floats : null;
}

export function readFloats(value: unknown): Vector | null {
  const isVector =
    Array.isArray(value) &&
    value.length > 0 &&
    value.every((number) => typeof number === 'number' && Number.isFinite(number));
  return isVector ? (value as readonly number[]) : null;
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
  // Some servers number none, or call each the first (github.com/Oaklight/argo-proxy/pull/47, read
  // 2026-11-30).
  const isNumbered = data.some((entry) => Number(objectOf(entry).index) > 0);
  for (const [position, entry] of data.entries()) {
    // Some leave out what is 0.
    const { index: given = 0, embedding } = objectOf(entry);
    const index = isNumbered ? given : position;
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

/** Returns the vector in the form that the client asked for. */
export function encodeAs(encoding: 'float' | 'base64', vector: Vector): readonly number[] | string {
  if (encoding === 'base64') return Buffer.from(new Float32Array(vector).buffer).toString('base64');
  return vector instanceof Float32Array ? [...vector] : vector;
}

/** Returns the first numbers as a vector of length 1. Only some models allow that. */
export function cut(vector: Vector, size: number): Vector {
  return normalise(vector.slice(0, size));
}

/** Returns the vector with length 1, because clients compare by the dot product. */
export function normalise(vector: Vector): Vector {
  let squares = 0;
  for (const number of vector) squares += number * number;
  const size = Math.sqrt(squares);
  return size === 0 ? vector : Array.from(vector, (number) => number / size);
}
