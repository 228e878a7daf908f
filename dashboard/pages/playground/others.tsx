// Tries models that do not answer conversations: a form for each type (`other-types.ts`), and what came
// of it.
import {
  Button,
  FileInput,
  Group,
  NumberInput,
  Paper,
  Stack,
  Table,
  Text,
  Textarea,
  TextInput,
} from '@mantine/core';
import { IconCode, IconVector } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import type { ModelCatalogue, OtherModel } from '../../../src/management/contract/models.ts';
import { useAccount } from '../../api/account.ts';
import { api } from '../../api/client.ts';
import { callWithKey, costFromHeaders } from '../../api/call-with-key.ts';
import { useDraft } from '../../parts/drafts.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { otherTypeNames } from '../../parts/model-text.ts';
import { usdText } from '../../parts/money-text.ts';
import { useRun } from '../../parts/use-run.ts';
import { useUrlState } from '../../parts/url-state.ts';
import classes from './chat/chat.module.css';
import { CodeDialog } from './code/code-dialog.tsx';
import { KeyField } from './key-field.tsx';
import { rememberLastKey } from './last-key.ts';
import { findModel, otherChoices } from './model-choices.ts';
import { ModelSelect } from './model-select.tsx';
import { otherTypes, type Result, type Values } from './other-types.ts';
import { SettingsButton, SettingsDrawer } from './settings-drawer.tsx';
import { useScope } from './use-chosen-key.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

/** A stream has its cost in trailers, which browsers do not show. It is charged before it ends. */
async function costOf(response: Response, account: string): Promise<number | null> {
  const cost = costFromHeaders(response);
  const request = response.headers.get('x-request-id');
  if (cost !== null || request === null) return cost;
  const asked = api('GET /accounts/:account/requests/:request', { params: { account, request } });
  return asked.then(
    (detail) => detail.cost_micros,
    () => null,
  );
}

type Shown = { readonly type: OtherModel['type']; readonly result: Result };

export function Others({ catalogue, chosenKey, setKey }: Props) {
  const scope = useScope();
  const { id: account } = useAccount();
  const [requestedId, setView] = useUrlState((search) => search.model ?? null);
  const [values, setValues] = useState<Values>({});
  const [file, setFile] = useState<File | null>(null);
  const [size, setSize] = useState<number | null>(null);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const [shown, setShown] = useState<Shown | null>(null);
  useDraft('other models', () => (Object.keys(values).length > 0 ? values : undefined), setValues);
  const models = otherChoices(catalogue.others, chosenKey);
  const model = findModel(models, requestedId) ?? models[0] ?? null;
  const type = model?.type ?? 'embedding';
  const { path, fields, takesFile = false, action, bodyOf, read } = otherTypes[type];
  const asked = model && bodyOf(values, model);
  const body = {
    model: model?.id ?? '',
    ...asked,
    ...(size !== null && { dimensions: size }),
    ...(takesFile && { file: `@${file?.name ?? 'speech.mp3'}` }),
  };
  const { start, isRunning, error } = useRun(async () => {
    rememberLastKey(scope, chosenKey.id);
    const { signal } = new AbortController();
    const sent = takesFile ? formOf({ ...body, file: file! }) : body;
    const call = { account, key: chosenKey.id, path, body: sent, signal };
    const response = await callWithKey(call);
    const result = await read(response, values);
    const cost = await costOf(response, account);
    const note = cost === null ? result.note : `${result.note} · ${usdText(cost)}`;
    setShown({ type, result: { ...result, note } });
  });
  const isReady = asked !== null && !isRunning && (!takesFile || file !== null);

  return (
    <div className={classes.layout} data-wide>
      <Paper className={classes.talk} component="section" aria-label="Other models" h="auto">
        <form
          className={classes.compose}
          style={{ borderTop: 'none' }}
          onSubmit={(event) => {
            event.preventDefault();
            if (isReady) void start();
          }}
        >
          <Stack gap="sm">
            {model && (
              <Text size="sm" c="dimmed">
                {otherTypeNames[type]} · {model.name}
              </Text>
            )}
            {takesFile && (
              <FileInput
                label="Audio"
                accept="audio/*"
                clearable
                placeholder="Choose a file"
                value={file}
                onChange={setFile}
              />
            )}
            {fields.map(({ name, rows, ...field }) => {
              const common = {
                ...field,
                value: values[name] ?? '',
                onChange: (event: { readonly currentTarget: { readonly value: string } }) =>
                  setValues({ ...values, [name]: event.currentTarget.value }),
              };
              return rows === undefined ? (
                <TextInput key={name} {...common} />
              ) : (
                <Textarea key={name} {...common} autosize minRows={rows} maxRows={12} />
              );
            })}
          </Stack>
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
              {action}
            </Button>
          </Group>
        </form>
        <div className={classes.turns} aria-live="polite">
          {error && <ErrorNotice error={error} />}
          {!error && shown?.type === type && <ResultView result={shown.result} />}
          {!error && shown?.type !== type && (
            <EmptyState
              icon={IconVector}
              title="Nothing yet"
              text="Choose the model in the settings: each type has its own form."
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
            hint={(choice) => otherTypeNames[choice.type]}
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

function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.append(name, value instanceof Blob ? value : String(value));
  return form;
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

function ResultView({ result: { title, note, table, audio } }: { readonly result: Result }) {
  return (
    <article>
      <Text lineClamp={table ? 3 : 20}>{title}</Text>
      <Text size="sm" c="dimmed" mb="sm">
        {note}
      </Text>
      {audio && <Player audio={audio} />}
      {table && (
        <Table aria-label={table.name}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{table.heads[0]}</Table.Th>
              <Table.Th ta="right">{table.heads[1]}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {table.rows.map(([name, value], index) => (
              <Table.Tr key={`${index} ${name}`}>
                <Table.Td>{name}</Table.Td>
                <Table.Td ta="right">{value}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </article>
  );
}

function Player({ audio }: { readonly audio: Blob }) {
  const player = useRef<HTMLAudioElement>(null);
  useEffect(() => {
    const url = URL.createObjectURL(audio);
    player.current!.src = url;
    return () => URL.revokeObjectURL(url);
  }, [audio]);
  // oxlint-disable-next-line jsx-a11y/media-has-caption -- what it says stands above it
  return <audio ref={player} controls autoPlay aria-label="Audio" />;
}
