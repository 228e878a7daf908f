// How programs use a new key: the base URL, and code for each SDK.
import { Group, Stack, Tabs, Text } from '@mantine/core';
import { useSession } from '../../api/session.ts';
import { useApi } from '../../api/use-api.ts';
import { CodeBlock } from '../../parts/code-block.tsx';
import { CopyButton } from '../../parts/copy-button.tsx';
import { keySamples, sampleModel, type KeySample } from './key-samples.ts';
import type { Key } from './key-values.ts';

type Props = { readonly row: Key; readonly secret: string };

export function KeyCode({ row, secret }: Props) {
  const { public_url: baseUrl } = useSession().features;
  const models = useApi('GET /accounts/:account/models', {});
  const model = sampleModel(models.data?.chat ?? [], row);
  const samples = keySamples({ baseUrl, model });
  return (
    <Stack gap="xs">
      <Group gap={6} wrap="nowrap">
        <Text size="sm" c="dimmed" style={{ whiteSpace: 'nowrap' }}>
          Base URL
        </Text>
        <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
          {baseUrl}/v1
        </Text>
        <CopyButton text={`${baseUrl}/v1`} label="Copy base URL" />
      </Group>
      <Group gap={6} wrap="nowrap">
        <Text size="sm" c="dimmed">
          The samples read the key from the variable <code>TOLLGATE_KEY</code>.
        </Text>
        <CopyButton text={`export TOLLGATE_KEY=${secret}`} label="Copy the line that sets it" />
      </Group>
      <Tabs defaultValue={samples[0]!.name} keepMounted={false}>
        <Tabs.List aria-label="Use the key with">
          {samples.map(({ name }) => (
            <Tabs.Tab key={name} value={name} px={7}>
              {name}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        {samples.map((sample) => (
          <Tabs.Panel key={sample.name} value={sample.name} pt="sm">
            <Sample sample={sample} />
          </Tabs.Panel>
        ))}
      </Tabs>
    </Stack>
  );
}

function Sample({ sample: { name, code, guide } }: { readonly sample: KeySample }) {
  return (
    <Stack gap={6}>
      <CodeBlock code={code} label={`Code for ${name}`} />
      {/* The guide is outside the app, and the key is shown only here: it opens beside. */}
      <Text component="a" href={guide} target="_blank" size="sm" c="var(--mantine-color-anchor)">
        Guide: {name}
      </Text>
    </Stack>
  );
}
