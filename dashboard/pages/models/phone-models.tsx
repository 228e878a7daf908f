// Language models on a phone: two lines for each, so that a long catalogue stays short.
import { Text, UnstyledButton } from '@mantine/core';
import type { ReactNode } from 'react';
import type { ChatModel } from '../../../src/management/contract/models.ts';
import { EndBadge } from '../../parts/end-badge.tsx';
import { usdText } from '../../parts/money-text.ts';
import { shortCountText } from '../../parts/number-text.ts';
import classes from './comparison.module.css';
import { CopyCode, NotLive, PriceBadge } from './model-name.tsx';

type Props = {
  readonly models: readonly ChatModel[];
  readonly onOpen: (id: string) => void;
  readonly checkbox: (model: ChatModel) => ReactNode;
};

export function PhoneModels({ models, onOpen, checkbox }: Props) {
  return (
    <ul className={classes.list} aria-label="Language models">
      {models.map((model) => (
        <li key={model.id} className={classes.model}>
          {checkbox(model)}
          <UnstyledButton className={classes.name} onClick={() => onOpen(model.id)}>
            <Text span display="block" fw={500} style={{ overflowWrap: 'anywhere' }}>
              {model.name} {!model.is_live && <NotLive />} <EndBadge model={model} />{' '}
              <PriceBadge multiplierPpm={model.multiplier_ppm} />
            </Text>
            <Text span display="block" size="sm" c="dimmed" truncate>
              {summaryOf(model)}
            </Text>
          </UnstyledButton>
          <CopyCode model={model} />
        </li>
      ))}
    </ul>
  );
}

/** `$0.25 in · $2.00 out · 400K` */
function summaryOf({ price, context_tokens: context }: ChatModel): string {
  const prices = price
    ? `${usdText(price.base.input_micros)} in · ${usdText(price.base.output_micros)} out`
    : 'no price yet';
  return `${prices} · ${shortCountText(context)}`;
}
