// Renders a Markdown document of `docs/` as HTML without inline scripts and styles.
import { posix } from 'node:path';
import bash from 'highlight.js/lib/languages/bash';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import nginx from 'highlight.js/lib/languages/nginx';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import yaml from 'highlight.js/lib/languages/yaml';
import highlighter from 'highlight.js/lib/core';
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml } from './escape.ts';

const languages = { bash, go, ini, javascript, json, nginx, python, sql, typescript, yaml };
for (const [name, language] of Object.entries(languages))
  highlighter.registerLanguage(name, language);

/** Names above code blocks, by the language of the fence. */
const labels: Readonly<Record<string, string>> = {
  sh: 'Shell',
  bash: 'Shell',
  js: 'JavaScript',
  ts: 'TypeScript',
  python: 'Python',
  go: 'Go',
  json: 'JSON',
  yaml: 'YAML',
  toml: 'TOML',
  text: 'Text',
};

export type Heading = { readonly depth: number; readonly id: string; readonly text: string };

/** A part of a page that a search can find: the text below one heading. */
type Passage = { readonly id: string; readonly heading: string; readonly text: string };

export type Rendered = {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly passages: readonly Passage[];
  /** Every id that a link may name. */
  readonly ids: ReadonlySet<string>;
  /** Links to other documents: `limits#loss-budget`. */
  readonly links: readonly string[];
};

type Options = {
  /** The document's name, such as `guides/costs`. */
  readonly name: string;
  readonly fillsCode: boolean;
  /** Returns null for a document that is not served; its links become plain text. */
  readonly linkTo: (name: string) => LinkTarget | null;
};

type LinkTarget = { readonly address: string; readonly title: string };

export function renderMarkdown(text: string, { name, fillsCode, linkTo }: Options): Rendered {
  const ids = new Set<string>();
  const headings: Heading[] = [];
  const links: string[] = [];
  const marked = new Marked({ gfm: true });
  const fill = fillsCode ? markFillable : (html: string) => html;
  marked.use({
    renderer: {
      heading({ depth, tokens }) {
        const plain = plainText(tokens);
        const id = uniqueId(plain, ids);
        if (depth > 1) headings.push({ depth, id, text: plain });
        const inner = this.parser.parseInline(tokens);
        if (depth === 1) return `<h1 id="${id}">${inner}</h1>\n`;
        return `<h${depth} id="${id}">${inner} <a class="anchor" href="#${id}" aria-label="Link to ${escapeHtml(plain)}">#</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const inner = this.parser.parseInline(tokens);
        if (/^(?:[a-z]+:|\/)/.test(href)) return `<a href="${escapeHtml(href)}">${inner}</a>`;
        const [file = '', fragment = ''] = href.split('#');
        const target = file === '' ? name : nameOfLink(name, file);
        const found = linkTo(target);
        if (found === null) return inner;
        links.push(fragment === '' ? target : `${target}#${fragment}`);
        // A file's name says little to a reader who does not see files.
        const label = /^[\w-]+\.md$/.test(plainText(tokens)) ? escapeHtml(found.title) : inner;
        return `<a href="${found.address}${fragment && `#${fragment}`}">${label}</a>`;
      },
      code: ({ text: code, lang = '' }) => renderCode(code, lang, fill),
      codespan: ({ text: code }) => `<code>${fill(escapeHtml(code))}</code>`,
      table(token) {
        return renderTable(token, {
          ids,
          inline: (cell) => this.parser.parseInline(cell.tokens),
        });
      },
      html: ({ text: html }) => (html.startsWith('<!--') ? '' : escapeHtml(html)),
    },
  });
  const tokens = marked.lexer(text);
  const html = groupSamples(tokens)
    .map((part) => renderPart(part, (some) => marked.parser(some)))
    .join('');
  return {
    title: titleOf(text),
    html,
    headings,
    passages: passagesIn(tokens, headings),
    ids,
    links,
  };
}

/** A sample that is run, with its output. */
type Sample = { readonly language: keyof typeof tabs; readonly tokens: Token[] };
/** Samples in several languages are shown one at a time. */
type Part = { readonly tokens: Token[] } | { readonly samples: Sample[] };

/** Titles of the languages, and the names by which readers choose them on every page. */
const tabs = {
  sh: { name: 'curl', title: 'curl' },
  python: { name: 'python', title: 'Python' },
  js: { name: 'typescript', title: 'JavaScript' },
  go: { name: 'go', title: 'Go' },
} as const;

/** Samples that follow each other, with nothing between, are alternatives. */
function groupSamples(tokens: readonly Token[]): Part[] {
  const parts: Part[] = [];
  for (const token of tokens) {
    const last = parts.at(-1);
    const samples = last && 'samples' in last ? last.samples : null;
    const [language = '', mark] = token.type === 'code' ? (token.lang ?? '').split(' ') : [];
    if (mark === 'run' && language in tabs) {
      const sample: Sample = { language: language as Sample['language'], tokens: [token] };
      if (samples) samples.push(sample);
      else parts.push({ samples: [sample] });
    } else if (samples && (mark === 'output' || token.type === 'space')) {
      samples.at(-1)!.tokens.push(token);
    } else if (last && 'tokens' in last) last.tokens.push(token);
    else parts.push({ tokens: [token] });
  }
  return parts;
}

