// Search over all passages. The index is loaded and built when the reader first uses the field.
import MiniSearch from 'minisearch';
import type { FoundPassage } from '../build.ts';

const resultsMax = 12;
const excerptChars = 140;
/** Pages for other readers come later. */
const otherAudienceShare = 0.3;
/** The page that the query names comes before a heading inside another. */
const namedBoost = 20;

type Index = {
  readonly search: MiniSearch<FoundPassage & { readonly id: number }>;
  readonly passages: readonly FoundPassage[];
};

export function startSearch(form: HTMLFormElement): void {
  const input = form.querySelector('input')!;
  const found = form.querySelector<HTMLElement>('#found')!;
  let index: Promise<Index> | null = null;
  const load = () => (index ??= loadIndex(form.dataset['index']!));
  const close = () => (found.hidden = true);

  form.hidden = false;
  input.addEventListener('focus', () => void load());
  input.addEventListener('input', () => void find(input.value.trim()));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    found.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    const links = [...found.querySelectorAll('a')];
    const at = links.indexOf(document.activeElement as HTMLAnchorElement);
    if (event.key === 'Escape') {
      close();
      input.focus();
    } else if (event.key === 'ArrowDown') links[at + 1]?.focus();
    else if (event.key === 'ArrowUp') (links[at - 1] ?? input).focus();
    else return;
    event.preventDefault();
  });
  form.addEventListener('focusout', ({ relatedTarget }) => {
    if (!form.contains(relatedTarget as Node | null)) close();
  });
  // A hit on the same page loads nothing.
  found.addEventListener('click', (event) => {
    if ((event.target as Element).closest('a')) close();
  });
  addEventListener('keydown', (event) => {
    const isTyping = (event.target as Element).matches?.('input, textarea, select');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    input.focus();
  });

  async function find(query: string): Promise<void> {
    const { search, passages } = await load();
    if (query !== input.value.trim()) return; // A newer input is under way.
    const { audience } = document.body.dataset;
    const boostDocument = (id: unknown) => {
      const passage = passages[Number(id)]!;
      if (passage.audience !== audience) return otherAudienceShare;
      return passage.heading === '' ? 1 + namedBoost * namedPart(passage.page, query) : 1;
    };
    const hits = search.search(query, { boostDocument }).slice(0, resultsMax);
    show(
      hits.map(({ id, terms }) => ({ passage: passages[Number(id)]!, terms })),
      query,
    );
  }

  type Hit = { readonly passage: FoundPassage; readonly terms: readonly string[] };

  function show(hits: readonly Hit[], query: string): void {
    found.hidden = query === '';
    const state = document.createElement('p');
    state.setAttribute('role', 'status');
    state.textContent = hits.length === 0 ? `Nothing found for “${query}”.` : '';
    const list = document.createElement('ul');
    list.append(...hits.map(renderHit));
    found.replaceChildren(state, ...(hits.length === 0 ? [] : [list]));
  }
}

/** Returns which part of a title's words the query has; 0 when it has others too. */
function namedPart(title: string, query: string): number {
  const [named, asked] = [title, query].map(
    (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [],
  );
  const isNamed = asked!.every((word) => named!.some((part) => part.startsWith(word)));
  return isNamed ? asked!.length / named!.length : 0;
}

async function loadIndex(address: string): Promise<Index> {
  const response = await fetch(address);
  const passages = (await response.json()) as readonly FoundPassage[];
  const search = new MiniSearch<FoundPassage & { readonly id: number }>({
    fields: ['page', 'heading', 'text'],
    searchOptions: {
      boost: { page: 3, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  search.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return { search, passages };
}

function renderHit({
  passage,
  terms,
}: {
  readonly passage: FoundPassage;
  readonly terms: readonly string[];
}): HTMLLIElement {
  const { address, page, heading, text } = passage;
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = address;
  const title = document.createElement('strong');
  title.textContent = heading === '' ? page : `${page} › ${heading}`;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(text, terms);
  link.append(title, excerpt);
  item.append(link);
  return item;
}

/** Returns the text around the first term. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const places = terms.map((term) => lower.indexOf(term)).filter((place) => place !== -1);
  const start = Math.max(0, Math.min(...places, text.length) - 40);
  const from = places.length === 0 ? 0 : start;
  const excerpt = text.slice(from, from + excerptChars);
  return `${from > 0 ? '…' : ''}${excerpt}${from + excerptChars < text.length ? '…' : ''}`;
}
