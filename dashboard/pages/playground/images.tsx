import {
  Alert,
  Autocomplete,
  Button,
  CloseButton,
  FileButton,
  Group,
  NumberInput,
  Paper,
  Select,
  Stack,
  Text,
  Textarea,
} from '@mantine/core';
import {
  IconCode,
  IconPhoto,
  IconPhotoPlus,
  IconPlayerStopFilled,
  IconSparkles,
} from '@tabler/icons-react';
import { useState } from 'react';
import type { ImageModelEntry, ModelCatalogue } from '../../../src/management/contract/models.ts';
import { useDraft } from '../../parts/drafts.ts';
import { useUrlState } from '../../parts/url-state.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorNotice } from '../../parts/error-notice.tsx';
import type { Key } from '../../parts/key-select.tsx';
import { imageModeNames, imagePriceUnit } from '../../parts/model-text.ts';
import { usdText } from '../../parts/money-text.ts';
import { durationText } from '../../parts/number-text.ts';
import { showError } from '../../parts/notify.ts';
import classes from './chat/chat.module.css';
import { CodeDialog } from './code/code-dialog.tsx';
import {
  defaultChoices,
  priceRange,
  readInputImages,
  supportedSizes,
  writeImageBody,
  type ImageChoices,
  type InputImage,
} from './image-request.ts';
import { KeyField } from './key-field.tsx';
import { rememberLastKey } from './last-key.ts';
import { findModel, imageChoices } from './model-choices.ts';
import { ModelSelect } from './model-select.tsx';
import { SettingsButton, SettingsDrawer } from './settings-drawer.tsx';
import { useScope } from './use-chosen-key.ts';
import { useImageRuns, type ImageRun } from './use-image-runs.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly chosenKey: Key;
  readonly setKey: (key: Key | null) => void;
};

export function Images({ catalogue, chosenKey, setKey }: Props) {
  const scope = useScope();
  const [requestedId, setView] = useUrlState((search) => search.model ?? null);
  const [prompt, setPrompt] = useState('');
  const [choices, setChoices] = useState<ImageChoices>(defaultChoices);
  const [inputs, setInputs] = useState<readonly InputImage[]>([]);
  const [isCodeOpen, setCodeOpen] = useState(false);
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const { runs, isRunning, start, stop } = useImageRuns();
  useDraft('image prompt', () => prompt || undefined, setPrompt);
  const models = imageChoices(catalogue.images, chosenKey);
  const model = findModel(models, requestedId) ?? models[0] ?? null;
  const missingInputs = model ? model.input_images.min - inputs.length : 0;
  const isReady = model !== null && prompt.trim() !== '' && missingInputs <= 0 && !isRunning;
  const body = model ? writeImageBody(model, { prompt, choices, inputs }) : {};

  const add = async (files: readonly File[]) => {
    try {
      const added = await readInputImages(files);
      setInputs([...inputs, ...added].slice(0, model?.input_images.max ?? 0));
    } catch (thrown) {
      showError(thrown);
    }
  };
  const choose = (id: string) => {
    setView({ model: id });
    setChoices(defaultChoices);
    setInputs([]);
  };

  return (
    <div className={classes.layout} data-wide>
      <Paper className={classes.talk} component="section" aria-label="Images" h="auto">
        <form
          className={classes.compose}
          style={{ borderTop: 'none' }}
          onSubmit={(event) => {
            event.preventDefault();
            if (!isReady) return;
            rememberLastKey(scope, chosenKey.id);
            start({ key: chosenKey.id, prompt, model: model.name, body });
          }}
        >
          <Textarea
            label="Prompt"
            placeholder="Describe the image"
            autosize
            minRows={2}
            maxRows={8}
            maxLength={model?.prompt_characters_max}
            value={prompt}
            onChange={(event) => setPrompt(event.currentTarget.value)}
          />
          {model && model.input_images.max > 0 && (
            <InputImages
              model={model}
              inputs={inputs}
              onAdd={(files) => void add(files)}
              onRemove={(input) => setInputs(inputs.filter((each) => each !== input))}
            />
          )}
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
            {isRunning ? (
              <Button
                color="red"
                variant="light"
                leftSection={<IconPlayerStopFilled size={16} aria-hidden />}
                onClick={stop}
              >
                Stop
              </Button>
            ) : (
              <Button
                type="submit"
                disabled={!isReady}
                leftSection={<IconSparkles size={16} aria-hidden />}
              >
                Generate
              </Button>
            )}
          </Group>
        </form>
        <div className={classes.turns} aria-live="polite">
          {runs.length === 0 ? (
            <EmptyState
              icon={IconPhoto}
              title="No images yet"
              text="Generated images appear here, newest first, until you leave the page."
            />
          ) : (
            <Stack gap="xl">
              {runs.map((run) => (
                <RunView key={run.id} run={run} />
              ))}
            </Stack>
          )}
        </div>
      </Paper>
      <SettingsDrawer opened={areSettingsOpen} onClose={() => setSettingsOpen(false)}>
        <Stack gap="md">
          <ModelSelect choices={models} model={model} setModel={choose} hint={priceRange} />
          {model && (
            <Text size="sm" c="dimmed" mt={-8}>
              {imageModeNames[model.mode]}. {priceRange(model)}{' '}
              {model.price ? imagePriceUnit(model.price) : ''}.
            </Text>
          )}
          <KeyField chosenKey={chosenKey} setKey={setKey} />
          {model && (
            <Parameters
              model={model}
              choices={choices}
              setChoices={(patch) => setChoices({ ...choices, ...patch })}
            />
          )}
        </Stack>
      </SettingsDrawer>
      <CodeDialog
        opened={isCodeOpen}
        onClose={() => setCodeOpen(false)}
        path="/v1/images/generations"
        body={body}
        files={inputs.map(({ name, url }) => ({ name, data: url.slice(url.indexOf(',') + 1) }))}
      />
    </div>
  );
}