function renderPart(part: Part, parse: (tokens: Token[]) => string): string {
  if ('tokens' in part) return parse(part.tokens);
  const distinct = new Set(part.samples.map(({ language }) => language));
  if (distinct.size === 1 || distinct.size < part.samples.length)
    return parse(part.samples.flatMap(({ tokens }) => tokens));
  const panels = part.samples.map(({ language, tokens }) => {
    const { name, title } = tabs[language];
    return `<div data-language="${name}" data-title="${title}">${parse(tokens)}</div>\n`;
  });
  return `<div class="languages">\n${panels.join('')}</div>\n`;
}

/** Returns the heading of a document's first line. */
export function titleOf(text: string): string {
  const title = /^# (.+)/.exec(text)?.[1];
  if (title === undefined) throw new Error(`no title: ${text.slice(0, 80)}`);
  return title;
}

/** Example: in `guides/costs`, `../limits.md` is `limits`. */
function nameOfLink(from: string, file: string): string {
  return posix.join(posix.dirname(from), file).replace(/\.md$/, '');
}

/** The same ids as on GitHub, where the documents are read too. */
function uniqueId(text: string, ids: Set<string>): string {
  const base = text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
  let id = base;
  for (let count = 1; ids.has(id); count++) id = `${base}-${count}`;
  ids.add(id);
  return id;
}

function renderCode(code: string, info: string, fill: (html: string) => string): string {
  const [language = '', ...marks] = info.split(' ');
  const known = highlighter.getLanguage(language);
  const html = known ? highlighter.highlight(code, { language }).value : escapeHtml(code);
  const isOutput = marks.includes('output');
  const label = isOutput ? 'Prints, with a test key' : (labels[language] ?? 'Text');
  // Text without a language may be a drawing.
  const kinds = ['code', ...(isOutput ? ['output'] : []), ...(known ? ['wraps'] : [])];
  return `<figure class="${kinds.join(' ')}"><figcaption>${label}</figcaption><pre tabindex="0"><code>${fill(html)}</code></pre></figure>\n`;
}

/** Marks the parts of a sample that the page replaces by the reader's own address and key. */
function markFillable(html: string): string {
  return html
    .replaceAll('http://127.0.0.1:4000', '<span data-fill="address">$&</span>')
    .replaceAll('YOUR_KEY', '<span data-fill="key">$&</span>')
    .replaceAll('tg_test_…', '<span data-fill="key">$&</span>');
}

type TableTools = {
  readonly ids: Set<string>;
  readonly inline: (cell: Tokens.TableCell) => string;
};

/**
 * Renders a table whose rows become cards on a phone: each cell carries its column's name. In a
 * table with a column `code`, each row has its code as id, as the `documentation_url` of errors
 * expects.
 */
function renderTable({ header, rows }: Tokens.Table, { ids, inline }: TableTools): string {
  const names = header.map(({ tokens }) => plainText(tokens));
  const codeAt = names.indexOf('code');
  const head = header.map((cell) => `<th scope="col">${inline(cell)}</th>`).join('');
  const body = rows.map((row) => {
    const code = codeAt === -1 ? '' : plainText(row[codeAt]!.tokens);
    if (code !== '') ids.add(code);
    const cells = row.map(
      (cell, index) => `<td data-label="${escapeHtml(names[index]!)}">${inline(cell)}</td>`,
    );
    return `<tr${code && ` id="${code}"`}>${cells.join('')}</tr>`;
  });
  const size = header.length > 5 ? 'wide' : header.length > 2 ? 'middle' : 'small';
  const table = `<table class="${size}"><thead><tr>${head}</tr></thead><tbody>${body.join('\n')}</tbody></table>`;
  if (size === 'small') return `${table}\n`;
  return `<div class="scroll" role="region" tabindex="0" aria-label="Table: ${escapeHtml(names.join(', '))}">${table}</div>\n`;
}

type InlineToken = Tokens.Generic;

/** Returns the text of inline tokens without marks. */
function plainText(tokens: readonly InlineToken[]): string {
  return tokens
    .map((token) => {
      if (token.tokens) return plainText(token.tokens);
      return typeof token['text'] === 'string' ? decode(token['text']) : '';
    })
    .join('');
}

/** The lexer escapes some texts already. */
function decode(text: string): string {
  const characters = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };
  return text.replaceAll(
    /&(?:amp|lt|gt|quot|#39);/g,
    (entity) => characters[entity as keyof typeof characters],
  );
}

function passagesIn(tokens: readonly InlineToken[], headings: readonly Heading[]): Passage[] {
  const passages: { id: string; heading: string; text: string }[] = [
    { id: '', heading: '', text: '' },
  ];
  let next = 0;
  for (const token of tokens) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth > 1) {
      const { id, text } = headings[next++]!;
      passages.push({ id, heading: text, text: '' });
    } else if (token.type !== 'heading') {
      passages.at(-1)!.text += ` ${textOfBlock(token)}`;
    }
  }
  return passages.map(({ text, ...rest }) => ({
    ...rest,
    text: text.replaceAll(/\s+/g, ' ').trim(),
  }));
}

function textOfBlock(token: InlineToken): string {
  switch (token.type) {
    case 'code':
      return (token as Tokens.Code).text;
    case 'table': {
      const { header, rows } = token as Tokens.Table;
      return [header, ...rows]
        .map((row) => row.map((cell) => plainText(cell.tokens)).join(' '))
        .join(' ');
    }
    case 'list':
      return (token as Tokens.List).items.map((item) => plainText(item.tokens)).join(' ');
    case 'html':
      return '';
    default:
      return plainText([token]);
  }
}
