import {
  Input,
  NumberInput,
  SegmentedControl,
  Select,
  Stack,
  Switch,
  Textarea,
} from '@mantine/core';
import type { ChatModel } from '../../../src/dashboard-contract/models.ts';
import { KeySelect, type Key } from '../../parts/key-select.tsx';
import { usdText } from '../../parts/money-text.ts';
import { countText } from '../../parts/number-text.ts';
import {
  chatFormats,
  type ChatFormat,
  type ChatSettings,
  type FormatName,
} from '../../api/chat-formats.ts';
import { ModelSelect } from './model-select.tsx';

type Props = {
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
  readonly choices: readonly ChatModel[];
  readonly model: ChatModel | null;
  readonly setModel: (id: string) => void;
  readonly format: ChatFormat;
  readonly setFormat: (name: FormatName) => void;
  readonly settings: ChatSettings;
  readonly setSettings: (patch: Partial<ChatSettings>) => void;
};

/** Settings of the next request. Empty fields are not sent. */
export function ChatSettingsForm(props: Props) {
  const { chosenKey, setKey, choices, model, setModel, format, setFormat, settings, setSettings } =
    props;
  return (
    <Stack gap="md">
      <ModelSelect choices={choices} model={model} setModel={setModel} hint={priceHint} />
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
        value={settings.system}
        onChange={(event) => setSettings({ system: event.currentTarget.value })}
      />
      <NumberInput
        label="Max output tokens"
        description={model ? `Up to ${countText(model.max_output_tokens)}` : undefined}
        placeholder={format.name === 'messages' ? '4096' : 'Model default'}
        min={1}
        max={model?.max_output_tokens}
        allowDecimal={false}
        thousandSeparator=","
        value={settings.maxTokens ?? ''}
        onChange={(value) => setSettings({ maxTokens: numberOf(value) })}
      />
      <NumberInput
        label="Temperature"
        placeholder="Model default"
        min={0}
        max={format.temperatureMax}
        step={0.1}
        decimalScale={2}
        value={settings.temperature ?? ''}
        onChange={(value) => setSettings({ temperature: numberOf(value) })}
      />
      <Select
        label="Reasoning effort"
        description={
          model?.abilities.thinking === false ? 'This model has no reasoning.' : undefined
        }
        placeholder="Model default"
        data={[...format.efforts]}
        value={settings.effort}
        onChange={(effort) => setSettings({ effort })}
        disabled={model?.abilities.thinking === false}
        clearable
      />
      <Switch
        label="Stream the answer"
        checked={settings.stream}
        onChange={(event) => setSettings({ stream: event.currentTarget.checked })}
      />
    </Stack>
  );
}

export function KeyField({ chosenKey, setKey }: Pick<Props, 'chosenKey' | 'setKey'>) {
  return (
    <Input.Wrapper label="Key" labelElement="div">
      <KeySelect
        label="Key"
        mode={chosenKey.mode}
        onlyActive
        value={chosenKey.id}
        onChange={(key) => key && setKey(key)}
        allowDeselect={false}
      />
    </Input.Wrapper>
  );
}

function priceHint({ price }: ChatModel): string {
  return price ? `${usdText(price.base.input_micros)} / ${usdText(price.base.output_micros)}` : '';
}

function numberOf(value: number | string): number | null {
  return typeof value === 'number' ? value : null;
}
