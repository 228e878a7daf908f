// Makes the documentation that the gateway serves under `/docs`.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { rolldown } from 'rolldown';
import {
  addressOf,
  homePage,
  isMade,
  madePages,
  sections,
  type Audience,
  type Section,
} from './contents.ts';
import { iconFile } from './icon.ts';
import { layOut, type Assets, type Page } from './layout.ts';
import { renderMarkdown, titleOf, type Rendered } from './markdown.ts';
import { plainReference } from './plain-reference.ts';
import { listOfPages, plainPage, summaryOf } from './plain-pages.ts';

const sources = join(import.meta.dirname, '..', 'docs');

/** A passage that the search finds, with the address of its page. */
export type FoundPassage = {
  readonly address: string;
  readonly page: string;
  readonly audience: Audience;
  readonly heading: string;
  readonly text: string;
};

/** A document of `docs/`. */
type Document = Rendered & { readonly audience: Audience; readonly plain: string };

/**
 * Writes a page for each entry of `sections`, each also as Markdown, the files of the gateway's
 * root, and `assets/`, whose names change with their content. Throws when a document is missing, or
 * a link in one leads nowhere.
 */
export async function buildSite(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, 'assets'), { recursive: true });
  const documents = readDocuments();
  checkLinks(documents);
  const assets = await writeAssets(folder, passagesOf(documents));
  const titleOfPage = (name: string) =>
    isMade(name) ? madePages[name] : documents.get(name)!.title;
  const navigation = sections.map(({ pages, ...section }) => ({
    ...section,
    pages: pages.map((name) => ({ name, title: titleOfPage(name) })),
  }));
  const write = (file: string, content: string | Buffer) => {
    const path = join(folder, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  };
  const writePage = (page: Page) => layOut(page, { assets, navigation });
  const plainPages = new Map<string, string>();
  for (const { audience, pages } of sections) {
    for (const name of pages) {
      const { plain, ...page } = isMade(name) ? makePage(name, assets) : documents.get(name)!;
      plainPages.set(name, plain);
      write(`${name === homePage ? 'index' : name}.html`, writePage({ ...page, name, audience }));
      write(`${name}.md`, plain);
    }
  }
  const missing = { name: null, audience: 'customers', title: 'Page not found' } as const;
  write('404.html', writePage({ ...missing, html: missingPage, headings: [] }));
  const entryOf = (name: string) => ({
    title: titleOfPage(name),
    summary: summaryOf(plainPages.get(name)!),
  });
  write('llms.txt', listOfPages(sections, entryOf));
  write('robots.txt', robots);
  write('sitemap.xml', sitemap(sections.flatMap(({ pages }) => pages)));
  write('favicon.ico', await iconFile(readFileSync(iconSource)));
}

const iconSource = join(import.meta.dirname, '..', 'dashboard', 'app', 'icon.svg');

/** The dashboard has nothing for search engines. */
const robots = `User-agent: *
Allow: /docs
Allow: /llms.txt
Allow: /openapi.json
Allow: /sitemap.xml
Disallow: /
Sitemap: {{gateway}}/sitemap.xml
`;

/** https://www.sitemaps.org/protocol.html */
function sitemap(names: readonly string[]): string {
  const urls = names.map((name) => `<url><loc>{{gateway}}${addressOf(name)}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
${urls.join('')}</urlset>
`;
}

function readDocuments(): Map<string, Document> {
  const written = (section: Section) =>
    section.pages
      .filter((name) => !isMade(name))
      .map((name) => {
        const text = readFileSync(join(sources, `${name}.md`), 'utf8');
        return { name, audience: section.audience, text };
      });
  const documents = sections.flatMap(written);
  const targets = new Map(
    documents.map(({ name, text }) => [name, { address: addressOf(name), title: titleOf(text) }]),
  );
  const linkTo = (name: string) => targets.get(name) ?? null;
  return new Map(
    documents.map(({ name, audience, text }) => {
      const fillsCode = audience === 'customers';
      const plain = plainPage(text, { name, fillsCode, isServed: (target) => targets.has(target) });
      return [name, { ...renderMarkdown(text, { name, fillsCode, linkTo }), audience, plain }];
    }),
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

function passagesOf(documents: ReadonlyMap<string, Document>): FoundPassage[] {
  const made = sections.flatMap(({ audience, pages }) =>
    pages.filter(isMade).map((name) => {
      const page = madePages[name];
      return { address: addressOf(name), page, audience, heading: '', text: page };
    }),
  );
  const written = [...documents].flatMap(([name, { title, audience, passages }]) =>
    passages
      .filter(({ text, heading }) => text !== '' || heading === '')
      .map(({ id, heading, text }) => ({
        address: addressOf(name) + (id && `#${id}`),
        page: title,
        audience,
        heading,
        text,
      })),
  );
  return [...made, ...written];
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
    icon: asset('icon.svg', readFileSync(iconSource)),
  };
}

/** Returns a page without a document. */
function makePage(
  name: keyof typeof madePages,
  assets: Assets,
): Omit<Page, 'name' | 'audience'> & { readonly plain: string } {
  const title = madePages[name];
  const frame = { title, headings: [] };
  if (name === 'models') {
    const plain = `# ${title}\n\n${aboutModels.join('\n\n')}\n\n{{models}}\n`;
    const { html } = renderMarkdown(plain, { name, fillsCode: false, linkTo: () => null });
    return { ...frame, html: html.replace('<p>{{models}}</p>', '{{models}}'), plain };
  }
  const intro = name === 'reference' ? aboutReference : aboutAdminReference;
  const html = `<h1>${title}</h1>
<p>${intro}</p>
<div id="reference" data-part="${name}" aria-busy="true"><noscript><p>This page needs JavaScript. The same is in <a href="/openapi.json">/openapi.json</a>.</p></noscript></div>
`;
  const plain = plainReference(title, name === 'reference' ? 'customers' : 'operators');
  return { ...frame, html, scripts: [assets.reference], plain };
}

const aboutModels = [
  'The models that this gateway serves now, at its list prices: US dollars for a million tokens, if nothing else is said. Your account may pay less: `GET /v1/models/info` with your key says what.',
];
const aboutReference =
  'The calls of the API, written from this gateway’s own <a href="/openapi.json">OpenAPI document</a>. Send your key as <code>Authorization: Bearer YOUR_KEY</code> or <code>x-api-key</code>. With a key, you can try each call here.';
const aboutAdminReference =
  'The calls for programs of the operator, and those that run a gateway, written from its own <a href="/openapi.json">OpenAPI document</a>. Send an admin key as <code>Authorization: Bearer ADMIN_KEY</code>. <a href="/docs/admin-api">The admin API</a> explains them.';

const missingPage = `<h1 id="page-not-found">Page not found</h1>
<p>There is no page at this address. Use the search, or begin at <a href="/docs">the start</a>.</p>
`;
