// The fields of a form that is made from a schema, with groups and lists of fields within.
import {
  Accordion,
  Autocomplete,
  Button,
  Fieldset,
  Flex,
  MultiSelect,
  PasswordInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { IconPlus } from '@tabler/icons-react';
import { useState, type ReactNode } from 'react';
import { WithCode } from '../../../parts/with-code.tsx';
import {
  groupToForm,
  kindOf,
  labelOf,
  plain,
  textOf,
  toForm,
  type Kind,
  type Schema,
  type Value,
  type Values,
} from './schema.ts';

type Place = {
  readonly form: UseFormReturnType<Values>;
  /** Of the group or field: `routes.0`; empty: the whole form. */
  readonly path: string;
  /** What applies where nothing is set. */
  readonly inForce: unknown;
  /** Who sets the field before it is saved; null: nobody. */
  readonly lockedBy: string | null;
  /** Values to choose from, by the name of the field. */
  readonly suggested: Readonly<Record<string, readonly string[]>>;
};

type FieldsProps = Omit<Place, 'lockedBy'> & {
  readonly schema: Schema;
  readonly lockedBy: (name: string) => string | null;
  /** Default: all. */
  readonly names?: readonly string[];
};

/** The fields of a group, beside each other where they are short. */
export function Fields({ schema, names, lockedBy, inForce, path, ...place }: FieldsProps) {
  const properties = schema.properties ?? {};
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="md" verticalSpacing="md">
      {(names ?? Object.keys(properties)).map((name) => (
        <Field
          key={name}
          name={name}
          schema={properties[name]!}
          isRequired={schema.required?.includes(name) === true}
          {...place}
          path={path === '' ? name : `${path}.${name}`}
          inForce={(inForce as Record<string, unknown> | undefined)?.[name]}
          lockedBy={lockedBy(name)}
        />
      ))}
    </SimpleGrid>
  );
}

type FieldProps = Place & {
  readonly name: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
};

type Part = 'label' | 'input' | 'description' | 'error';

/** A long description beside a short one would leave a gap. */
const isShort = (kind: Kind, description: string) =>
  ['choice', 'boolean', 'number'].includes(kind) && description.length < 200;

function Field({ name, schema, isRequired, ...place }: FieldProps) {
  const { form, path, inForce, lockedBy, suggested } = place;
  const shape = plain(schema);
  const kind = kindOf(shape);
  const props = {
    label: labelOf(name),
    description: <Description text={shape.description ?? ''} lockedBy={lockedBy} />,
    inputWrapperOrder: ['label', 'input', 'description', 'error'] as Part[],
    placeholder: textOf(inForce ?? shape.default) || undefined,
    disabled: lockedBy !== null,
    withAsterisk: isRequired,
    autoComplete: 'off',
    style: isShort(kind, shape.description ?? '') ? undefined : { gridColumn: '1 / -1' },
    ...form.getInputProps(path),
  };
  switch (kind) {
    case 'group':
      return (
        <Group
          {...place}
          label={props.label}
          description={props.description}
          isSet={isSet(at(form.getValues(), path))}
        >
          <Fields {...place} schema={shape} lockedBy={() => lockedBy} />
        </Group>
      );
    case 'list':
      return <List {...place} name={name} schema={shape} description={props.description} />;
    case 'choices':
      return <MultiSelect {...props} data={[...(plain(shape.items!).enum ?? [])]} />;
    case 'texts':
      return <TagsInput {...props} acceptValueOnBlur />;
    case 'choice':
    case 'boolean': {
      const yesOrNo = [
        { value: 'true', label: 'Yes' },
        { value: 'false', label: 'No' },
      ];
      return (
        <Select
          {...props}
          clearable
          {...(kind === 'boolean' && {
            placeholder: (inForce ?? shape.default) === true ? 'Yes' : 'No',
          })}
          data={kind === 'boolean' ? yesOrNo : [...(shape.enum ?? [])]}
          value={props.value || null}
          onChange={(word) => form.setFieldValue(path, word ?? '')}
        />
      );
    }
    case 'secret':
      return <PasswordInput {...props} autoComplete="new-password" />;
    case 'number':
      return <TextInput {...props} inputMode="decimal" />;
    default:
      return suggested[name] ? (
        <Autocomplete {...props} data={[...suggested[name]]} />
      ) : (
        <TextInput {...props} />
      );
  }
}

