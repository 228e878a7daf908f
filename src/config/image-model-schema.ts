// A model that makes images as it is written down, in the configuration and in the built-in catalogue alike. Every field is optional
// here: an entry may override one field of a built-in model. What a new model needs is in catalog/load-image-catalog.ts.
import { Type, type Static } from 'typebox';
import { imageFamilies, imageModes, imageQualities, imageResolutions } from '../canonical/image-model.ts';
import type { DeepReadonly } from './model-schema.ts';

const closed = { additionalProperties: false } as const;
const usd = (description: string) => Type.Number({ minimum: 0, maximum: 1_000, description });
const tiers = [...imageQualities, ...imageResolutions] as const;

const OutputPrices = Type.Partial(
  Type.Object(
    {
      low: usd('USD for quality `low`.'),
      medium: usd('USD for quality `medium`.'),
      high: usd('USD for quality `high`.'),
      '1k': usd('USD for resolution `1k`.'),
      '2k': usd('USD for resolution `2k`.'),
      '4k': usd('USD for resolution `4k`.'),
    },
    closed,
  ),
);

const Prices = Type.Object(
  {
    output: OutputPrices,
    per_megapixel: Type.Optional(
      Type.Boolean({
        description:
          'Whether `output` is the price of a megapixel (1024 × 1024; a part counts as a whole one) or of an image. Left out: a megapixel where the family takes a `size`.',
      }),
    ),
    input_image: Type.Optional(
      Type.Union([usd('USD for each image that is put in, for every image that comes out.'), OutputPrices], {
        description:
          'USD for each image that is put in, for every image that comes out; one price, or one for each quality or resolution. Left out: 0.',
      }),
    ),
  },
  {
    ...closed,
    description:
      'USD, as accounts pay it: `pricing.markup` is not added. Every quality of its family has a price, or every resolution. A model without a price never runs.',
  },
);

const upstreamModel = (tier: (typeof tiers)[number]) =>
  Type.Optional(Type.String({ minLength: 1, description: `The provider's id of the model for \`${tier}\`.` }));

const Route = Type.Object(
  {
    provider: Type.String({
      minLength: 1,
      description:
        'The name of a provider under `providers`, or of a known one, that makes images: of kind `openai`, `openai-compatible`, `bfl` or `google`.',
    }),
    model: Type.Optional(
      Type.String({ minLength: 1, description: "The provider's own id of the model, for every quality or resolution." }),
    ),
    models: Type.Optional(
      Type.Object(
        Object.fromEntries(tiers.map((tier) => [tier, upstreamModel(tier)])) as Record<
          (typeof tiers)[number],
          ReturnType<typeof upstreamModel>
        >,
        closed,
      ),
    ),
  },
  closed,
);

export const ImageModelEntry = Type.Object(
  {
    display_name: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'The readable name. A new model: its id.' }),
    ),
    owned_by: Type.Optional(
      Type.String({ minLength: 1, maxLength: 100, description: 'Who made it. A new model: the provider of its first route.' }),
    ),
    created: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}$',
        description: 'The day it was released. A new model: the day of the built-in catalogue.',
      }),
    ),
    mode: Type.Optional(
      Type.Enum([...imageModes], {
        description:
          '`text-to-image` takes no images, `edit` exactly one, `reference` one or more. A new model needs it; that of a built-in one is fixed.',
      }),
    ),
    family: Type.Optional(
      Type.Enum([...imageFamilies], {
        description:
          'Which parameters it takes, and their limits: `gpt-image` and `flux-2` take `size` and `quality`, `nano-banana` takes `aspect_ratio` and `resolution`. A new model needs it; that of a built-in one is fixed.',
      }),
    ),
    input_images_max: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 64,
        description: "The most images that a `reference` model takes. Left out: its family's.",
      }),
    ),
    images_max: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 10, description: "The most images of one request (`n`). Left out: its family's." }),
    ),
    routes: Type.Optional(
      Type.Array(Route, {
        minItems: 1,
        description: 'Where it runs, in order: the later ones are fallbacks. A new model needs one.',
      }),
    ),
    prices: Type.Optional(Prices),
  },
  closed,
);

export type ImageModelEntry = DeepReadonly<Static<typeof ImageModelEntry>>;
export type ImagePricesEntry = DeepReadonly<Static<typeof Prices>>;
export type ImageRouteEntry = DeepReadonly<Static<typeof Route>>;
