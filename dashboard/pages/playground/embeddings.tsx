// Tries an embedding model: how similar texts are to the first one.
import { Button, Group, NumberInput, Paper, Stack, Table, Text, Textarea } from '@mantine/core';
import { IconCode, IconVector } from '@tabler/icons-react';
import { useState } from 'react';
import type { ModelCatalogue, OtherModel } from '../../../src/management/contract/models.ts';
import { useAccount } from '../../api/account.ts';
import { toApiError, type ApiError } from '../../api/api-error.ts';
import { callWithKey, costFromHeaders } from '../../api/call-with-key.ts';
import { useDraft } from '../../parts/drafts.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import { useUrlState } from '../../parts/url-state.ts';
import classes from './chat/chat.module.css';
import { CodeDialog } from './code/code-dialog.tsx';
import { KeyField } from './key-field.tsx';
import { rememberLastKey } from './last-key.ts';
import { embeddingChoices, findModel } from './model-choices.ts';
import { ModelSelect } from './model-select.tsx';
import { SettingsButton, SettingsDrawer } from './settings-drawer.tsx';
import { byLikeness, textsOf, type Likeness } from './likeness.ts';
import { useScope } from './use-chosen-key.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

type Compared = {
  readonly first: string;
  readonly others: readonly Likeness[];
  readonly dimensions: number;
  readonly costMicros: number | null;
};

const path = '/v1/embeddings';

export function Embeddings({ catalogue, chosenKey, setKey }: Props) {
  const scope = useScope();
  const { id: account } = useAccount();
  const [requestedId, setView] = useUrlState((search) => search.model ?? null);
  const [text, setText] = useState('');
  const [size, setSize] = useState<number | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [compared, setCompared] = useState<Compared | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  useDraft('embedded texts', () => text || undefined, setText);
  const models = embeddingChoices(catalogue.others, chosenKey);
  const model = findModel(models, requestedId) ?? models[0] ?? null;
  const texts = textsOf(text);
  const isReady = model !== null && texts.length >= 2 && !isRunning;
  const body = {
    model: model?.id ?? '',
    input: texts,
    ...(size !== null && { dimensions: size }),
  };

  const compare = async () => {
    rememberLastKey(scope, chosenKey.id);
    setRunning(true);
    setError(null);
    try {
      const { signal } = new AbortController();
      const response = await callWithKey({ account, key: chosenKey.id, path, body, signal });
      const { data } = (await response.json()) as {
        readonly data: readonly { readonly embedding: readonly number[] }[];
      };
      const vectors = data.map(({ embedding }) => embedding);
      setCompared({
        first: texts[0]!,
        others: byLikeness(texts, vectors),
        dimensions: vectors[0]!.length,
        costMicros: costFromHeaders(response),
      });
    } catch (thrown) {
      setError(toApiError(thrown));
    } finally {
      setRunning(false);
    }
  };

  return (
    <div className={classes.layout} data-wide>
      <Paper className={classes.talk} component="section" aria-label="Embeddings" h="auto">
        <form
          className={classes.compose}
          style={{ borderTop: 'none' }}
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void compare();
          }}
        >
          <Textarea
            label="Texts"
            description="One in each line. The others are compared with the first."
            placeholder={'a lighthouse at night\nthe lighthouse\na loaf of bread'}
            autosize
            minRows={4}
            maxRows={12}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
          />
          <Group justify="space-between" mt="sm">
            <Group gap="xs">
              <SettingsButton onClick={() => setSettingsOpen(true)} />
              <Button
                variant="default"
                leftSection={<IconCode size={16} aria-hidden />}
                onClick={() => setCodeOpen(true)}
              >
                Copy as code
              </Button>
            </Group>
            <Button type="submit" disabled={!isReady} loading={isRunning}>
              Compare
            </Button>
          </Group>
        </form>
        <div className={classes.turns} aria-live="polite">
          {error && <ErrorNotice error={error} />}
          {!error && compared && <Comparison compared={compared} />}
          {!error && !compared && (
            <EmptyState
              icon={IconVector}
              title="No vectors yet"
              text="Write two texts or more. What is similar comes first."
            />
          )}
        </div>
      </Paper>
      <SettingsDrawer opened={areSettingsOpen} onClose={() => setSettingsOpen(false)}>
        <Stack gap="md">
          <ModelSelect
            choices={models}
            model={model}
            setModel={(id) => {
              setView({ model: id });
              setSize(null);
            }}
            hint={({ price }) => price && usdText(price.base.input_micros)}
          />
          <KeyField chosenKey={chosenKey} setKey={setKey} />
          {model && <SizeField model={model} value={size} onChange={setSize} />}
        </Stack>
      </SettingsDrawer>
      <CodeDialog
        opened={isCodeOpen}
        onClose={() => setCodeOpen(false)}
        path={path}
        body={body}
        files={[]}
      />
    </div>
  );
}

/** Only for a model with several sizes. Empty: the model's own. */
function SizeField({
  model: { dimensions },
  value,
  onChange,
}: {
  readonly model: OtherModel;
  readonly value: number | null;
  readonly onChange: (size: number | null) => void;
}) {
  if (!dimensions || dimensions.min === dimensions.max) return null;
  return (
    <NumberInput
      label="Dimensions"
      placeholder={String(dimensions.default)}
      min={dimensions.min}
      max={dimensions.max}
      allowDecimal={false}
      value={value ?? ''}
      onChange={(size) => onChange(typeof size === 'number' ? size : null)}
    />
  );
}

function Comparison({
  compared: { first, others, dimensions, costMicros },
}: {
  readonly compared: Compared;
}) {
  return (
    <article>
      <Text lineClamp={3}>{first}</Text>
      <Text size="sm" c="dimmed" mb="sm">
        {countText(dimensions)} dimensions
        {costMicros !== null && ` · ${usdText(costMicros)}`}
      </Text>
      <Table aria-label="Similar texts">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Text</Table.Th>
            <Table.Th ta="right">Likeness</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {others.map(({ text, likeness }, index) => (
            <Table.Tr key={`${index} ${text}`}>
              <Table.Td>{text}</Table.Td>
              <Table.Td ta="right">{likeness.toFixed(3)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </article>
  );
}
