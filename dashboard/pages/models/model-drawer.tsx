// The details of one model.
import { Badge, Code, Group, SimpleGrid, Stack, Table, Text, Title } from '@mantine/core';
import { IconMessages } from '@tabler/icons-react';
import type {
  ChatModel,
  AnyModel as Model,
  ImageModelEntry,
  MeasuredModel,
  OtherModel,
  ModelPrice,
  PriceSet,
  TokenPrices,
} from '../../../src/management/contract/models.ts';
import { useIsAtLeast } from '../../api/account.ts';
import { useSession } from '../../api/session.ts';
import { CodeTabs } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { DetailDrawer } from '../../parts/detail-drawer.tsx';
import { EndBadge } from '../../parts/end-badge.tsx';
import { Fact } from '../../parts/fact.tsx';
import { ButtonLink } from '../../parts/link.tsx';
import {
  imageUsd,
  imageModeNames,
  otherTypeNames,
  tierName,
  unitPriceText,
  vendorName,
} from '../../parts/model-text.ts';
import { Money } from '../../parts/money.tsx';
import { countText, durationText } from '../../parts/number-text.ts';
import { dayText } from '../../parts/time-text.ts';
import { abilityNames } from './comparison.ts';
import { firstTokenText, speedText, uptimeText, type Measurements } from './measured.ts';
import { abilities, hasAbility } from './model-filters.ts';
import { NotLive, PriceBadge } from './model-name.tsx';
import { codeLines } from './one-line.ts';
import { sizesText } from './other-models.tsx';

/** A null `model` closes the drawer. */
export function ModelDrawer({
  model,
  measured,
  onClose,
}: {
  readonly model: Model | null;
  readonly measured: Measurements;
  readonly onClose: () => void;
}) {
  return (
    <DetailDrawer item={model} onClose={onClose} title={({ name }) => name}>
      {(shown) => <Details model={shown} measured={measured.get(shown.id)} />}
    </DetailDrawer>
  );
}

type DetailsProps = { readonly model: Model; readonly measured: MeasuredModel | undefined };

function Details({ model, measured }: DetailsProps) {
  const isChat = 'context_tokens' in model;
  const canTry = useIsAtLeast('member');
  const tab = playgroundTab(model);
  const { public_url: baseUrl } = useSession().features;
  return (
    <Stack gap="lg">
      <Stack gap={6}>
        <Group gap={6}>
          <Code fz="sm">{model.id}</Code>
          <CopyButton text={model.id} label="Copy ID" />
          {!model.is_live && <NotLive />}
          <EndBadge model={model} />
          <PriceBadge multiplierPpm={model.multiplier_ppm} />
        </Group>
        {model.aliases.length > 0 && (
          <Group gap={6}>
            <Text size="sm" c="dimmed">
              Also called
            </Text>
            {model.aliases.map((alias) => (
              <Code key={alias}>{alias}</Code>
            ))}
          </Group>
        )}
      </Stack>
      {isChat ? (
        <ChatFacts model={model} />
      ) : 'type' in model ? (
        <OtherFacts model={model} />
      ) : (
        <ImageFacts model={model} />
      )}
      {measured && <MeasuredFacts measured={measured} />}
      <section>
        <Title order={3} mb="xs">
          One line of code
        </Title>
        <CodeTabs samples={codeLines(model, baseUrl)} />
        <Text size="sm" c="dimmed" mt="xs">
          Set the environment variable TOLLGATE_KEY to your key.
        </Text>
      </section>
      {canTry && tab !== null && (
        <div>
          <ButtonLink
            to="/playground"
            search={(before) => ({
              account: before.account,
              mode: before.mode,
              model: model.id,
              tab,
            })}
            leftSection={<IconMessages size={16} aria-hidden />}
          >
            Try it in the playground
          </ButtonLink>
        </div>
      )}
    </Stack>
  );
}

/** undefined: the first tab; null: the playground has none for it. */
function playgroundTab(model: Model): string | null | undefined {
  if ('context_tokens' in model) return undefined;
  if ('type' in model) return 'others';
  return model.input_images.min === 0 ? 'images' : null;
}

function MeasuredFacts({ measured }: { readonly measured: MeasuredModel }) {
  const { answered, failed, whole } = measured;
  return (
    <section>
      <Title order={3}>Measured by this account</Title>
      <Text size="sm" c="dimmed" mb="xs">
        {countText(answered + failed)} requests in the last 30 days
      </Text>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="md">
        <Fact name="Uptime">{uptimeText(measured)}</Fact>
        <Fact name="Speed">{speedText(measured) ?? '–'}</Fact>
        <Fact name="First token, median">{firstTokenText(measured) ?? '–'}</Fact>
        <Fact name="Whole answer, median">{whole ? durationText(whole.p50_ms) : '–'}</Fact>
      </SimpleGrid>
    </section>
  );
}

