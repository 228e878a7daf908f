import { Group, ThemeIcon, Tooltip } from '@mantine/core';
import {
  IconBrain,
  IconEar,
  IconEye,
  IconTool,
  IconWorldSearch,
  type IconProps,
} from '@tabler/icons-react';
import type { ComponentType } from 'react';
import type { ChatModel } from '../../../src/management/contract/models.ts';
import { abilityNames } from './comparison.ts';
import { abilities, hasAbility, type Ability } from './model-filters.ts';

const icons: Readonly<Record<Ability, ComponentType<IconProps>>> = {
  vision: IconEye,
  audio: IconEar,
  thinking: IconBrain,
  tools: IconTool,
  search: IconWorldSearch,
};

/** A model's abilities as icons, with names in tooltips. */
export function AbilityList({ model }: { readonly model: ChatModel }) {
  return (
    <Group gap={4} wrap="nowrap" component="span" display="inline-flex">
      {abilities
        .filter((ability) => hasAbility(model, ability))
        .map((ability) => {
          const Icon = icons[ability];
          return (
            <Tooltip key={ability} label={abilityNames[ability]}>
              <ThemeIcon
                component="span"
                size={22}
                variant="light"
                color="gray"
                role="img"
                aria-label={abilityNames[ability]}
              >
                <Icon size={14} stroke={1.8} aria-hidden />
              </ThemeIcon>
            </Tooltip>
          );
        })}
    </Group>
  );
}