type GroupProps = Pick<Place, 'form' | 'path'> & {
  readonly label: string;
  readonly description: ReactNode;
  readonly isSet: boolean;
  readonly children: ReactNode;
};

/** Fields that are folded away until one is set or has an error. */
function Group({ form, path, label, description, isSet: isSetNow, children }: GroupProps) {
  const [chosen, setOpen] = useState<boolean | null>(null);
  const isOpen = chosen ?? isSetNow;
  const errors = Object.keys(form.errors);
  const isWrong = errors.some((name) => name === path || name.startsWith(`${path}.`));
  return (
    <Accordion
      variant="contained"
      keepMounted={false}
      style={{ gridColumn: '1 / -1' }}
      value={isOpen || isWrong ? path : null}
      onChange={(opened) => setOpen(opened !== null)}
    >
      <Accordion.Item value={path}>
        <Accordion.Control>{label}</Accordion.Control>
        <Accordion.Panel>
          <Stack gap="md">
            <Text component="div" size="sm" c="dimmed">
              {description}
            </Text>
            {form.errors[path] && (
              <Text size="sm" c="red" role="alert" className="mantine-InputWrapper-error">
                {form.errors[path]}
              </Text>
            )}
            {children}
          </Stack>
        </Accordion.Panel>
      </Accordion.Item>
    </Accordion>
  );
}

type ListProps = Place & {
  readonly name: string;
  readonly schema: Schema;
  readonly description: ReactNode;
};

function List({ name, schema, description, ...place }: ListProps) {
  const { form, path, lockedBy, inForce } = place;
  const items = at(form.getValues(), path) as Values[];
  const item = plain(schema.items!);
  const singular = labelOf(name).replace(/s$/, '');
  const last = items.at(-1);
  // A price for later that lacked the tiers of today's would sell their requests for less.
  const added =
    name === 'prices' && last !== undefined
      ? { ...structuredClone(last), effective_from: '' }
      : groupToForm(item, undefined);
  return (
    <Group
      form={form}
      path={path}
      label={labelOf(name)}
      description={description}
      isSet={items.length > 0}
    >
      {items.map((_item, index) => (
        <Fieldset key={index} legend={`${singular} ${index + 1}`} disabled={lockedBy !== null}>
          <Stack gap="sm">
            <Fields
              {...place}
              schema={item}
              path={`${path}.${index}`}
              inForce={undefined}
              lockedBy={() => lockedBy}
            />
            <Button
              variant="subtle"
              color="red"
              size="xs"
              style={{ alignSelf: 'end' }}
              onClick={() => form.removeListItem(path, index)}
            >
              Remove {singular.toLowerCase()} {index + 1}
            </Button>
          </Stack>
        </Fieldset>
      ))}
      {lockedBy === null && (
        <Flex gap="xs">
          <Button
            variant="default"
            size="xs"
            leftSection={<IconPlus size={14} aria-hidden />}
            onClick={() => form.insertListItem(path, added)}
          >
            Add {singular.toLowerCase()}
          </Button>
          {items.length === 0 && inForce !== undefined && (
            <Button
              variant="default"
              size="xs"
              onClick={() => form.setFieldValue(path, toForm(schema, inForce))}
            >
              Begin with what applies now
            </Button>
          )}
        </Flex>
      )}
    </Group>
  );
}

function at(values: Values, path: string): Value {
  return path.split('.').reduce<Value>((inner, name) => (inner as Values)[name]!, values);
}

function isSet(value: Value): boolean {
  if (typeof value === 'string') return value !== '';
  return Object.values(value).some((inner) => isSet(inner));
}

function Description({
  text,
  lockedBy,
}: {
  readonly text: string;
  readonly lockedBy: string | null;
}) {
  return (
    <>
      {lockedBy !== null && (
        <Text span inherit fw={600} display="block">
          Set by {lockedBy}, so it is changed there.
        </Text>
      )}
      <WithCode text={text} />
    </>
  );
}
