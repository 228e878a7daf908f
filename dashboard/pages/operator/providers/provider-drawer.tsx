// One provider, on or not: its address, credential and settings, a test, and the models that it lists.
import { Badge, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { ApiError } from '../../../api/api-error.ts';
import type { Output } from '../../../api/client.ts';
import { DetailDrawer } from '../../../parts/detail-drawer.tsx';
import { countedText } from '../../../parts/number-text.ts';
import { EntryActions } from '../saved/entry-actions.tsx';
import { EntryForm } from '../saved/entry-form.tsx';
import type { Change } from '../saved/schema.ts';
import { SellDrawer } from '../saved/model-drawer.tsx';
import { inForceBelow, lockOf, savedAt, type Parts } from '../saved/use-saved.ts';
import { ProviderTest, type ListedModel } from './provider-test.tsx';

type Provider = Output<'GET /operator/providers'>['data'][number];

type Props = Parts & {
  readonly providers: readonly Provider[];
  readonly name: string | null;
  readonly onClose: () => void;
};

/** The settings of a cloud's place: its models and its batches. Other providers have an address. */
const placeFields: Readonly<Record<string, readonly string[]>> = {
  azure: ['base_url', 'api_version'],
  bedrock: ['region', 'batch_bucket', 'batch_role'],
  vertex: ['project', 'region', 'batch_bucket'],
};

function otherPlaces(place: readonly string[]): readonly string[] {
  const fields = ['region', 'project', 'api_version', 'batch_bucket', 'batch_role'];
  return fields.filter((field) => !place.includes(field));
}

export function ProviderDrawer({ name, onClose, ...parts }: Props) {
  return (
    <DetailDrawer item={name} onClose={onClose} title={(shown) => shown}>
      {(shown) => <ProviderPanel key={shown} {...parts} name={shown} onClose={onClose} />}
    </DetailDrawer>
  );
}

function ProviderPanel({
  name,
  saved,
  save,
  onClose,
  ...parts
}: Props & { readonly name: string }) {
  const [sold, setSold] = useState<ListedModel | null>(null);
  const provider = parts.providers.find((one) => one.name === name);
  const known = saved.known_providers.find((one) => one.name === name);
  const path = ['providers', name];
  const hint = saved.credentials.find((one) => one.path[1] === name)?.hint;
  const keyLock = lockOf(saved, [...path, 'api_key']);
  const keyPath = `providers[${JSON.stringify(name)}].api_key`;
  const isKeyNeeded = known?.needs_key === true && hint === undefined && keyLock === null;
  const withKey = (changes: Change[]) => {
    if (!isKeyNeeded || changes.some(({ path: [, , field] }) => field === 'api_key'))
      return changes;
    const message = `Enter the key that ${name} gave you.`;
    throw new ApiError({ status: 400, code: 'invalid_request', message, param: keyPath });
  };
  const isNew = savedAt(saved, path) === undefined && hint === undefined && provider === undefined;
  // Without a key there would be nothing to save.
  const switchOn = known && !known.needs_key && isNew;
  const place = placeFields[known?.kind ?? ''] ?? ['base_url'];
  return (
    <Stack gap="lg">
      <Group gap="xs">
        {provider?.is_on ? <Badge color="green">On</Badge> : <Badge color="gray">Off</Badge>}
        <Text size="sm" c="dimmed">
          {known?.kind ?? provider?.kind}
          {known &&
            known.models > 0 &&
            `, serves ${countedText(known.models, 'model')} of the catalogue`}
        </Text>
      </Group>
      <EntryForm
        path={['providers', name]}
        saved={saved}
        save={async (changes, note) => save(withKey(changes), note)}
        inForce={{
          kind: known?.kind,
          base_url: known?.base_url ?? undefined,
          ...inForceBelow(parts.settings, path),
          ...(hint === undefined ? {} : { api_key: `Saved: ${hint}` }),
        }}
        first={known ? ['api_key', ...place] : ['kind', 'base_url', 'api_key']}
        omitted={['enabled', ...(known ? ['kind', ...otherPlaces(place)] : [])]}
        alsoChanged={switchOn ? [{ path: [...path, 'enabled'], value: true }] : []}
        submit={isNew ? 'Save and switch on' : 'Save changes'}
        note={`${isNew ? 'added' : 'changed'} the provider ${name}`}
      >
        {(form) => (
          <ProviderTest
            {...form}
            catalogue={parts.catalogue}
            changes={() => withKey(form.changes())}
            provider={name}
            onSell={provider?.is_on ? setSold : null}
          />
        )}
      </EntryForm>
      <EntryActions
        section="providers"
        name={name}
        isOn={provider?.is_on === true}
        saved={saved}
        save={save}
        onClose={onClose}
      />
      <SellDrawer
        {...parts}
        sold={sold && { provider: name, ...sold }}
        saved={saved}
        save={save}
        onClose={() => setSold(null)}
      />
    </Stack>
  );
}
