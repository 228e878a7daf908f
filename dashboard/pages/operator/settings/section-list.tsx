import { Accordion, Badge, Code, Group, Text } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import type { Setting } from '../../../../src/management/contract/service.ts';
import { countText } from '../../../parts/number-text.ts';
import { WithCode } from '../../../parts/with-code.tsx';
import classes from './section-list.module.css';
import { isChanged, valueText, type Section } from './sections.ts';

type Props = {
  readonly sections: readonly Section[];
  /** Opens all sections. Otherwise they start closed: there are hundreds of settings. */
  readonly isSearch: boolean;
};

export function SectionList({ sections, isSearch }: Props) {
  const open = isSearch ? sections.map(({ name }) => name) : [];
  return (
    <Accordion
      multiple
      defaultValue={open}
      variant="contained"
      radius="lg"
      order={2}
      keepMounted={false}
    >
      {sections.map((section) => (
        <Accordion.Item key={section.name} value={section.name}>
          <Accordion.Control>
            <Group justify="space-between" gap="xs" pr="xs">
              <Text span fw={600}>
                {section.name}
              </Text>
              <Text span size="sm" c="dimmed">
                {countOf(section)}
              </Text>
            </Group>
          </Accordion.Control>
          <Accordion.Panel>
            <dl className={classes.settings}>
              {section.settings.map((setting) => (
                <div key={setting.path} className={classes.setting}>
                  <dt className={classes.name}>
                    <Group gap={6}>
                      <Text
                        span
                        ff="monospace"
                        size="sm"
                        fw={500}
                        style={{ overflowWrap: 'anywhere' }}
                      >
                        {setting.path}
                      </Text>
                      <Origin setting={setting} />
                    </Group>
                  </dt>
                  <dd className={classes.value}>
                    <Value setting={setting} />
                  </dd>
                  {setting.description && (
                    <dd className={classes.description}>
                      <Text size="sm" c="dimmed">
                        <WithCode text={setting.description} />
                      </Text>
                    </dd>
                  )}
                </div>
              ))}
            </dl>
          </Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

function countOf({ settings, changed }: Section): string {
  const all = settings.length === 1 ? '1 setting' : `${countText(settings.length)} settings`;
  return changed === 0 ? all : `${all}, ${countText(changed)} changed`;
}

function Origin({ setting }: { readonly setting: Setting }) {
  if (isChanged(setting)) return <Badge size="sm">Changed</Badge>;
  return (
    <Badge size="sm" color="gray">
      {setting.is_set ? 'Default' : 'Not set'}
    </Badge>
  );
}

function Value({ setting }: { readonly setting: Setting }) {
  if (!setting.is_set) return <Text c="dimmed">–</Text>;
  if (setting.is_secret) {
    return (
      <Group gap={6} wrap="nowrap" component="span" display="inline-flex">
        <IconLock size={15} stroke={1.6} aria-hidden />
        <Text span inherit>
          Hidden
        </Text>
      </Group>
    );
  }
  const isStructure = typeof setting.value === 'object' && setting.value !== null;
  return (
    <Code fz="sm" block={isStructure} className={classes.code}>
      {valueText(setting.value)}
    </Code>
  );
}
