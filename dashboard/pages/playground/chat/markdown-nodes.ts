// Turns Markdown into React elements. An answer is untrusted: HTML is shown as text, images are
// links, and only web and mail addresses become links. No element loads anything.
import { createElement, type ReactNode } from 'react';
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';

type ShowCode = (code: string, language: string) => ReactNode;

/** `showCode` renders a block of code. */
export function markdownNodes(text: string, showCode: ShowCode): ReactNode {
  const inline = (tokens: readonly Token[] | undefined): ReactNode[] =>
    (tokens ?? []).map((token, key) => write(token, key));

  const write = (token: Token, key: number): ReactNode => {
    const element = (name: string, children: ReactNode, fields: object = {}) =>
      createElement(name, { key, ...fields }, children);
    const known = token as MarkedToken;
    switch (known.type) {
      case 'space':
      case 'def':
        return null;
      case 'heading':
        // The page has headings of its own above these.
        return element(`h${Math.min(known.depth + 2, 6)}`, inline(known.tokens));
      case 'paragraph':
        return element('p', inline(known.tokens));
      case 'blockquote':
        return element('blockquote', inline(known.tokens));
      case 'list':
        return element(
          known.ordered ? 'ol' : 'ul',
          known.items.map((item, index) =>
            createElement('li', { key: index }, inline(item.tokens)),
          ),
          known.ordered && known.start !== 1 && known.start !== '' ? { start: known.start } : {},
        );
      case 'checkbox':
        return known.checked ? '☑ ' : '☐ ';
      case 'code':
        return createElement('div', { key }, showCode(known.text, known.lang ?? ''));
      case 'hr':
        return createElement('hr', { key });
      case 'br':
        return createElement('br', { key });
      case 'table':
        return element('table', [
          createElement('thead', { key: 'head' }, writeRow(known.header, 'th', 0)),
          createElement(
            'tbody',
            { key: 'body' },
            known.rows.map((row, index) => writeRow(row, 'td', index)),
          ),
        ]);
      case 'strong':
      case 'em':
      case 'del':
        return element(known.type, inline(known.tokens));
      case 'codespan':
        return element('code', known.text);
      case 'link':
        return writeLink(known.href, inline(known.tokens), key);
      case 'image':
        return writeLink(known.href, known.text || known.href, key);
      case 'text':
        return 'tokens' in known && known.tokens
          ? createElement('span', { key }, inline(known.tokens))
          : decode(known.text);
      case 'escape':
        return decode(known.text);
      default:
        return token.raw;
    }
  };

  const writeRow = (cells: readonly Tokens.TableCell[], name: 'th' | 'td', key: number) =>
    createElement(
      'tr',
      { key },
      cells.map(({ tokens, align }, index) =>
        createElement(name, { key: index, style: { textAlign: align ?? 'left' } }, inline(tokens)),
      ),
    );

  return inline(lexer(text));
}

function writeLink(href: string, children: ReactNode, key: number): ReactNode {
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) return createElement('span', { key }, children);
  return createElement('a', { key, href, target: '_blank', rel: 'noopener noreferrer' }, children);
}

const entities: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&nbsp;': ' ',
};

function decode(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39|nbsp);/g, (entity) => entities[entity]!);
}
