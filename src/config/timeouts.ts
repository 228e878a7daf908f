// How long a provider may take, by provider and, above that, by model.
import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
const milliseconds = (description: string) => Type.Integer({ minimum: 1, maximum: 86_400_000, description });

/** The head of the answer, where neither the provider nor the model says how long it may take. */
export const firstByteDefaultsMs = { slow: 600_000, quick: 120_000 } as const;

const meanings = {
  connect_ms: 'How long a connection to the provider may take to open.',
  first_byte_ms:
    "How long the head of the provider's answer may take; without streaming it waits for all of it. Left out: 600000 for a model that thinks and for whole answers, 120000 for a stream of any other.",
  idle_ms: 'How long a stream may be silent between two pieces.',
  total_ms: 'How long a whole answer may take.',
} as const;
const firstByte = Type.Optional(milliseconds(meanings.first_byte_ms));
const withDefault = (name: keyof typeof meanings, value: number) =>
  Type.Integer({ ...milliseconds(meanings[name]), default: value });

export const ProviderTimeouts = Type.Object(
  {
    connect_ms: withDefault('connect_ms', 5_000),
    first_byte_ms: firstByte,
    idle_ms: withDefault('idle_ms', 120_000),
    total_ms: withDefault('total_ms', 1_800_000),
  },
  { ...closed, default: {} },
);
export type ProviderTimeouts = Readonly<Static<typeof ProviderTimeouts>>;

export const ModelTimeouts = Type.Object(
  {
    connect_ms: Type.Optional(milliseconds(meanings.connect_ms)),
    first_byte_ms: firstByte,
    idle_ms: Type.Optional(milliseconds(meanings.idle_ms)),
    total_ms: Type.Optional(milliseconds(meanings.total_ms)),
  },
  { ...closed, description: 'How long its providers may take, over what their own `timeouts` say.' },
);
export type ModelTimeouts = Readonly<Static<typeof ModelTimeouts>>;