type InputProps = {
  readonly model: ImageModelEntry;
  readonly inputs: readonly InputImage[];
  readonly onAdd: (files: readonly File[]) => void;
  readonly onRemove: (input: InputImage) => void;
};

function InputImages({ model, inputs, onAdd, onRemove }: InputProps) {
  const { min, max } = model.input_images;
  return (
    <Group gap="sm" mt="sm">
      {inputs.map((input) => (
        <div key={input.url} style={{ position: 'relative' }}>
          <img
            src={input.url}
            alt={input.name}
            height={72}
            style={{ borderRadius: 6, display: 'block' }}
          />
          <CloseButton
            size="sm"
            variant="filled"
            aria-label={`Remove ${input.name}`}
            onClick={() => onRemove(input)}
            style={{ position: 'absolute', top: 2, right: 2 }}
          />
        </div>
      ))}
      {inputs.length < max && (
        <FileButton
          onChange={(files) => onAdd(files)}
          accept="image/png,image/jpeg,image/webp"
          multiple
        >
          {(props) => (
            <Button
              {...props}
              variant="default"
              leftSection={<IconPhotoPlus size={16} aria-hidden />}
            >
              {min === max ? 'Add image' : `Add images (up to ${max})`}
            </Button>
          )}
        </FileButton>
      )}
    </Group>
  );
}

type ParameterProps = {
  readonly model: ImageModelEntry;
  readonly choices: ImageChoices;
  readonly setChoices: (patch: Partial<ImageChoices>) => void;
};

/** Empty fields are not sent. Their placeholders show the model's defaults. */
function Parameters({ model, choices, setChoices }: ParameterProps) {
  const { parameters, images_max: imagesMax, output_formats: formats } = model;
  return (
    <>
      {parameters.kind === 'size' ? (
        <>
          <Autocomplete
            label="Size"
            placeholder={parameters.default_size}
            data={supportedSizes(parameters.sizes)}
            value={choices.size}
            onChange={(size) => setChoices({ size })}
          />
          <ChoiceField
            label="Quality"
            choice={parameters.quality}
            value={choices.quality}
            onChange={(quality) => setChoices({ quality })}
          />
        </>
      ) : (
        <>
          <ChoiceField
            label="Aspect ratio"
            choice={parameters.aspect_ratio}
            value={choices.aspectRatio}
            onChange={(aspectRatio) => setChoices({ aspectRatio })}
          />
          <ChoiceField
            label="Resolution"
            choice={parameters.resolution}
            value={choices.resolution}
            onChange={(resolution) => setChoices({ resolution })}
          />
        </>
      )}
      {imagesMax > 1 && (
        <NumberInput
          label="Images"
          min={1}
          max={imagesMax}
          allowDecimal={false}
          clampBehavior="strict"
          value={choices.count}
          onChange={(count) => setChoices({ count: typeof count === 'number' ? count : 1 })}
        />
      )}
      {formats.length > 0 && (
        <Select
          label="File format"
          placeholder="Model default"
          data={[...formats]}
          value={choices.outputFormat || null}
          onChange={(outputFormat) => setChoices({ outputFormat: outputFormat ?? '' })}
          clearable
        />
      )}
    </>
  );
}

type ChoiceProps = {
  readonly label: string;
  readonly choice: { readonly default: string; readonly allowed: readonly string[] };
  readonly value: string;
  readonly onChange: (value: string) => void;
};

function ChoiceField({ label, choice, value, onChange }: ChoiceProps) {
  return (
    <Select
      label={label}
      placeholder={choice.default}
      data={[...choice.allowed]}
      value={value || null}
      onChange={(chosen) => onChange(chosen ?? '')}
      clearable
    />
  );
}

function RunView({ run }: { readonly run: ImageRun }) {
  const { prompt, model, state, images, error, costMicros, elapsedMs } = run;
  return (
    <article>
      <Text lineClamp={3}>{prompt}</Text>
      <Text size="sm" c="dimmed" mb="sm">
        {[
          model,
          costMicros !== null && usdText(costMicros),
          elapsedMs !== null && durationText(elapsedMs),
        ]
          .filter(Boolean)
          .join(' · ')}
      </Text>
      {state === 'running' && <Text className={classes.waiting}>Generating </Text>}
      {state === 'stopped' && <Alert color="gray">Stopped.</Alert>}
      {error && <ErrorNotice error={error} />}
      <div className={classes.images}>
        {images.map((url, index) => (
          <a
            key={url}
            href={url}
            target="_blank"
            rel="noreferrer"
            aria-label={`Open image ${index + 1}`}
          >
            <img className={classes.image} src={url} alt={prompt} />
          </a>
        ))}
      </div>
    </article>
  );
}
