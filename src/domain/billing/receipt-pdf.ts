// A receipt as PDF. The fonts of every PDF reader cover Western European letters, so none is
// embedded; other letters are written in Latin ones (`Київ` as `Kiiv`). The ids identify the parties.
import anyAscii from 'any-ascii';
import { PDFDocument, type PDFFont, type PDFPage, rgb, StandardFonts } from '@cantoo/pdf-lib';
import { cleanName } from '../../lib/clean-name.ts';
import { formatUsd, type Micros } from '../../lib/money.ts';

export type Receipt = {
  readonly title: string;
  /** Name and address of the operator, line by line. */
  readonly seller: readonly string[];
  /** Facts with their names: date, number, account, method. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly amounts: readonly (readonly [name: string, micros: Micros])[];
  /** Printed in bold below the amounts. */
  readonly total: readonly [name: string, micros: Micros];
  /** Printed below the total: what was paid back since. */
  readonly later: readonly (readonly [name: string, micros: Micros])[];
  /** Printed at the end, such as a tax line; null: nothing. */
  readonly note: string | null;
  readonly createdAtMs: number;
};

const [width, height, margin] = [595, 842, 56];
const [size, lineHeight] = [10, 15];
const factsColumn = 150;
/** A fact or a note never fills the page. */
const linesMax = 6;

export async function receiptPdf(receipt: Receipt): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const fonts = {
    plain: await document.embedFont(StandardFonts.Helvetica),
    bold: await document.embedFont(StandardFonts.HelveticaBold),
  };
  const known = new Set(fonts.plain.getCharacterSet());
  const clean = (text: string) => latinText(text, known);
  document.setTitle(clean(receipt.title));
  document.setLanguage('en');
  for (const set of ['setCreationDate', 'setModificationDate'] as const)
    document[set](new Date(receipt.createdAtMs));
  const pen = new Pen(document.addPage([width, height]), fonts, clean);

  pen.write(receipt.title, { font: 'bold', size: 20 });
  pen.skip(1.5);
  for (const [index, line] of receipt.seller.entries())
    pen.write(line, { font: index === 0 ? 'bold' : 'plain' });
  pen.skip(1);
  for (const [name, value] of receipt.facts) pen.writeFact(name, value);
  pen.skip(1);
  pen.rule();
  for (const [name, micros] of receipt.amounts) pen.writeAmount(name, micros, 'plain');
  pen.rule();
  pen.writeAmount(receipt.total[0], receipt.total[1], 'bold');
  for (const [name, micros] of receipt.later) pen.writeAmount(name, micros, 'plain');
  if (receipt.note !== null) {
    pen.skip(1.5);
    pen.write(receipt.note);
  }
  return document.save();
}

type FontName = 'plain' | 'bold';

/** Writes line by line from the top of the page. */
class Pen {
  readonly #page: PDFPage;
  readonly #fonts: Readonly<Record<FontName, PDFFont>>;
  readonly #clean: (text: string) => string;
  #y = height - margin - 20;

  constructor(
    page: PDFPage,
    fonts: Readonly<Record<FontName, PDFFont>>,
    clean: (text: string) => string,
  ) {
    this.#page = page;
    this.#fonts = fonts;
    this.#clean = clean;
  }

  write(
    text: string,
    {
      font = 'plain',
      size: own = size,
      x = margin,
    }: { readonly font?: FontName; readonly size?: number; readonly x?: number } = {},
  ): void {
    const face = this.#fonts[font];
    const lines = wrap(
      this.#clean(text),
      (part) => face.widthOfTextAtSize(part, own),
      width - margin - x,
    );
    for (const line of lines) {
      this.#page.drawText(line, { x, y: this.#y, size: own, font: face });
      this.skip(own / size);
    }
  }

  writeFact(name: string, value: string): void {
    const color = rgb(0.35, 0.35, 0.35);
    this.#page.drawText(name, { x: margin, y: this.#y, size, font: this.#fonts.plain, color });
    this.write(value, { x: factsColumn });
  }

  writeAmount(name: string, micros: Micros, font: FontName): void {
    const face = this.#fonts[font];
    const amount = `${formatUsd(micros)} USD`;
    const x = width - margin - face.widthOfTextAtSize(amount, size);
    this.#page.drawText(amount, { x, y: this.#y, size, font: face });
    this.write(name, { font });
  }

  rule(): void {
    const y = this.#y + lineHeight / 2;
    const color = rgb(0.75, 0.75, 0.75);
    this.#page.drawLine({ start: { x: margin, y }, end: { x: width - margin, y }, color });
    this.skip(0.5);
  }

  skip(lines: number): void {
    this.#y -= lines * lineHeight;
  }
}

/** Returns the text in characters that the font has. */
export function latinText(text: string, known: ReadonlySet<number>): string {
  return Array.from(cleanName(text.normalize('NFC')))
    .map((character) =>
      known.has(character.codePointAt(0)!) ? character : knownOnly(anyAscii(character), known),
    )
    .join('');
}

function knownOnly(text: string, known: ReadonlySet<number>): string {
  return Array.from(text)
    .filter((character) => known.has(character.codePointAt(0)!))
    .join('');
}

/** Breaks at spaces, and inside words that are wider than a line. */
function wrap(
  text: string,
  widthOf: (text: string) => number,
  widthMax: number,
): readonly string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const longer = lines.at(-1) === '' ? word : `${lines.at(-1)} ${word}`;
    if (widthOf(longer) <= widthMax) lines[lines.length - 1] = longer;
    else {
      if (lines.at(-1) !== '') lines.push('');
      for (const character of word) {
        if (widthOf(lines.at(-1)! + character) > widthMax) lines.push('');
        lines[lines.length - 1] += character;
      }
    }
  }
  return lines.length <= linesMax ? lines : [...lines.slice(0, linesMax - 1), '...'];
}