function ChatFacts({ model }: { readonly model: ChatModel }) {
  const { web_search_micros: searchMicros } = model;
  return (
    <>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="md">
        <Fact name="Vendor">{vendorName(model.vendor)}</Fact>
        <Fact name="Released">{dayText(model.created_at)}</Fact>
        <Fact name="Context">{countText(model.context_tokens)} tokens</Fact>
        <Fact name="Max output">{countText(model.max_output_tokens)} tokens</Fact>
      </SimpleGrid>
      <Group gap={6}>
        {abilities
          .filter((ability) => hasAbility(model, ability))
          .map((ability) => (
            <Badge key={ability} color="gray">
              {abilityNames[ability]}
            </Badge>
          ))}
        {model.abilities.streaming && <Badge color="gray">Streaming</Badge>}
      </Group>
      <Prices model={model} />
      {searchMicros !== null && (
        <Text size="sm">
          Each web search that the model runs costs {imageUsd(searchMicros)}{' '}
          <Text span inherit c="dimmed">
            {' '}
            in addition to its tokens.{' '}
          </Text>
        </Text>
      )}
    </>
  );
}

function OtherFacts({ model }: { readonly model: OtherModel }) {
  return (
    <>
      <SimpleGrid cols={2} spacing="md" verticalSpacing="md">
        <Fact name="Vendor">{vendorName(model.vendor)}</Fact>
        <Fact name="Released">{dayText(model.created_at)}</Fact>
        <Fact name="Type">{otherTypeNames[model.type]}</Fact>
        <Fact name="Input">up to {countText(model.max_input_tokens)} tokens</Fact>
        {model.dimensions && <Fact name="Dimensions">{sizesText(model.dimensions)}</Fact>}
      </SimpleGrid>
      <Prices model={model} />
    </>
  );
}

/** The prices of today, and those that are scheduled. */
function Prices({ model }: { readonly model: ChatModel | OtherModel }) {
  const { price, scheduled_prices: scheduled } = model;
  const table = (shown: ModelPrice) =>
    'type' in model && shown.unit_micros !== undefined ? (
      <Text>{unitPriceText(model.type, shown.unit_micros)}</Text>
    ) : (
      <PriceTables price={shown} />
    );
  return (
    <>
      <section>
        <Title order={3}>Prices</Title>
        <Text size="sm" c="dimmed" mb="xs">
          {price?.unit_micros === undefined ? 'Per million tokens' : 'Per unit'}
          {price?.effective_at ? `, since ${dayText(price.effective_at)}` : ''}
        </Text>
        {price ? table(price) : <Text>This model has no price yet, so it cannot be called.</Text>}
      </section>
      {scheduled.map((later) => (
        <section key={later.effective_at}>
          <Title order={3} mb="xs">
            From {dayText(later.effective_at!)} (UTC)
          </Title>
          {table(later)}
        </section>
      ))}
    </>
  );
}

const priceRows: readonly (readonly [name: string, field: keyof TokenPrices])[] = [
  ['Input', 'input_micros'],
  ['Sound', 'audio_micros'],
  ['Cached input', 'cache_read_micros'],
  ['Cache write', 'cache_write_micros'],
  ['Cache write, 1 hour', 'cache_write_1h_micros'],
  ['Output', 'output_micros'],
];

/** A model that writes nothing has one price. */
function rowsOf({ base }: PriceSet) {
  const rows = priceRows.filter(([, field]) => base[field] !== undefined);
  return base.output_micros === 0 && base.input_micros > 0 ? rows.slice(0, 1) : rows;
}

/** The prices of the standard tier, then those of other tiers and hours. */
function PriceTables({ price }: { readonly price: ModelPrice }) {
  const names: Readonly<Record<string, string>> = {
    flex: 'Flex: slower',
    priority: 'Priority: faster',
    ultrafast: 'Ultrafast',
  };
  // Hours with the same prices share a table.
  const byPrices = Map.groupBy(price.variants, ({ service_tier: tier, base, tiers }) =>
    JSON.stringify([tier, base, tiers]),
  );
  return (
    <>
      <PriceTable price={price} label="Prices" />
      {[...byPrices.values()].map((variants) => {
        const [first] = variants;
        const tier = first!.service_tier;
        const label = tier
          ? names[tier]!
          : `${variants.map(({ hours_utc: hours }) => hours).join(', ')} (UTC)`;
        return (
          <section key={label}>
            <Title order={4} mt="md">
              {label}
            </Title>
            <PriceTable price={first!} label={label} />
          </section>
        );
      })}
    </>
  );
}

