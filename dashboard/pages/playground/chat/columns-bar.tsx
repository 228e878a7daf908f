// Which models answer: one to four, side by side.
import { ActionIcon, Button, SegmentedControl, Tooltip } from '@mantine/core';
import { IconPlus, IconX } from '@tabler/icons-react';
import type { ChatModel } from '../../../../src/management/contract/models.ts';
import { usdText } from '../../../parts/money-text.ts';
import { nextModel } from '../model-choices.ts';
import { ModelSelect } from '../model-select.tsx';
import classes from './chat.module.css';
import { columnsMax } from './conversation.ts';

type Props = {
  readonly choices: readonly ChatModel[];
  readonly models: readonly ChatModel[];
  readonly setModels: (models: readonly ChatModel[]) => void;
  readonly onRemove: (column: number) => void;
  /** The one column that a small screen shows; null: all. */
  readonly shownColumn: number | null;
  readonly setShownColumn: (column: number) => void;
};

export function ColumnsBar(props: Props) {
  const { choices, models, setModels, onRemove, shownColumn, setShownColumn } = props;
  const add = () => {
    const next = nextModel(choices, models);
    if (!next) return;
    setModels([...models, next]);
    setShownColumn(models.length);
  };
  return (
    <div className={classes.columns}>
      {shownColumn !== null && models.length > 1 && (
        <SegmentedControl
          fullWidth
          size="xs"
          aria-label="Model shown"
          data={models.map(({ name }, index) => ({ value: String(index), label: name }))}
          value={String(shownColumn)}
          onChange={(column) => setShownColumn(Number(column))}
        />
      )}
      <div className={classes.selects}>
        {models.map((model, column) =>
          shownColumn !== null && column !== shownColumn ? null : (
            <div key={column} className={classes.select}>
              <ModelSelect
                label={models.length === 1 ? 'Model' : `Model ${column + 1}`}
                isLabelHidden
                choices={choices}
                model={model}
                setModel={(id) => {
                  const chosen = choices.find((choice) => choice.id === id);
                  if (chosen) setModels(models.with(column, chosen));
                }}
                hint={priceHint}
              />
              {models.length > 1 && (
                <Tooltip label={`Remove ${model.name}`}>
                  <ActionIcon aria-label={`Remove ${model.name}`} onClick={() => onRemove(column)}>
                    <IconX size={16} aria-hidden />
                  </ActionIcon>
                </Tooltip>
              )}
            </div>
          ),
        )}
        {models.length < columnsMax &&
          models.length < choices.length &&
          (shownColumn !== null && models.length > 1 ? (
            <ActionIcon variant="default" size="lg" aria-label="Add model" onClick={add}>
              <IconPlus size={16} aria-hidden />
            </ActionIcon>
          ) : (
            <Button
              variant="default"
              leftSection={<IconPlus size={16} aria-hidden />}
              onClick={add}
              style={{ flex: 'none' }}
            >
              Add model
            </Button>
          ))}
      </div>
    </div>
  );
}

function priceHint({ price }: ChatModel): string {
  return price ? `${usdText(price.base.input_micros)} / ${usdText(price.base.output_micros)}` : '';
}
