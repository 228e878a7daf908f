// One model that is sold, or is to be sold: its prices, routes, names and limits.
import { Badge, Group, SimpleGrid, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { DetailDrawer } from '../../../parts/detail-drawer.tsx';
import { Fact } from '../../../parts/fact.tsx';
import { Money } from '../../../parts/money.tsx';
import { EntryActions } from './entry-actions.tsx';
import { EntryForm } from './entry-form.tsx';
import { marginText, pricesAtMarkup, type Model } from './prices.ts';
import { PricePreview } from './price-preview.tsx';
import type { Change, Section } from './schema.ts';
import { inForceBelow, savedAt, type Parts } from './use-saved.ts';

type DrawerParts = Parts & { readonly onClose: () => void };

type Route = { readonly provider: string; readonly model: string };

/** What a provider lists, to be sold: a model of the catalogue, or a new one. */
type Sold = {
  readonly provider: string;
  readonly id: string;
  readonly model: string | null;
  readonly is_sold: boolean;
  readonly context_tokens: number | null;
};

/** Null closes the drawer. */
export function SellDrawer({ sold, ...parts }: DrawerParts & { readonly sold: Sold | null }) {
  const route = sold && { provider: sold.provider, model: sold.id };
  const name = sold && (sold.model ?? sold.id.replaceAll(/[^A-Za-z0-9._:/@+-]/g, '-'));
  return (
    <ModelDrawer
      {...parts}
      name={name}
      added={sold?.is_sold === true ? null : route}
      isNew={sold?.model === null}
      limits={limitsWithin(sold?.context_tokens ?? null)}
    />
  );
}

/** The default of a new model's output, unless the context is smaller. */
const outputTokens = 16_384;

function limitsWithin(context: number | null): object {
  return context === null
    ? {}
    : {
        context_tokens: context,
        max_input_tokens: context,
        max_output_tokens: Math.min(context, outputTokens),
      };
}

type Props = DrawerParts & {
  /** The model's id; null closes the drawer. */
  readonly name: string | null;
  /** Of a model that the catalogue does not list, because it is switched off. */
  readonly section?: Section;
  /** A route that is proposed. */
  readonly added?: Route | null;
  readonly isNew?: boolean;
  /** A new model's limits, if its provider's list has them. */
  readonly limits?: object;
};

export function ModelDrawer({ name, onClose, ...rest }: Props) {
  const model = (id: string) => rest.catalogue.data.find((one) => one.id === id);
  return (
    <DetailDrawer
      item={name}
      onClose={onClose}
      title={(id) => model(id)?.name ?? (id || 'New model')}
    >
      {(id) => <ModelPanel key={id} {...rest} name={id} model={model(id)} onClose={onClose} />}
    </DetailDrawer>
  );
}

type PanelProps = Omit<Props, 'name'> & {
  readonly name: string;
  readonly model: Model | undefined;
};

function ModelPanel({
  name: first,
  model,
  section: given = 'models',
  added = null,
  isNew = false,
  limits = {},
  ...parts
}: PanelProps) {
  const { saved, save, settings, catalogue, onClose } = parts;
  const [typed, setTyped] = useState(first);
  const name = isNew ? typed.trim() : first;
  const section = model ? (model.type === 'image' ? 'image_models' : 'models') : given;
  const path = [section, name] as const;
  const savedAliases = Object.entries((savedAt(saved, ['aliases']) ?? {}) as Record<string, string>)
    .filter(([, meant]) => meant === name)
    .map(([alias]) => alias);
  const [before, setBefore] = useState(savedAliases);
  const [aliases, setAliases] = useState(savedAliases);
  const aliasChanges: Change[] = [
    ...before.filter((one) => !aliases.includes(one)).map((one) => ({ path: ['aliases', one] })),
    ...aliases
      .filter((one) => !before.includes(one))
      .map((one) => ({ path: ['aliases', one], value: name })),
  ];
  const entry = (model?.entry ?? {}) as Readonly<Record<string, unknown>>;
  const markup = inForceBelow(settings, ['pricing'])['markup'];
  const otherAliases = model?.aliases.filter((alias) => !savedAliases.includes(alias)) ?? [];
  const isTaken = isNew && catalogue.data.some(({ id }) => id === name);
  const providers = [
    ...new Set(catalogue.data.flatMap(({ routes }) => routes.map(({ provider }) => provider))),
    ...Object.keys(savedAt(saved, ['providers']) ?? {}),
  ];
  return (
    <Stack gap="lg">
      {model && <Prices model={model} />}
      {isNew && (
        <TextInput
          label="Name"
          description="What clients ask for."
          value={typed}
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={isTaken && 'There is a model of this name.'}
        />
      )}
      <EntryForm
        path={path}
        saved={saved}
        save={save}
        inForce={{
          ...entry,
          prices: pricesAtMarkup(model, markup),
          ...inForceBelow(settings, path),
        }}
        {...((added !== null || isNew) && {
          proposed: {
            routes: [...((entry['routes'] ?? []) as Route[]), added ?? {}],
            ...(isNew ? { prices: {}, ...limits } : {}),
          },
        })}
        first={['prices', 'routes']}
        omitted={['ended']}
        suggested={{
          provider: [...new Set(providers)].toSorted(),
          successor: catalogue.data.map(({ id }) => id),
        }}
        alsoChanged={aliasChanges}
        submit={added || isNew ? 'Sell' : 'Save changes'}
        note={`${isNew ? 'added' : 'changed'} the model ${name}`}
        onSaved={() => {
          setBefore(aliases);
          if (added || isNew) onClose();
        }}
      >
        {(form) => (
          <>
            <TagsInput
              label="Aliases"
              description={`Other names that mean it. Press Enter after each.${otherAliases.length === 0 ? '' : ` Not changed here: ${otherAliases.join(', ')}.`}`}
              value={aliases}
              onChange={setAliases}
              acceptValueOnBlur
              error={form.errorAt('aliases')}
            />
            {section === 'models' && !isNew && <PricePreview {...form} />}
          </>
        )}
      </EntryForm>
      {!isNew && (
        <EntryActions
          section={section}
          name={name}
          isOn={model !== undefined}
          saved={saved}
          save={save}
          onClose={onClose}
        />
      )}
    </Stack>
  );
}

const buckets = [
  ['Input', 'input_micros'],
  ['Output', 'output_micros'],
  ['Cache read', 'cache_read_micros'],
  ['Cache write', 'cache_write_micros'],
] as const;

/** What accounts pay now at the list price, in USD per million tokens. */
function Prices({ model }: { readonly model: Model }) {
  const { price, cost } = model;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        {model.problems.length === 0 ? (
          <Badge color="green">On sale</Badge>
        ) : (
          <Badge color="gray">Not on sale</Badge>
        )}
        <Text size="sm" c="dimmed" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {model.id}
        </Text>
      </Group>
      {(price ?? cost) && (
        <SimpleGrid cols={{ base: 2, xs: 4 }}>
          {buckets.map(([label, bucket]) => (
            <Fact key={bucket} name={label}>
              <Money micros={price?.[bucket]} />
              <Text size="sm" c="dimmed">
                cost <Money micros={cost?.[bucket]} />, margin{' '}
                {marginText(price?.[bucket], cost?.[bucket])}
              </Text>
            </Fact>
          ))}
        </SimpleGrid>
      )}
    </Stack>
  );
}
