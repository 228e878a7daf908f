// Makes the documentation that the gateway serves under `/docs`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { addressOf, homePage, referencePage, sections } from './contents.ts';
import { layOut, type Assets, type Page } from './layout.ts';
import { renderMarkdown, titleOf, type Rendered } from './markdown.ts';

const sources = join(import.meta.dirname, '..', 'docs');

/** A passage that the search finds, with the address of its page. */
export type FoundPassage = {
  readonly address: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
};

/**
 * Writes a page for each entry of `sections`, and `assets/`, whose names change with their content.
 * Throws when a document is missing, or a link in one leads nowhere.
 */
export async function buildSite(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const documents = readDocuments();
  checkLinks(documents);
  const titles = new Map([...documents].map(([name, { title }]) => [name, title]));
  titles.set(referencePage.name, referencePage.title);
  const assets = await writeAssets(folder, passagesOf(documents));
  const navigation = sections.map(({ title, pages }) => ({
    title,
    pages: pages.map((name) => ({ name, title: titles.get(name)! })),
  }));
  const write = (file: string, page: Page) => {
    const path = join(folder, `${file}.html`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, layOut(page, { assets, navigation }));
  };
  for (const [name, document] of documents)
    write(name === homePage ? 'index' : name, { name, ...document });
  write(referencePage.name, {
    ...referencePage,
    html: referenceFrame,
    headings: [],
    scripts: [assets.reference],
  });
  write('404', { name: null, title: 'Page not found', html: missingPage, headings: [] });
}

function readDocuments(): Map<string, Rendered> {
  const documents = sections.flatMap(({ pages, fillsCode }) =>
    pages
      .filter((name) => name !== referencePage.name)
      .map((name) => {
        const text = readFileSync(join(sources, `${name}.md`), 'utf8');
        return { name, fillsCode, text };
      }),
  );
  const targets = new Map(
    documents.map(({ name, text }) => [name, { address: addressOf(name), title: titleOf(text) }]),
  );
  const linkTo = (name: string) => targets.get(name) ?? null;
  return new Map(
    documents.map(({ text, ...document }) => [
      document.name,
      renderMarkdown(text, { ...document, linkTo }),
    ]),
  );
}

function checkLinks(documents: ReadonlyMap<string, Rendered>): void {
  for (const [name, { links }] of documents) {
    for (const link of links) {
      const [target = '', fragment = ''] = link.split('#');
      if (fragment !== '' && !documents.get(target)!.ids.has(fragment))
        throw new Error(`docs/${name}.md links to ${link}, which does not exist`);
    }
  }
}

function passagesOf(documents: ReadonlyMap<string, Rendered>): FoundPassage[] {
  return [...documents].flatMap(([name, { title, passages }]) =>
    passages
      .filter(({ text }) => text !== '')
      .map(({ id, heading, text }) => ({
        address: addressOf(name) + (id && `#${id}`),
        page: title,
        heading,
        text,
      })),
  );
}

async function writeAssets(folder: string, passages: readonly FoundPassage[]): Promise<Assets> {
  const bundle = await rolldown({
    input: {
      main: join(import.meta.dirname, 'client', 'main.ts'),
      reference: join(import.meta.dirname, 'client', 'reference.ts'),
    },
    platform: 'browser',
  });
  const { output } = await bundle.write({
    dir: join(folder, 'assets'),
    format: 'esm',
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  const script = (name: string) =>
    `/docs/assets/${output.find((chunk) => chunk.type === 'chunk' && chunk.name === name)!.fileName}`;
  const asset = (file: string, content: string | Buffer) => {
    const hash = createHash('sha256').update(content).digest('hex').slice(0, 8);
    const ending = extname(file);
    const name = `${file.slice(0, -ending.length)}-${hash}${ending}`;
    writeFileSync(join(folder, 'assets', name), content);
    return `/docs/assets/${name}`;
  };
  return {
    style: asset('style.css', readFileSync(join(import.meta.dirname, 'style.css'))),
    script: script('main'),
    reference: script('reference'),
    search: asset('search.json', JSON.stringify(passages)),
    icon: asset(
      'icon.svg',
      readFileSync(join(import.meta.dirname, '..', 'dashboard', 'app', 'icon.svg')),
    ),
  };
}

const referenceFrame = `<h1 id="api-reference">API reference</h1>
<p>Every call of this gateway, written from its own <a href="/openapi.json">OpenAPI document</a>. Send your key as <code>Authorization: Bearer YOUR_KEY</code> or <code>x-api-key</code>. With a key, you can try each call here.</p>
<div id="reference" aria-busy="true"><noscript><p>This page needs JavaScript. The same is in <a href="/openapi.json">/openapi.json</a>.</p></noscript></div>
`;

const missingPage = `<h1 id="page-not-found">Page not found</h1>
<p>There is no page at this address. Use the search, or begin at <a href="/docs">the start</a>.</p>
`;
