// Timeouts of calls to providers. A model's timeouts override its provider's.
import { Type, type Static } from 'typebox';

const closed = { additionalProperties: false } as const;
const milliseconds = (description: string) =>
  Type.Integer({ minimum: 1, maximum: 86_400_000, description });

/** Default times to the answer's first byte. */
export const firstByteDefaultsMs = { slow: 600_000, quick: 120_000 } as const;

const meanings = {
  connect_ms: 'How long connecting to the provider may take.',
  first_byte_ms:
    "How long the headers of the provider's response may take; without streaming, that includes the model's work. Default: 600000 for a model that thinks and for whole answers, 120000 for a stream of any other model.",
  idle_ms: 'How long a stream may be silent between two chunks.',
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
  {
    ...closed,
    description: "How long the model's providers may take, instead of their own `timeouts`.",
  },
);
export type ModelTimeouts = Readonly<Static<typeof ModelTimeouts>>;
