// One model that is sold, or is to be sold: its prices, routes, names and limits.
import { Badge, Drawer, Group, Stack, Table, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { Output } from '../../../api/client.ts';
import { Money } from '../../../parts/money.tsx';
import { EntryActions } from './entry-actions.tsx';
import { EntryForm } from './entry-form.tsx';
import { marginText, pricesAtMarkup, type Model } from './prices.ts';
import { PricePreview } from './price-preview.tsx';
import type { Change, Section } from './schema.ts';
import { inForceBelow, savedAt, type Save, type Saved } from './use-saved.ts';

type Parts = {
  readonly saved: Saved;
  readonly save: Save;
  readonly settings: Output<'GET /operator/settings'>['settings'];
  readonly catalogue: Output<'GET /operator/catalogue'>;
  readonly onClose: () => void;
};

type Route = { readonly provider: string; readonly model: string };

/** What a provider lists, to be sold: a model of the catalogue, or a new one. */
type Sold = {
  readonly provider: string;
  readonly id: string;
  readonly model: string | null;
  readonly is_sold: boolean;
};

/** Null closes the drawer. */
export function SellDrawer({ sold, ...parts }: Parts & { readonly sold: Sold | null }) {
  const route = sold && { provider: sold.provider, model: sold.id };
  const name = sold && (sold.model ?? sold.id.replaceAll(/[^A-Za-z0-9._:/@+-]/g, '-'));
  return (
    <ModelDrawer
      {...parts}
      name={name}
      added={sold?.is_sold === true ? null : route}
      isNew={sold?.model === null}
    />
  );
}

type Props = Parts & {
  /** The model's id; null closes the drawer. */
  readonly name: string | null;
  readonly section?: Section;
  /** A route that is proposed. */
  readonly added?: Route | null;
  readonly isNew?: boolean;
};

export function ModelDrawer({ name, ...rest }: Props) {
  const model = rest.catalogue.data.find(({ id }) => id === name);
  return (
    <Drawer
      opened={name !== null}
      onClose={rest.onClose}
      position="right"
      size="lg"
      title={model?.name ?? name ?? 'Model'}
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      {name !== null && <ModelPanel key={name} {...rest} name={name} model={model} />}
    </Drawer>
  );
}

type PanelProps = Omit<Props, 'name'> & {
  readonly name: string;
  readonly model: Model | undefined;
};

function ModelPanel({
  name: first,
  model,
  section: given,
  added,
  isNew = false,
  ...parts
}: PanelProps) {
  const { saved, save, settings, catalogue, onClose } = parts;
  const [typed, setTyped] = useState(first);
  const name = isNew ? typed.trim() : first;
  const section = given ?? (model?.type === 'image' ? 'image_models' : 'models');
  const path = [section, name];
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
          autoComplete="off"
          onChange={(event) => setTyped(event.currentTarget.value)}
          error={isTaken && 'There is a model of this name.'}
        />
      )}
      <EntryForm
        section={section}
        name={name}
        saved={saved}
        save={save}
        inForce={{
          ...entry,
          prices: pricesAtMarkup(model, markup),
          ...inForceBelow(settings, path),
        }}
        {...(added && {
          proposed: {
            routes: [...((entry['routes'] ?? []) as Route[]), added],
            ...(isNew ? { prices: {} } : {}),
          },
        })}
        first={['prices', 'routes']}
        omitted={['ended']}
        suggested={{
          provider: [...new Set(providers)].toSorted(),
          successor: catalogue.data.map(({ id }) => id),
        }}
        alsoChanged={aliasChanges}
        submit={added ? 'Sell' : 'Save changes'}
        note={added ? `sells ${name} by ${added.provider}` : `changed the model ${name}`}
        onSaved={() => {
          setBefore(aliases);
          if (added) onClose();
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

function Prices({ model }: { readonly model: Model }) {
  const { price, cost } = model;
  const rows = [
    ['Input', 'input_micros'],
    ['Output', 'output_micros'],
    ['Cache read', 'cache_read_micros'],
    ['Cache write', 'cache_write_micros'],
  ] as const;
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
        <Table aria-label="Prices now">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>USD per million tokens</Table.Th>
              <Table.Th ta="right">Cost</Table.Th>
              <Table.Th ta="right">Price</Table.Th>
              <Table.Th ta="right">Margin</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(([label, bucket]) => (
              <Table.Tr key={bucket}>
                <Table.Td>{label}</Table.Td>
                <Table.Td ta="right">
                  <Money micros={cost?.[bucket]} />
                </Table.Td>
                <Table.Td ta="right">
                  <Money micros={price?.[bucket]} />
                </Table.Td>
                <Table.Td ta="right">{marginText(price?.[bucket], cost?.[bucket])}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Stack>
  );
}
