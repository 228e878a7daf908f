// The rows of a comparison of models. Pure functions.
import type { ChatModel, TokenPrices } from '../../../src/management/contract/models.ts';
import { vendorName } from '../../parts/model-text.ts';
import { fineUsdText, usdText } from '../../parts/money-text.ts';
import { countText, durationText, shortCountText } from '../../parts/number-text.ts';
import { dayText } from '../../parts/time-text.ts';
import { abilities, hasAbility, type Ability } from './model-filters.ts';
import { firstTokenText, speedText, uptimeText, type Measurements } from './measured.ts';

export const comparedMin = 2;
export const comparedMax = 4;

export type ComparisonRow = {
  readonly label: string;
  /** One for each model; null: not known, or none. */
  readonly values: readonly (string | null)[];
  readonly differs: boolean;
};

export type ComparisonGroup = { readonly title: string; readonly rows: readonly ComparisonRow[] };

export const abilityNames: Readonly<Record<Ability, string>> = {
  vision: 'Vision',
  audio: 'Hearing',
  thinking: 'Reasoning',
  tools: 'Tools',
  search: 'Web search',
};

export function compareModels(
  models: readonly ChatModel[],
  measured: Measurements,
): readonly ComparisonGroup[] {
  const row = (label: string, valueOf: (model: ChatModel) => string | null): ComparisonRow => {
    const values = models.map(valueOf);
    return { label, values, differs: values.some((value) => value !== values[0]) };
  };
  const price = (label: string, field: keyof TokenPrices) =>
    row(label, (model) => {
      const micros = model.price?.base[field];
      return micros === undefined ? null : usdText(micros);
    });
  const measure = (label: string, textOf: (known: MeasuredOf) => string | null) =>
    row(label, ({ id }) => {
      const known = measured.get(id);
      return known ? textOf(known) : null;
    });
  return [
    {
      title: 'Prices per million tokens',
      rows: [
        price('Input', 'input_micros'),
        price('Sound', 'audio_micros'),
        price('Cached input', 'cache_read_micros'),
        price('Cache write', 'cache_write_micros'),
        price('Output', 'output_micros'),
        row('Long input', longInputText),
        row('Each web search', ({ web_search_micros: micros }) =>
          micros === null ? null : fineUsdText(micros),
        ),
      ],
    },
    {
      title: 'Limits in tokens',
      rows: [
        row('Context', (model) => countText(model.context_tokens)),
        row('Max input', (model) => countText(model.max_input_tokens)),
        row('Max output', (model) => countText(model.max_output_tokens)),
      ],
    },
    {
      title: 'Abilities',
      rows: [
        ...abilities.map((ability) =>
          row(abilityNames[ability], (model) => (hasAbility(model, ability) ? 'Yes' : 'No')),
        ),
        row('Vendor', ({ vendor }) => vendorName(vendor)),
        row('Released', (model) => dayText(model.created_at)),
      ],
    },
    {
      title: 'Measured by this account in 30 days',
      rows: [
        measure('Uptime', uptimeText),
        measure('First token, median', firstTokenText),
        measure(
          'First token, 95%',
          ({ first_token: first }) => first && durationText(first.p95_ms),
        ),
        measure('Whole answer, median', ({ whole }) => whole && durationText(whole.p50_ms)),
        measure('Speed', speedText),
        measure('Answers', ({ answered }) => countText(answered)),
      ],
    },
  ];
}

type MeasuredOf = Measurements extends ReadonlyMap<string, infer Value> ? Value : never;

/** `over 200K: $2.50 in, $15.00 out`; null: one price for any length. */
function longInputText({ price }: ChatModel): string | null {
  const tier = price?.tiers[0];
  if (!tier) return null;
  const { input_micros: input, output_micros: output } = tier.prices;
  return `over ${shortCountText(tier.above_input_tokens)}: ${usdText(input)} in, ${usdText(output)} out`;
}

/** Adds the model, or removes it if it is there. */
export function toggleCompared(ids: readonly string[], id: string): readonly string[] {
  if (ids.includes(id)) return ids.filter((each) => each !== id);
  return [...ids, id].slice(0, comparedMax);
}
