// Citations of the pages that the gateway's searches found. The model reads them with numbers and
// writes those as marks, `[1]` or `[2, 3]`. The marks stay in the text, so no index moves.
import { urlCitation, type Citation } from '../../canonical/citation.ts';
import type { TextPart } from '../../canonical/request.ts';
import type { SearchedPage } from '../../canonical/own-tools.ts';

/** At most 40 characters. Not an index in a program, such as `list[1]`. */
const mark = /(?<!\w)\[(\d{1,3}(?:, ?\d{1,3}){0,7})\]/g;
const markCharactersMax = 40;
const citedCharactersMax = 150;
/** In an answer: a citation is much longer than its mark. */
const citationsMax = 500;

export class PageCiter {
  readonly #pages: SearchedPage[] = [];
  #citations = 0;
  /** The end of the open text, where a mark may have begun, and its place. */
  #tail = '';
  #tailStart = 0;

  /** Returns the number of the first page. */
  add(pages: readonly SearchedPage[]): number {
    const first = this.#pages.length + 1;
    this.#pages.push(...pages);
    return first;
  }

  startText(): void {
    this.#tail = '';
    this.#tailStart = 0;
  }

  /** Returns the citations whose marks end in the next piece of the open text. */
  read(piece: string): Citation[] {
    if (this.#pages.length === 0 || this.#citations >= citationsMax) return [];
    const text = this.#tail + piece;
    const citations: Citation[] = [];
    let kept = Math.max(text.length - markCharactersMax - 1, 0);
    for (const {
      0: { length },
      1: numbers,
      index,
    } of text.matchAll(mark)) {
      const start = this.#tailStart + index;
      kept = Math.max(kept, index + length);
      citations.push(...this.#cite(numbers!, { start, end: start + length }));
    }
    this.#tail = text.slice(kept);
    this.#tailStart += kept;
    return citations;
  }

  citeText(part: TextPart): TextPart {
    this.startText();
    const found = this.read(part.text);
    return found.length === 0
      ? part
      : { ...part, citations: [...(part.citations ?? []), ...found] };
  }

  #cite(numbers: string, span: { readonly start: number; readonly end: number }): Citation[] {
    const pages = [...new Set(numbers.split(',').map(Number))]
      .flatMap((number) => this.#pages[number - 1] ?? [])
      .slice(0, citationsMax - this.#citations);
    this.#citations += pages.length;
    return pages.map(({ url, title, snippet }) => {
      const citedText = snippet.slice(0, citedCharactersMax).toWellFormed() || null;
      return urlCitation(url, { title, citedText, span });
    });
  }
}
