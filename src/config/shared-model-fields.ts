// Fields that the entries of chat and image models share: what a model is called, who made it, and
// its announced end.
import { Type } from 'typebox';
import { flag, optional } from '../lib/schema-parts.ts';

const time = (description: string) =>
  Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}(T\\d{2}:\\d{2}(:\\d{2})?Z)?$',
    shape: 'a day, such as 2026-12-01, or a time like 2026-12-01T16:00Z',
    description: `${description} A day (00:00 UTC), or a time like \`2026-12-01T16:00Z\`.`,
  });

export const sharedModelFields = optional({
  display_name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'The display name. Default for a new model: its id.',
  }),
  owned_by: Type.String({
    minLength: 1,
    maxLength: 100,
    description: 'Who made the model. Default for a new model: the provider of its first route.',
  }),
  created: Type.String({
    pattern: '^\\d{4}-\\d{2}-\\d{2}$',
    shape: 'a day, such as 2026-11-21',
    description: 'The day of release. Default for a new model: the day of the built-in catalogue.',
  }),
  deprecated_at: time(
    'When the use of the model is discouraged, past or future. Answers say so in `Deprecation`.',
  ),
  retires_at: time(
    'When its provider ends the model. Answers say so in `Sunset`; the model runs as long as a provider serves it.',
  ),
  deprecation_url: Type.String({
    maxLength: 2_000,
    pattern: '^https?://[!#-;=?-\\[\\]_a-z~]+$',
    shape: 'an http:// or https:// address without spaces, quotes and angle brackets',
    description: 'A page about the end of the model. Answers name it in `Link`.',
  }),
  successor: Type.String({
    minLength: 1,
    maxLength: 200,
    description:
      'The id of the model to use in place of one that ends. Answers name it in `Link`, and the 404 of an ended model in its text.',
  }),
  ended: flag('`true` stops the sale of the model: a 404 names its `successor`. Default: `false`.'),
});

export type RetirementFields = Partial<
  Record<'deprecated_at' | 'retires_at' | 'deprecation_url' | 'successor', string> & {
    readonly ended: boolean;
  }
>;
