// Renders text as dots: breaks it into lines that fit and draws the letters of bitmap-font.ts. One
// dot is one unit; the painter chooses its size in pixels.
import anyAscii from 'any-ascii';
import { glyphRows, letters } from './bitmap-font.ts';

/** `rows[y][x]`: true for a dot. */
type Glyph = { readonly width: number; readonly rows: readonly (readonly boolean[])[] };

export type TextBlock = {
  readonly lines: readonly (readonly Glyph[])[];
  readonly width: number;
  readonly height: number;
};

const letterGap = 1;
const lineGap = 3;
const lineHeight = glyphRows + lineGap;
const space: Glyph = { width: 3, rows: [] };

/** Writes other scripts in Latin letters and emoji by their names, so that every one has a letter. */
export function toAscii(text: string): string {
  return anyAscii(text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n'))
    .replaceAll(/[^\S\n]/g, ' ')
    .replaceAll(/[^\P{Cc}\n]/gu, '');
}

/**
 * Breaks lines at spaces and line feeds, and inside words that are longer than a line. `text`: from
 * `toAscii`.
 */
export function layOutText(text: string, widthMax: number): TextBlock {
  const lines = text.split('\n').flatMap((paragraph) => breakLine(paragraph, widthMax));
  return { lines, width: Math.max(0, ...lines.map(lineWidth)), height: heightOf(lines.length) };
}

/** Returns the first lines that fit, ending with dots when lines were cut. */
export function cutText(
  block: TextBlock,
  { width, height }: { readonly width: number; readonly height: number },
): TextBlock {
  if (block.height <= height) return block;
  const kept = block.lines.slice(0, Math.max(1, linesWithin(height)));
  const last = [...kept.at(-1)!];
  const dots = glyphsOf('...');
  while (last.length > 0 && lineWidth([...last, ...dots]) > width) last.pop();
  const lines = [...kept.slice(0, -1), [...last, ...dots]];
  return { lines, width: Math.max(...lines.map(lineWidth)), height: heightOf(lines.length) };
}

/** Calls `put` for each dot, from the block's upper left corner. */
export function forEachDot({ lines }: TextBlock, put: (x: number, y: number) => void): void {
  for (const [index, line] of lines.entries()) {
    let left = 0;
    for (const { width, rows } of line) {
      for (const [y, row] of rows.entries()) {
        for (const [x, isSet] of row.entries()) if (isSet) put(left + x, index * lineHeight + y);
      }
      left += width + letterGap;
    }
  }
}

/** The last line has no gap below it. */
function heightOf(lines: number): number {
  return lines * lineHeight - lineGap;
}

function linesWithin(height: number): number {
  return Math.floor((height + lineGap) / lineHeight);
}

function lineWidth(line: readonly Glyph[]): number {
  return line.reduce((width, glyph) => width + glyph.width + letterGap, -letterGap);
}

function breakLine(paragraph: string, widthMax: number): Glyph[][] {
  const lines: Glyph[][] = [];
  let line: Glyph[] = [];
  let used = -letterGap;
  const begin = () => {
    lines.push(line);
    line = [];
    used = -letterGap;
  };
  for (const word of paragraph.split(' ')) {
    const glyphs = glyphsOf(word);
    const gap = line.length > 0 ? space.width + letterGap : 0;
    if (line.length > 0 && used + gap + lineWidth(glyphs) + letterGap > widthMax) begin();
    else if (gap > 0) {
      line.push(space);
      used += gap;
    }
    for (const glyph of glyphs) {
      if (line.length > 0 && used + letterGap + glyph.width > widthMax) begin();
      line.push(glyph);
      used += letterGap + glyph.width;
    }
  }
  begin();
  return lines;
}

function glyphsOf(word: string): Glyph[] {
  return Array.from(word, (character) => glyphs.get(character)!);
}

const glyphs = new Map(Object.entries(letters).map(([letter, rows]) => [letter, readGlyph(rows)]));

function readGlyph(text: string): Glyph {
  const rows = text.split(' ').map((row) => Array.from(row, (dot) => dot === '#'));
  return { width: rows[0]!.length, rows };
}
