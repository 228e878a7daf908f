// Search of the documentation, with the index that its own pages use. Loaded on first use.
import type MiniSearch from 'minisearch';
import { docsAddress } from './navigation.ts';

export type FoundPassage = {
  readonly address: string;
  readonly page: string;
  /** '' for the beginning of a page. */
  readonly heading: string;
};

type Passage = FoundPassage & { readonly text: string };

const foundMax = 5;
let index: Promise<MiniSearch<Passage>> | null = null;

/** Returns the best passages; none when the documentation cannot be loaded. */
export async function searchDocs(query: string): Promise<readonly FoundPassage[]> {
  try {
    const search = await (index ??= loadIndex());
    return search
      .search(query)
      .slice(0, foundMax)
      .map(({ address, page, heading }): FoundPassage => ({ address, page, heading }));
  } catch {
    index = null;
    return [];
  }
}

/** The name of the index changes with its content; every page of the documentation has it. */
async function loadIndex(): Promise<MiniSearch<Passage>> {
  const start = await (await fetch(docsAddress, { headers: { accept: 'text/html' } })).text();
  const form = new DOMParser().parseFromString(start, 'text/html').querySelector('[data-index]');
  const response = await fetch(form!.getAttribute('data-index')!);
  const passages = (await response.json()) as readonly Passage[];
  const { default: Search } = await import('minisearch');
  const search = new Search<Passage>({
    fields: ['page', 'heading', 'text'],
    storeFields: ['address', 'page', 'heading'],
    searchOptions: {
      boost: { page: 3, heading: 4 },
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 0.2 : false),
      combineWith: 'AND',
    },
  });
  search.addAll(passages.map((passage, id) => ({ ...passage, id })));
  return search;
}