function PriceTable({ price, label }: { readonly price: PriceSet; readonly label: string }) {
  return (
    <div style={{ overflowX: 'auto' }} tabIndex={0} role="region" aria-label={label}>
      <Table fz="md" verticalSpacing={6}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Tokens</Table.Th>
            <Table.Th ta="right">
              {price.tiers[0]
                ? `Input up to ${countText(price.tiers[0].above_input_tokens)}`
                : 'Price'}
            </Table.Th>
            {price.tiers.map(({ above_input_tokens: above }) => (
              <Table.Th key={above} ta="right">
                Input over {countText(above)}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rowsOf(price).map(([name, field]) => (
            <Table.Tr key={field}>
              <Table.Th scope="row" fw={400}>
                {name}
              </Table.Th>
              <Table.Td ta="right">
                <Money micros={price.base[field] ?? price.base.input_micros} />
              </Table.Td>
              {price.tiers.map(({ above_input_tokens: above, prices }) => (
                <Table.Td key={above} ta="right">
                  <Money micros={prices[field] ?? prices.input_micros} />
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  );
}

function ImageFacts({ model }: { readonly model: ImageModelEntry }) {
  const { parameters, price, input_images: inputs } = model;
  return (
    <>
      <SimpleGrid cols={2} spacing="md">
        <Fact name="Vendor">{vendorName(model.vendor)}</Fact>
        <Fact name="Mode">{imageModeNames[model.mode]}</Fact>
        <Fact name="Images per request">up to {countText(model.images_max)}</Fact>
        <Fact name="Input images">
          {inputs.max === 0
            ? 'none'
            : inputs.min === inputs.max
              ? inputs.max
              : `${inputs.min} to ${inputs.max}`}
        </Fact>
        <Fact name="Prompt">up to {countText(model.prompt_characters_max)} characters</Fact>
        <Fact name="File formats">
          {model.output_formats.length === 0
            ? 'chosen by the model'
            : model.output_formats.join(', ')}
        </Fact>
        {parameters.kind === 'size' ? (
          <>
            <Fact name="Size">
              {parameters.default_size} by default. Sides of {parameters.sizes.side_min} to{' '}
              {parameters.sizes.side_max} pixels in steps of {parameters.sizes.multiple_of}
            </Fact>
            <Fact name="Quality">{parameters.quality.allowed.join(', ')}</Fact>
          </>
        ) : (
          <>
            <Fact name="Aspect ratio">{parameters.aspect_ratio.allowed.join(', ')}</Fact>
            <Fact name="Resolution">{parameters.resolution.allowed.map(tierName).join(', ')}</Fact>
          </>
        )}
      </SimpleGrid>
      <section>
        <Title order={3} mb="xs">
          Prices
        </Title>
        {price ? (
          <Table fz="md" verticalSpacing={6}>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{parameters.kind === 'size' ? 'Quality' : 'Resolution'}</Table.Th>
                <Table.Th ta="right">{price.per_megapixel ? 'First megapixel' : 'Image'}</Table.Th>
                {price.per_megapixel && <Table.Th ta="right">Further megapixels</Table.Th>}
                {inputs.max > 0 && (
                  <Table.Th ta="right">
                    {price.input_per_megapixel ? 'Input megapixel' : 'Input image'}
                  </Table.Th>
                )}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {(Object.keys(price.output_micros) as (keyof typeof price.output_micros)[]).map(
                (tier) => (
                  <Table.Tr key={tier}>
                    <Table.Th scope="row" fw={400}>
                      {tierName(tier)}
                    </Table.Th>
                    <Table.Td ta="right">{imageUsd(price.output_micros[tier]!)}</Table.Td>
                    {price.per_megapixel && (
                      <Table.Td ta="right">
                        {imageUsd(price.further_megapixel_micros[tier] ?? 0)}
                      </Table.Td>
                    )}
                    {inputs.max > 0 && (
                      <Table.Td ta="right">
                        {imageUsd(price.input_image_micros[tier] ?? 0)}
                      </Table.Td>
                    )}
                  </Table.Tr>
                ),
              )}
            </Table.Tbody>
          </Table>
        ) : (
          <Text>This model has no price, so it cannot be called.</Text>
        )}
        {price?.tokens && <ImageTokenPrices tokens={price.tokens} />}
      </section>
    </>
  );
}

function ImageTokenPrices({
  tokens,
}: {
  readonly tokens: NonNullable<NonNullable<ImageModelEntry['price']>['tokens']>;
}) {
  return (
    <Text size="sm" c="dimmed" mt="xs">
      Charged by the tokens that the provider reports; the table applies when it reports none. Per
      million tokens: prompt {imageUsd(tokens.text_micros)} (cached{' '}
      {imageUsd(tokens.cached_text_micros)}), input images {imageUsd(tokens.image_micros)} (cached{' '}
      {imageUsd(tokens.cached_image_micros)}), output images {imageUsd(tokens.output_micros)}.
    </Text>
  );
}
