// The sandbox as an embedding model. Texts that share words have similar vectors, so that a search in
// a test finds what it should.
import type { EmbeddingInput } from '../../terms/embedding.ts';
import { tokensFromBytes, utf8Length } from '../../lib/tokens-from-bytes.ts';
import type { Embedded } from '../embeddings/host.ts';
import { normalise, type Vector } from '../embeddings/vectors.ts';
import { followDirectives, type Playing } from './task-directives.ts';

type SandboxEmbedding = Playing & {
  readonly inputs: readonly EmbeddingInput[];
  readonly dimensions: number;
};

/** The directives of the first input count for all. Throws UpstreamBroken. */
export async function embedInSandbox(job: SandboxEmbedding): Promise<Embedded> {
  const { inputs, dimensions } = job;
  await followDirectives(textOf(inputs[0]!), job);
  return {
    vectors: inputs.map((input) => vectorOf(input, dimensions)),
    tokens: inputs.reduce<number>((sum, input) => sum + tokensOf(input), 0),
  };
}

function textOf(input: EmbeddingInput): string {
  return typeof input === 'string' ? input : '';
}

function tokensOf(input: EmbeddingInput): number {
  return typeof input === 'string' ? tokensFromBytes(utf8Length(input)) : input.length;
}

/** Each word moves this many numbers of the vector. */
const movesPerWord = 8;

function vectorOf(input: EmbeddingInput, dimensions: number): Vector {
  const words = typeof input === 'string' ? (wordsOf(input) ?? [input]) : input;
  const floats: number[] = Array.from({ length: dimensions }, () => 0);
  for (const word of words) {
    let hash = hashOf(String(word));
    for (let move = 0; move < movesPerWord; move++) {
      hash = scramble(hash + move + 1);
      floats[(hash >>> 1) % dimensions]! += hash & 1 ? 1 : -1;
    }
  }
  // Opposite moves may leave nothing.
  if (!floats.some(Boolean)) floats[0] = 1;
  return normalise(floats);
}

export function wordsOf(text: string): readonly string[] | null {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu);
}

/** FNV-1a, which is the same on every machine. */
function hashOf(word: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < word.length; index++)
    hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
