// The frame of every page: header with search, navigation, contents and the page itself.
import { addressOf, audiences, markdownAddressOf, type Audience } from './contents.ts';
import { escapeHtml } from './escape.ts';
import type { Heading } from './markdown.ts';

/** Addresses of the files that pages load. */
export type Assets = {
  readonly style: string;
  readonly script: string;
  readonly reference: string;
  readonly search: string;
  readonly icon: string;
};

type NavigationSection = {
  readonly audience: Audience;
  readonly title: string;
  readonly pages: readonly { readonly name: string; readonly title: string }[];
};

export type Page = {
  /** null for a page without an address. */
  readonly name: string | null;
  readonly audience: Audience;
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** Further scripts. */
  readonly scripts?: readonly string[];
};

type Site = { readonly assets: Assets; readonly navigation: readonly NavigationSection[] };

export function layOut(page: Page, { assets, navigation }: Site): string {
  const scripts = [assets.script, ...(page.scripts ?? [])];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(page.title)} – Tollgate docs</title>
<link rel="icon" type="image/svg+xml" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
${page.name === null ? '' : `<link rel="alternate" type="text/markdown" href="${markdownAddressOf(page.name)}">\n`}${scripts.map((script) => `<script type="module" src="${script}"></script>`).join('\n')}
</head>
<body data-audience="${page.audience}">
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<button type="button" id="menu" aria-expanded="false" aria-controls="navigation" hidden>Menu</button>
<a class="brand" href="/docs"><img src="${assets.icon}" alt="" width="22" height="22">Tollgate docs</a>
<form class="search" role="search" data-index="${assets.search}" hidden>
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false">
<div id="found" hidden></div>
</form>
<a class="dashboard" href="/">Dashboard</a>
</header>
<div class="columns">
<nav id="navigation" aria-label="Pages">
${renderAudiences(navigation, page.audience)}
${navigation
  .filter(({ audience }) => audience === page.audience)
  .map((section) => renderSection(section, page.name))
  .join('\n')}
</nav>
<main id="content" tabindex="-1">
<article>
${page.name === null ? '' : renderPageTools(page.name)}${page.html}</article>
${renderTurns(navigation, page)}
</main>
${renderContents(page.headings)}
</div>
</body>
</html>
`;
}

/** Links to the first pages of customers and operators. */
function renderAudiences(navigation: readonly NavigationSection[], current: Audience): string {
  const items = Object.entries(audiences).map(([audience, title]) => {
    const { name } = navigation.find((section) => section.audience === audience)!.pages[0]!;
    const mark = audience === current ? ' aria-current="true"' : '';
    return `<li><a href="${addressOf(name)}"${mark}>${title}</a></li>`;
  });
  return `<ul class="audiences">\n${items.join('\n')}\n</ul>`;
}

/** A script adds a button that copies the text. */
function renderPageTools(name: string): string {
  return `<p class="page-tools"><a href="${markdownAddressOf(name)}">Markdown</a></p>\n`;
}

/** Links to the pages before and after, in the order of the navigation. */
function renderTurns(navigation: readonly NavigationSection[], { name, audience }: Page): string {
  const pages = navigation
    .filter((section) => section.audience === audience)
    .flatMap((section) => section.pages);
  const at = pages.findIndex((page) => page.name === name);
  if (at === -1) return '';
  const link = (
    rel: 'prev' | 'next',
    title: string,
    page = pages[at + (rel === 'next' ? 1 : -1)],
  ) =>
    page
      ? `<a rel="${rel}" href="${addressOf(page.name)}"><small>${title}</small> ${escapeHtml(page.title)}</a>`
      : '<span></span>';
  return `<nav class="turns" aria-label="Pages before and after">\n${link('prev', 'Previous')}\n${link('next', 'Next')}\n</nav>`;
}

function renderSection({ title, pages }: NavigationSection, current: string | null): string {
  const items = pages.map(({ name, title: text }) => {
    const mark = name === current ? ' aria-current="page"' : '';
    return `<li><a href="${addressOf(name)}"${mark}>${escapeHtml(text)}</a></li>`;
  });
  return `<h2>${escapeHtml(title)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
}

function renderContents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return '<div class="contents"></div>';
  const items = shown.map(({ id, text }) => `<li><a href="#${id}">${escapeHtml(text)}</a></li>`);
  return `<nav class="contents" aria-label="On this page">\n<p>On this page</p>\n<ul>\n${items.join('\n')}\n</ul>\n</nav>`;
}
