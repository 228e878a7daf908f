import {
  Button,
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Textarea,
} from '@mantine/core';
import { IconBraces, IconTool } from '@tabler/icons-react';
import type { ChatModel } from '../../../../src/management/contract/models.ts';
import { chatFormats } from '../../../api/chat-formats/registry.ts';
import type { ChatFormat, FormatName } from '../../../api/chat-formats/types.ts';
import type { Key } from '../../../parts/key-select.tsx';
import { countText } from '../../../parts/number-text.ts';
import { KeyField } from '../key-field.tsx';
import type { Definition } from './definition-dialogs.tsx';
import { parseTools } from './definitions.ts';
import type { Draft } from './draft.ts';

type Props = {
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
  readonly models: readonly ChatModel[];
  readonly format: ChatFormat;
  readonly setFormat: (name: FormatName) => void;
  readonly draft: Draft;
  readonly setDraft: (patch: Partial<Draft>) => void;
  readonly onEdit: (definition: Definition) => void;
};

/** Settings of the next request, for all models. Empty fields are not sent. */
export function ChatSettingsForm(props: Props) {
  const { chosenKey, setKey, models, format, setFormat, draft, setDraft, onEdit } = props;
  const tools = parseTools(draft.toolsText).value ?? [];
  const outputMax = Math.min(...models.map((model) => model.max_output_tokens));
  const canThink = models.some(({ abilities }) => abilities.thinking);
  return (
    <Stack gap="md">
      <Input.Wrapper label="Format" labelElement="div" labelProps={{ id: 'format-label' }}>
        <SegmentedControl
          fullWidth
          size="xs"
          aria-labelledby="format-label"
          data={Object.values(chatFormats).map(({ name, label }) => ({
            value: name,
            label: label.split(' ')[0]!,
          }))}
          value={format.name}
          onChange={(name) => setFormat(name)}
        />
      </Input.Wrapper>
      <KeyField chosenKey={chosenKey} setKey={setKey} />
      <Textarea
        label="System prompt"
        autosize
        minRows={2}
        maxRows={8}
        value={draft.system}
        onChange={(event) => setDraft({ system: event.currentTarget.value })}
      />
      <Button
        variant="default"
        fullWidth
        justify="start"
        leftSection={<IconTool size={16} aria-hidden />}
        onClick={() => onEdit('tools')}
      >
        Tools: {tools.length === 0 ? 'none' : tools.map(({ name }) => name).join(', ')}
      </Button>
      {tools.length > 0 && (
        <Select
          label="Tool choice"
          data={[
            { value: 'auto', label: 'The model decides' },
            { value: 'required', label: 'Any tool must be called' },
            ...tools.map(({ name }) => ({ value: `tool:${name}`, label: name })),
          ]}
          value={draft.toolChoice}
          onChange={(choice) => choice !== null && setDraft({ toolChoice: choice })}
          allowDeselect={false}
        />
      )}
      <Button
        variant="default"
        fullWidth
        justify="start"
        leftSection={<IconBraces size={16} aria-hidden />}
        onClick={() => onEdit('schema')}
      >
        Output schema: {draft.schemaText === '' ? 'none' : draft.schemaName}
      </Button>
      <NumberInput
        label="Max output tokens"
        description={Number.isFinite(outputMax) ? `Up to ${countText(outputMax)}` : undefined}
        placeholder={format.name === 'messages' ? '4096' : 'Model default'}
        min={1}
        max={Number.isFinite(outputMax) ? outputMax : undefined}
        allowDecimal={false}
        thousandSeparator=","
        value={draft.maxTokens ?? ''}
        onChange={(value) => setDraft({ maxTokens: numberOf(value) })}
      />
      <NumberInput
        label="Temperature"
        placeholder="Model default"
        min={0}
        max={format.temperatureMax}
        step={0.1}
        decimalScale={2}
        value={draft.temperature ?? ''}
        onChange={(value) => setDraft({ temperature: numberOf(value) })}
      />
      <Select
        label="Reasoning effort"
        description={canThink ? undefined : 'This model has no reasoning.'}
        placeholder="Model default"
        data={[...format.efforts]}
        value={draft.effort}
        onChange={(effort) => setDraft({ effort })}
        disabled={!canThink}
        clearable
      />
      <Switch
        label="Stream the answer"
        checked={draft.stream}
        onChange={(event) => setDraft({ stream: event.currentTarget.checked })}
      />
    </Stack>
  );
}

function numberOf(value: number | string): number | null {
  return typeof value === 'number' ? value : null;
}
