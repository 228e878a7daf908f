// Timeouts of calls to providers. A model's timeouts override its provider's.
import { Type, type Static } from 'typebox';
import { closed, optional } from '../lib/schema-parts.ts';

const milliseconds = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, description });

/**
 * How long a provider may be silent by default, before a stream and within it. `long`: for a model
 * that thinks, because some send nothing meanwhile, and for images.
 */
export const silenceDefaultsMs = { long: 600_000, short: 120_000 } as const;

const meanings = {
  connect_ms: 'How long connecting to the provider may take.',
  first_byte_ms:
    "How long the headers of the provider's response may take; without streaming, that includes the model's work. Default: `total_ms` for whole answers, 600000 for images and for a stream of a model that thinks, 120000 for other streams.",
  idle_ms:
    'How long a stream may be silent between two chunks. Default: 600000 for a model that thinks, 120000 for others.',
  total_ms: 'How long a whole answer may take.',
} as const;
const silences = optional({
  first_byte_ms: milliseconds(meanings.first_byte_ms),
  idle_ms: milliseconds(meanings.idle_ms),
});
const withDefault = (name: keyof typeof meanings, value: number) =>
  Type.Integer({ ...milliseconds(meanings[name]), default: value });

export const ProviderTimeouts = closed(
  {
    connect_ms: withDefault('connect_ms', 5_000),
    ...silences,
    total_ms: withDefault('total_ms', 1_800_000),
  },
  { default: {} },
);
export type ProviderTimeouts = Readonly<Static<typeof ProviderTimeouts>>;

export const ModelTimeouts = closed(
  {
    connect_ms: Type.Optional(milliseconds(meanings.connect_ms)),
    ...silences,
    total_ms: Type.Optional(milliseconds(meanings.total_ms)),
  },
  { description: "How long the model's providers may take, instead of their own `timeouts`." },
);
export type ModelTimeouts = Readonly<Static<typeof ModelTimeouts>>;
