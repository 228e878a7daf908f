// The schema of an image model's entry, in the configuration and in the built-in catalogue. Every
// field is optional, because an entry may override one field of a built-in model.
// domain/catalog/load-image-catalog.ts checks what a new model needs.
import { Type, type Static } from 'typebox';
import { byName, closed, flag, integer, optional } from '../lib/schema-parts.ts';
import { sharedModelFields } from './shared-model-fields.ts';
import {
  imageFamilies,
  imageModes,
  imageQualities,
  imageResolutions,
} from '../terms/image-model.ts';
import type { DeepReadonly } from './model-schema.ts';

const usd = (description: string) => Type.Number({ minimum: 0, maximum: 1_000, description });
const tiers = [...imageQualities, ...imageResolutions] as const;

const TierPrices = Type.Object(
  optional({
    ...byName(imageQualities, (name) => usd(`USD for quality \`${name}\`.`)),
    ...byName(imageResolutions, (name) => usd(`USD for resolution \`${name}\`.`)),
  }),
);

const perMillion = (description: string) =>
  Type.Number({ minimum: 0, maximum: 100_000, description });

const TokenPrices = closed(
  {
    text: perMillion('Tokens of the prompt.'),
    cached_text: Type.Optional(
      perMillion("Prompt tokens from the provider's cache. Default: as `text`."),
    ),
    image: perMillion('Tokens of the input images.'),
    cached_image: Type.Optional(
      perMillion("Input image tokens from the provider's cache. Default: as `image`."),
    ),
    output: perMillion('Tokens of the output images.'),
  },
  {
    description:
      'USD per million tokens, for a provider that bills images by tokens. Its count is charged, up to the hold. The other prices apply to answers without a count. Default: the other prices apply to all answers.',
  },
);

const Prices = closed(
  {
    output: TierPrices,
    ...optional({
      further_megapixel: Type.Partial(TierPrices, {
        description:
          'USD for each megapixel of an image after its first, if `output` is the price of a megapixel. Default: as the first.',
      }),
      per_megapixel: flag(
        '`output` is the price of a megapixel (1024 × 1024; a part counts as a whole one), not of an image. Default: `true` if the family takes a `size`.',
      ),
      input_image: Type.Union(
        [usd('USD for each input image, for every output image.'), TierPrices],
        {
          description:
            'USD for each input image, for every output image; one price, or one for each quality or resolution. Default: 0.',
        },
      ),
      input_per_megapixel: flag(
        '`input_image` is the price of a megapixel of the input image (a part counts as a whole one, four at most), not of the image. Default: `false`.',
      ),
      tokens: TokenPrices,
    }),
  },
  {
    description:
      'USD, as accounts pay them, without `pricing.markup`. Every quality or every resolution of the family needs a price. A model without a price never runs.',
  },
);

const upstreamModel = (tier: (typeof tiers)[number]) =>
  Type.String({ minLength: 1, description: `The provider's id for the model for \`${tier}\`.` });

const Route = closed({
  provider: Type.String({
    minLength: 1,
    description:
      "A provider's name under `providers`, or a known provider, that makes images: of kind `openai`, `openai-compatible`, `bfl` or `google`.",
  }),
  ...optional({
    model: Type.String({
      minLength: 1,
      description: "The provider's own id for the model, for every quality and resolution.",
    }),
    models: closed(optional(byName(tiers, upstreamModel))),
  }),
});

export const ImageModelEntry = closed({
  ...sharedModelFields,
  ...optional({
    mode: Type.Enum([...imageModes], {
      description:
        '`text-to-image` takes no images, `edit` exactly one, `reference` one or more. Required for a new model; fixed for a built-in one.',
    }),
    family: Type.Enum([...imageFamilies], {
      description:
        'Decides the parameters and their limits: `gpt-image` and `flux-2` take `size` and `quality`, `nano-banana` takes `aspect_ratio` and `resolution`. Required for a new model; fixed for a built-in one.',
    }),
    input_images_max: integer(
      "The most input images of a `reference` model. Default: its family's.",
      { minimum: 1, maximum: 64 },
    ),
    images_max: integer("The most images of one request (`n`). Default: its family's.", {
      minimum: 1,
      maximum: 10,
    }),
    routes: Type.Array(Route, {
      minItems: 1,
      description:
        'Where the model runs, in order; later routes are fallbacks. A new model needs at least one.',
    }),
    prices: Prices,
  }),
});

export type ImageModelEntry = DeepReadonly<Static<typeof ImageModelEntry>>;
export type ImagePricesEntry = DeepReadonly<Static<typeof Prices>>;
export type ImageRouteEntry = DeepReadonly<Static<typeof Route>>;
