// Upper bound of a text's tokens, in one pass and without a tokenizer. cuts.ts explains the bound
// for ASCII. A longer character counts as many tokens as its bytes can be split into; bytes that
// form one token together are not split.
import { cutMask, cutSteps, joint } from './cuts.ts';
import { pairs, threeByteLeads, triples, twoByteCharacters } from './token-tables.ts';

/**
 * Two counts of the same text; the larger one is its upper estimate.
 *
 * `eighths`: eighths of a token. A bound for OpenAI's cl100k and o200k encodings: no text has more
 * tokens.
 *
 * `halves`: half tokens, before the 10 % that newer tokenizers add. A margin over what other
 * tokenizers (Claude, Gemini, Llama, Qwen) count for ordinary text. Most of them are not public, so
 * for hostile text this is not a bound.
 */
export type TextSums = { halves: number; eighths: number };

/** Adds a text to both counts. Returns its length in UTF-8 bytes. */
export function addText(text: string, sums: TextSums): number {
  let halves = text.length;
  let eighths = 0;
  let bytes = text.length;
  let run = 0;
  let previous = notAscii;
  let three = 0;
  let cut = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) {
      // Table lookups instead of branches on the kind of character, which processors mispredict at
      // every word end.
      const pair = pairTable[(previous << 7) | code]!;
      previous = code;
      three = ((three << 5) | (pair & 0x1f)) & 0x7fff;
      const step = cutSteps[cut | (((pair >> 5) & 7) + tripleJoints[three]!)]!;
      cut = step & cutMask;
      eighths += step >> 16;
      const digit = (pair >> 8) & 1;
      halves += digit;
      run = (run + 1) & (pair >> 15);
      // At the threshold the run's earlier characters are counted again, at the full price.
      if (run >= runMin) halves += run === runMin ? runMin : 1 - digit;
    } else {
      run = 0;
      previous = notAscii;
      three = 0;
      cut = 0;
      const charge = code < 0x800 ? shortCharges[code]! : longCharges[code >> 3]!;
      bytes += charge >> 10;
      halves += (charge >> 5) & 0x1f;
      eighths += charge & 0x1f;
    }
  }
  sums.halves += halves;
  sums.eighths += eighths;
  return bytes;
}

/** Long unbroken runs (base64, hashes) cost up to a token per byte. */
const runMin = 24;

/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic; kana, CJK, Hangul; common punctuation. */
function isCommonScript(code: number): boolean {
  return (
    code < 0x700 ||
    (code >= 0x2010 && code <= 0x2027) ||
    (code >= 0x3000 && code <= 0x9fff) ||
    (code >= 0xac00 && code <= 0xd7a3)
  );
}

/** Stands for a missing or non-ASCII previous character. */
const notAscii = 0x80;
const letters = 26;
const [space, tab] = [27, 28];
// Pairs that the encodings always split before merging. The last of several spaces or tabs belongs
// to the next word.
const isAlwaysSplit =
  /^([0-9][^0-9]|[^0-9][0-9]|[a-zA-Z][^a-zA-Z0-9']|[^\s\x80][ \t]|[\r\n][^\s/]|\t[^\sa-zA-Z]|  |\t\t)$/;
// Contractions such as 's and 've may end a piece, and so may a space before white space of another
// kind.
const isSometimesSplit = /^('[dlmrstv]|\s\s)$/i;

const pairTable = makePairTable();
const tripleJoints = makeTripleJoints();
const shortCharges = Uint16Array.from(readBits(twoByteCharacters, 0x800), (isToken, code) =>
  packed(code, 2, isToken ? 1 : 2),
);
const leads = readBits(threeByteLeads, 0x400);
/**
 * Indexed by the code without its last three bits. Each half of a surrogate pair counts two of its
 * four bytes.
 */
const longCharges = Uint16Array.from({ length: 1 << 13 }, (_, block) => {
  const code = block << 3;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return packed(code, isSurrogate ? 2 : 3, isSurrogate || leads[code >> 6] ? 2 : 3);
});

/** Packs what a character adds: bytes and halves beyond the first, and eighths. */
function packed(code: number, width: number, tokens: number): number {
  return (
    ((width - 1) << 10) | (((isCommonScript(code) ? width : width * 2) - 1) << 5) | (tokens * 8)
  );
}

/**
 * Indexed by previous character × 128 + character. Each entry packs the character's kind, its joint
 * << 5, and 1 << 8 for a digit; it is negative for a digit or letter.
 */
function makePairTable(): Int16Array {
  const table = new Int16Array((notAscii + 1) << 7);
  const tokens = readBits(pairs, 1 << 14);
  const entries = Int16Array.from({ length: 0x80 }, (_, code) =>
    entryOf(String.fromCharCode(code)),
  );
  for (let pair = 0; pair < table.length; pair++) {
    const both = String.fromCharCode(pair >> 7, pair & 0x7f);
    table[pair] = entries[pair & 0x7f]! | (jointOf(both, tokens[pair] ?? false) << 5);
  }
  return table;
}

/** Returns what the entries of all pairs that end with the character have in common. */
function entryOf(character: string): number {
  const digit = /[0-9]/.test(character) ? 1 << 8 : 0;
  return kindOf(character) | digit | (/[a-zA-Z0-9]/.test(character) ? -0x8000 : 0);
}

/** Returns 1 to 26 for lower-case letters, further codes for space and tab, and 0 for the rest. */
function kindOf(character: string): number {
  if (character === ' ') return space;
  if (character === '\t') return tab;
  return /[a-z]/.test(character) ? character.charCodeAt(0) - 0x60 : 0;
}

function jointOf(both: string, isToken: boolean): number {
  if (isToken) return joint.pair;
  if (isAlwaysSplit.test(both)) return joint.split;
  return isSometimesSplit.test(both) ? joint.any : joint.unknown;
}

/** What a triple adds to the joint of its last two characters, indexed by the three kinds. */
function makeTripleJoints(): Uint8Array {
  const joints = new Uint8Array(1 << 15);
  readBits(triples, 27 * letters * letters).forEach((isToken, triple) => {
    const first = Math.floor(triple / letters ** 2) || space;
    const second = (Math.floor(triple / letters) % letters) + 1;
    if (isToken)
      joints[(first << 10) | (second << 5) | ((triple % letters) + 1)] = joint.triple - joint.pair;
  });
  for (const kind of [space, tab])
    joints[(kind << 10) | (kind << 5) | kind] = joint.run - joint.split;
  return joints;
}

function readBits(base64: string, length: number): boolean[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length }, (_, index) => ((bytes[index >> 3]! >> (index & 7)) & 1) === 1);
}
