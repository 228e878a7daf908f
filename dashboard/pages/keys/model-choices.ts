// The catalogue as a list to pick from.
import type { Output } from '../../api/client.ts';

export type ModelChoice = {
  readonly id: string;
  readonly group: string;
  /** Its name, where that is another, and its aliases. */
  readonly note: string;
  /** All that it can be found by, in small letters. */
  readonly words: string;
  /** Whether live keys can run it now. */
  readonly isLive: boolean;
};

type Catalogue = Output<'GET /accounts/:account/models'>;

/** `chosen`: ids that are in the list whatever the catalogue says, since a key may name what is sold no longer. */
export function modelChoices(catalogue: Catalogue | undefined, chosen: readonly string[]): readonly ModelChoice[] {
  const known = catalogue ? choicesOf(catalogue) : [];
  const gone = chosen.filter((id) => !known.some((choice) => choice.id === id));
  return [
    ...known,
    ...gone.map((id) => ({ id, group: 'Chosen', note: '', words: id.toLowerCase(), isLive: catalogue === undefined })),
  ];
}

function choicesOf({ chat, images, web_search: search }: Catalogue): readonly ModelChoice[] {
  return [
    ...chat.map((model) => choiceOf(model, 'Text')),
    ...images.map((model) => choiceOf(model, 'Images')),
    {
      id: search.id,
      group: 'Tools',
      note: 'Searches of the web',
      words: `${search.id} web search`,
      isLive: search.is_live,
    },
  ];
}

function choiceOf(model: Catalogue['chat'][number] | Catalogue['images'][number], group: string): ModelChoice {
  const { id, name, vendor, aliases, is_live: isLive } = model;
  const also = aliases.length === 0 ? [] : [`also ${aliases.join(', ')}`];
  const note = [...(name === id ? [] : [name]), ...also].join(' · ');
  return { id, group, note, words: [id, name, vendor, ...aliases].join(' ').toLowerCase(), isLive };
}
