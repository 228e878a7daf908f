// A form for the fields of one provider or model, made from the schema. Only what was changed is saved.
import { Accordion, Group, Button, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState, type ReactNode } from 'react';
import { ErrorNotice } from '../../../parts/error-notice.tsx';
import { showFieldError } from '../../../parts/form-errors.ts';
import { showSuccess } from '../../../parts/notify.ts';
import type { ApiError } from '../../../api/api-error.ts';
import { useFormSubmit } from '../../../parts/use-form-submit.ts';
import { Fields } from './fields.tsx';
import {
  changesBetween,
  groupToForm,
  placeOf,
  schemaOf,
  type Change,
  type FormSection,
  type Values,
} from './schema.ts';
import { lockOf, savedAt, type Save, type Saved } from './use-saved.ts';

/** The state of a form that its buttons and notices use. */
export type FormParts = {
  /** The changes that are not saved yet. */
  readonly changes: () => Change[];
  /** Shows an error at its field, else returns it. */
  readonly showError: (thrown: unknown) => void;
  /** The error at a field that is not of the schema. */
  readonly errorAt: (field: string) => ReactNode;
};

type Props = {
  /** The path of an entry (`['models', 'gpt-6-luna']`) or of a section without entries (`['pricing']`). */
  readonly path: readonly [FormSection, ...string[]];
  readonly saved: Saved;
  readonly save: Save;
  /** The values in force without saved ones: from the file, the built-in catalogue or the defaults. */
  readonly inForce: Readonly<Record<string, unknown>>;
  /** Fields with other values than the saved ones, to be looked at and saved. */
  readonly proposed?: Readonly<Record<string, unknown>>;
  /** The fields to begin with; the others are folded away. */
  readonly first: readonly string[];
  /** Fields that the page changes in another way. */
  readonly omitted?: readonly string[];
  readonly suggested?: Readonly<Record<string, readonly string[]>>;
  /** Changes beside the fields, such as those of aliases. */
  readonly alsoChanged?: readonly Change[];
  readonly submit: string;
  readonly note: string;
  readonly onSaved?: () => void;
  readonly children?: (parts: FormParts) => ReactNode;
};

export function EntryForm(props: Props) {
  const { path, saved, save, inForce, first, omitted = [], suggested = {}, note } = props;
  const { proposed, alsoChanged = [], submit, onSaved, children } = props;
  const schema = schemaOf(path[0]);
  const lockedBy = (field: string) => lockOf(saved, [...path, field]);
  const [own] = useState(() => savedAt(saved, path) ?? {});
  const [before, setBefore] = useState<Values>(() => {
    const locked = Object.entries(inForce).filter(([field]) => lockedBy(field) !== null);
    return groupToForm(schema, { ...own, ...Object.fromEntries(locked) });
  });
  const form = useForm<Values>({
    initialValues: proposed ? { ...before, ...proposedIn(schema, proposed) } : before,
  });
  const changes = () => [
    ...changesBetween(schema, path, { before, after: form.getValues() }),
    ...alsoChanged,
  ];
  const place = (param: string) =>
    placeOf(schema, path, param) ?? (param.startsWith('aliases') ? 'aliases' : undefined);
  const { onSubmit, error, isSubmitting } = useFormSubmit(
    form,
    async (values) => {
      await save(changes(), note);
      // A secret is saved, and not shown again.
      const after = { ...values, ...('api_key' in values ? { api_key: '' } : {}) };
      setBefore(after);
      form.setValues(after);
      form.resetDirty(after);
      showSuccess('Saved. Every gateway uses it within two seconds.');
      onSaved?.();
    },
    place,
    path.join(' '),
  );
  const [otherError, setOtherError] = useState<ApiError | null>(null);
  const showError = (thrown: unknown) => {
    setOtherError(thrown === null ? null : showFieldError(form, thrown, place));
  };
  // What is saved does not apply once it is removed.
  const others = Object.entries(inForce).filter(([field]) => !Object.hasOwn(own, field));
  const shown = {
    form,
    inForce: Object.fromEntries(others),
    suggested,
    lockedBy,
    schema,
    path: '',
  };
  const rest = Object.keys(schema.properties ?? {}).filter(
    (field) => !first.includes(field) && !omitted.includes(field),
  );
  const isRestWrong = rest.some((field) =>
    Object.keys(form.errors).some((at) => at.split('.')[0] === field),
  );
  const [isRestOpen, setRestOpen] = useState(false);
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack gap="lg">
        <Fields {...shown} names={first} />
        {rest.length > 0 && (
          <Accordion
            keepMounted={false}
            value={isRestOpen || isRestWrong ? 'rest' : null}
            onChange={(opened) => setRestOpen(opened !== null)}
          >
            <Accordion.Item value="rest">
              <Accordion.Control>More settings</Accordion.Control>
              <Accordion.Panel>
                <Fields {...shown} names={rest} />
              </Accordion.Panel>
            </Accordion.Item>
          </Accordion>
        )}
        {children?.({ changes, showError, errorAt: (field) => form.errors[field] })}
        {(error ?? otherError) && <ErrorNotice error={(error ?? otherError)!} />}
        <Group justify="flex-end">
          <Button type="submit" loading={isSubmitting} disabled={changes().length === 0}>
            {submit}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function proposedIn(
  schema: ReturnType<typeof schemaOf>,
  proposed: Readonly<Record<string, unknown>>,
): Values {
  const whole = groupToForm(schema, proposed);
  return Object.fromEntries(Object.keys(proposed).map((name) => [name, whole[name]!]));
}
