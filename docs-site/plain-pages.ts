// The pages as Markdown for programs that read them, and the list of them. `{{gateway}}` stands
// for the gateway's address, which it writes there (`server/docs-files.ts`).
import { posix } from 'node:path';
import { audiences, homePage, markdownAddressOf, type Section } from './contents.ts';

const gateway = '{{gateway}}';

type Options = {
  readonly name: string;
  readonly fillsCode: boolean;
  readonly isServed: (name: string) => boolean;
};

/** Returns a document whose links work under `/docs`, and whose samples name this gateway. */
export function plainPage(text: string, { name, fillsCode, isServed }: Options): string {
  const linked = text.replaceAll(
    /\[([^\]]+)\]\((?![a-z]+:|\/|#)([^)#]+)(#[^)]*)?\)/g,
    (_whole, label: string, file: string, fragment = '') => {
      const target = posix.join(posix.dirname(name), file).replace(/\.md$/, '');
      return isServed(target) ? `[${label}](${markdownAddressOf(target)}${fragment})` : label;
    },
  );
  return fillsCode ? linked.replaceAll('http://127.0.0.1:4000', gateway) : linked;
}

type Entry = { readonly title: string; readonly summary: string };

/** Returns `/llms.txt`: the pages with their first sentences. https://llmstxt.org */
export function listOfPages(
  sections: readonly Section[],
  entryOf: (name: string) => Entry,
): string {
  const { summary } = entryOf(homePage);
  const parts = sections.map(({ title, audience, pages }) => {
    const lines = pages.map((name) => {
      const entry = entryOf(name);
      return `- [${entry.title}](${gateway}${markdownAddressOf(name)}): ${entry.summary}`;
    });
    return `## ${audiences[audience]}: ${title}\n\n${lines.join('\n')}\n`;
  });
  return `# Tollgate\n\n> ${summary}\n\nEvery call: ${gateway}/openapi.json\n\n${parts.join('\n')}`;
}

/** Returns the first sentence of a document, without its marks. */
export function summaryOf(text: string): string {
  const parts = text.replaceAll(/^```[^]*?^```$/gm, '').split(/\n{2,}/);
  const paragraph = parts.find((part) => /^[A-Za-z`[{*]/.test(part)) ?? '';
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/[*\s]+/g, ' ');
  return (/^.+?\.(?= |$)/.exec(plain)?.[0] ?? plain).replace(/:$/, '.');
}
