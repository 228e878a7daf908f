// The catalogue as options of the model picker.
import type { Output } from '../../api/client.ts';
import { otherTypeNames } from '../../parts/model-text.ts';

export type ModelChoice = {
  readonly id: string;
  readonly group: string;
  /** The name, if it differs from the id, and the aliases. */
  readonly note: string;
  /** Searchable text in lower case. */
  readonly words: string;
  /** True when live keys can use it now. */
  readonly isLive: boolean;
};

type Catalogue = Output<'GET /accounts/:account/models'>;

/** Also includes the `selected` ids: a key may list models that are no longer in the catalogue. */
export function modelChoices(
  catalogue: Catalogue | undefined,
  selected: readonly string[],
): readonly ModelChoice[] {
  const known = catalogue ? choicesOf(catalogue) : [];
  const missing = selected.filter((id) => !known.some((choice) => choice.id === id));
  return [
    ...known,
    ...missing.map((id) => ({
      id,
      group: 'Selected',
      note: '',
      words: id.toLowerCase(),
      isLive: catalogue === undefined,
    })),
  ];
}

function choicesOf({
  chat,
  images,
  others,
  web_search: search,
}: Catalogue): readonly ModelChoice[] {
  return [
    ...chat.map((model) => choiceOf(model, 'Text')),
    ...images.map((model) => choiceOf(model, 'Images')),
    ...others.map((model) => choiceOf(model, otherTypeNames[model.type])),
    {
      id: search.id,
      group: 'Tools',
      note: 'Web search',
      words: `${search.id} web search`,
      isLive: search.is_live,
    },
  ];
}

function choiceOf(
  model: Catalogue['chat' | 'images' | 'others'][number],
  group: string,
): ModelChoice {
  const { id, name, vendor, aliases, is_live: isLive } = model;
  const also = aliases.length === 0 ? [] : [`also called ${aliases.join(', ')}`];
  const note = [...(name === id ? [] : [name]), ...also].join(' · ');
  return { id, group, note, words: [id, name, vendor, ...aliases].join(' ').toLowerCase(), isLive };
}
