// What text costs at most in tokens, in one pass and without a tokenizer. How the bound of ASCII comes about is in cuts.ts.
// A longer character begins as many tokens as its bytes can be cut into; bytes that are a token together are not cut.
import { cutMask, cutSteps, joint } from './cuts.ts';
import { pairs, threeByteLeads, triples, twoByteCharacters } from './token-tables.ts';

/**
 * Two counts of the same text; the larger one is its upper estimate.
 * `eighths`: eighths of a token. A bound for OpenAI's encodings cl100k and o200k: no text has more tokens.
 * `halves`: half tokens, before the tenth that newer tokenizers add. A margin over what other tokenizers (Claude, Gemini, Llama, Qwen)
 * make of ordinary text. Most of them are not public: for hostile text it is no bound of theirs.
 */
export type TextSums = { halves: number; eighths: number };

/** Adds a text to both counts; returns its length in bytes of UTF-8. */
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
      // Without a branch for each kind of character, which processors guess wrong at every end of a word.
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

/** Long unbroken runs (base64, hashes) cost up to a token a byte. */
const runMin = 24;

/** Latin with accents, Greek, Cyrillic, Hebrew, Arabic; kana, CJK, Hangul; common punctuation. */
function isCommonScript(code: number): boolean {
  return (
    code < 0x700 || (code >= 0x2010 && code <= 0x2027) || (code >= 0x3000 && code <= 0x9fff) || (code >= 0xac00 && code <= 0xd7a3)
  );
}

/** In place of the character before, where there is none or it is not ASCII. */
const notAscii = 0x80;
const letters = 26;
const [space, tab] = [27, 28];
// What the encodings split before they merge, whatever stands around it. The last of several spaces or tabs goes with a word.
const isAlwaysSplit = /^([0-9][^0-9]|[^0-9][0-9]|[a-zA-Z][^a-zA-Z0-9']|[^\s\x80][ \t]|[\r\n][^\s/]|\t[^\sa-zA-Z]|  |\t\t)$/;
// 's, 've and their like may end a piece. So may a space before one of another kind.
const isSometimesSplit = /^('[dlmrstv]|\s\s)$/i;

const pairTable = makePairTable();
const tripleJoints = makeTripleJoints();
const shortCharges = Uint16Array.from(readBits(twoByteCharacters, 0x800), (isToken, code) => packed(code, 2, isToken ? 1 : 2));
const leads = readBits(threeByteLeads, 0x400);
/** By the code without its last three bits. Half of a surrogate pair is two of its four bytes. */
const longCharges = Uint16Array.from({ length: 1 << 13 }, (_, block) => {
  const code = block << 3;
  const isSurrogate = code >= 0xd800 && code <= 0xdfff;
  return packed(code, isSurrogate ? 2 : 3, isSurrogate || leads[code >> 6] ? 2 : 3);
});

/** What a character adds: bytes and halves beyond one, and eighths. */
function packed(code: number, width: number, tokens: number): number {
  return ((width - 1) << 10) | (((isCommonScript(code) ? width : width * 2) - 1) << 5) | (tokens * 8);
}

/** Of a character after another, before × 128 + character: its kind, its joint << 5, 1 << 8 for a digit, and negative for a digit or letter. */
function makePairTable(): Int16Array {
  const table = new Int16Array((notAscii + 1) << 7);
  const tokens = readBits(pairs, 1 << 14);
  for (let pair = 0; pair < table.length; pair++) {
    const [first, second] = [String.fromCharCode(pair >> 7), String.fromCharCode(pair & 0x7f)];
    table[pair] = kindOf(second) | (jointOf(first, second, tokens[pair] ?? false) << 5);
    if (/[0-9]/.test(second)) table[pair]! |= 1 << 8;
    if (/[a-zA-Z0-9]/.test(second)) table[pair]! |= -0x8000;
  }
  return table;
}

/** 1 to 26 for lower-case letters, and others that triples have; 0 for the rest. */
function kindOf(character: string): number {
  if (character === ' ') return space;
  if (character === '\t') return tab;
  return /[a-z]/.test(character) ? character.charCodeAt(0) - 0x60 : 0;
}

function jointOf(first: string, second: string, isToken: boolean): number {
  if (isToken) return joint.pair;
  if (isAlwaysSplit.test(first + second)) return joint.split;
  return isSometimesSplit.test(first + second) ? joint.any : joint.unknown;
}

/** What three characters add to the joint of the last two, by their kinds. */
function makeTripleJoints(): Uint8Array {
  const joints = new Uint8Array(1 << 15);
  readBits(triples, 27 * letters * letters).forEach((isToken, triple) => {
    const first = Math.floor(triple / letters ** 2) || space;
    const second = (Math.floor(triple / letters) % letters) + 1;
    if (isToken) joints[(first << 10) | (second << 5) | ((triple % letters) + 1)] = joint.triple - joint.pair;
  });
  for (const kind of [space, tab]) joints[(kind << 10) | (kind << 5) | kind] = joint.run - joint.split;
  return joints;
}

function readBits(base64: string, length: number): boolean[] {
  const bytes = Buffer.from(base64, 'base64');
  return Array.from({ length }, (_, index) => ((bytes[index >> 3]! >> (index & 7)) & 1) === 1);
}
