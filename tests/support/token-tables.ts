// Builds the tables of src/lib/token-tables.ts from the vocabularies of OpenAI's encodings.
import cl100k from 'gpt-tokenizer/bpeRanks/cl100k_base';
import o200k from 'gpt-tokenizer/bpeRanks/o200k_base';

/** Returns the tables in base64, one bit per entry. */
export function tokenTables() {
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
  return {
    pairs: bits(ascii.flatMap((first) => ascii.map((second) => isPair(first, second)))),
    triples: bits(
      [' ', ...letters].flatMap((first) =>
        letters.flatMap((second) => letters.map((third) => isTriple(first, second, third))),
      ),
    ),
    twoByteCharacters: bits(
      Array.from(
        { length: 0x800 },
        (_, code) => code >= 0x80 && isToken(String.fromCharCode(code)),
      ),
    ),
    threeByteLeads: bits(Array.from({ length: 0x400 }, (_, lead) => lead >= 0x20 && isLead(lead))),
  };
}

const letters = Array.from('abcdefghijklmnopqrstuvwxyz');
const vocabularies = [cl100k, o200k].map(
  (ranks) => new Set(ranks.map((token) => Buffer.from(token as string).toString('latin1'))),
);

function isToken(text: string): boolean {
  return isTokenOfBytes(Buffer.from(text));
}

function isTokenOfBytes(bytes: Buffer): boolean {
  return vocabularies.every((vocabulary) => vocabulary.has(bytes.toString('latin1')));
}

/**
 * True when both encodings have the token, and neither splits the text between its characters
 * before the lookup.
 */
function isPair(first: string, second: string): boolean {
  return isToken(first + second) && isNeverSplit.test(first + second);
}

const isNeverSplit =
  /^([a-zA-Z][a-z]|[A-Z]{2}|[ \t][a-zA-Z]|\/\/| [^\sa-zA-Z0-9]|[^\sa-zA-Z0-9/][^\sa-zA-Z0-9]|[^a-zA-Z0-9][\r\n])$/;

function isTriple(first: string, second: string, third: string): boolean {
  return isPair(first, second) && isPair(second, third) && isToken(first + second + third);
}

/** `lead`: the character's code without its last six bits, which its first two bytes hold. */
function isLead(lead: number): boolean {
  const isSurrogate = lead >= 0xd800 >> 6 && lead <= 0xdfff >> 6;
  return !isSurrogate && isTokenOfBytes(Buffer.from(String.fromCharCode(lead << 6)).subarray(0, 2));
}

function bits(flags: readonly boolean[]): string {
  const bytes = Buffer.alloc(flags.length / 8 + 1);
  flags.forEach((flag, index) => {
    if (flag) bytes[index >> 3]! |= 1 << (index & 7);
  });
  return bytes.toString('base64');
}
