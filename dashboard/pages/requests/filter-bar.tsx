import {
  Button,
  Group,
  Input,
  InputBase,
  Menu,
  NumberInput,
  Pill,
  Popover,
  Select,
  Stack,
  Text,
  TextInput,
} from '@mantine/core';
import { DatePickerInput } from '@mantine/dates';
import '@mantine/dates/styles.layer.css';
import { IconCalendar, IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { useMode } from '../../api/account.ts';
import type { Search } from '../../parts/url-state.ts';
import { isEnter } from '../../parts/is-enter.ts';
import { KeySelect } from '../../parts/key-select.tsx';
import classes from '../../parts/filter-bar.module.css';
import { SavedFilters } from './saved-filters.tsx';
import { lastDays } from '../../parts/utc-days.ts';
import { weekHourText } from '../../parts/week-hour.ts';
import { usdText } from '../../parts/money-text.ts';
import { durationText } from '../../parts/number-text.ts';
import { useToday } from '../../parts/time-ago.tsx';
import { daysText } from '../../parts/time-text.ts';
import { endpointNames, outcomeNames, toSearch, type Filters } from './request-filters.ts';

type Props = { readonly filters: Filters; readonly setFilters: (patch: Search) => void };

export function FilterBar({ filters, setFilters }: Props) {
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  return (
    <Group gap="sm" mb="md" align="center">
      <Days filters={filters} setFilters={setFilters} />
      <KeySelect
        label="Key"
        placeholder="All keys"
        mode={useMode()}
        value={filters.key ?? null}
        onChange={(key) => setFilters({ key: key?.id })}
        clearable
        className={classes.field}
      />
      <ModelSelect
        value={filters.model ?? null}
        onChange={(model) => setFilters({ model: model ?? undefined })}
      />
      <Select
        aria-label="Endpoint"
        placeholder="All endpoints"
        data={Object.entries(endpointNames).map(([value, label]) => ({ value, label }))}
        value={filters.endpoint ?? null}
        onChange={(endpoint) => setFilters({ endpoint: endpoint ?? undefined })}
        clearable
        className={classes.field}
      />
      <Select
        aria-label="Outcome"
        placeholder="Any outcome"
        data={Object.entries(outcomeNames).map(([value, label]) => ({ value, label }))}
        value={filters.outcome ?? null}
        onChange={(outcome) => setFilters({ outcome: outcome ?? undefined })}
        clearable
        className={classes.field}
      />
      <ExactField
        label="Tag"
        placeholder="Any tag"
        value={filters.tag ?? ''}
        onChange={(tag) => setFilters({ tag: tag || undefined })}
      />
      <ExactField
        label="Client"
        placeholder="Any client"
        value={filters.client ?? ''}
        onChange={(client) => setFilters({ client: client || undefined })}
      />
      <Bounds filters={filters} setFilters={setFilters} />
      <ExactField
        label="Request ID"
        placeholder="Request ID"
        value=""
        onChange={(request) => setFilters({ request })}
      />
      {shownAsText(filters).map(({ name, label = name, text }) => (
        <Pill
          key={name}
          size="lg"
          withRemoveButton
          removeButtonProps={{
            'aria-label': `Remove the filter by ${label.toLowerCase()}`,
            'aria-hidden': false,
          }}
          onRemove={() => setFilters({ [name]: undefined })}
        >
          {text}
        </Pill>
      ))}
      <SavedFilters filters={filters} setFilters={setFilters} />
      {isFiltered && (
        <Button variant="subtle" color="gray" onClick={() => setFilters(toSearch({}))}>
          Clear filters
        </Button>
      )}
    </Group>
  );
}

/** Filters that only links set, and bounds, whose fields are not in sight. */
function shownAsText(filters: Filters) {
  const { code, provider, member, hour } = filters;
  const texts: { name: string; label?: string; text: string | undefined }[] = [
    { name: 'code', text: code },
    { name: 'provider', text: provider && `Provider ${provider}` },
    { name: 'member', text: member && 'Keys of one member' },
    { name: 'hour', text: hour === undefined ? undefined : weekHourText(hour) },
    ...bounds.map(({ name, label, text }) => {
      const bound = filters[name];
      return { name, label, text: bound === undefined ? bound : `${label} ${text(bound)}` };
    }),
  ];
  return texts.filter(({ text }) => text !== undefined);
}

/** `unit`: one of the field in those of the filter. */
const bounds = [
  { name: 'cost_min_micros', label: 'Cost at least', prefix: '$', unit: 1e6, text: usdText },
  { name: 'cost_max_micros', label: 'Cost at most', prefix: '$', unit: 1e6, text: usdText },
  {
    name: 'duration_min_ms',
    label: 'Duration at least',
    suffix: ' s',
    unit: 1e3,
    text: durationText,
  },
] as const;

function Bounds({ filters, setFilters }: Props) {
  return (
    <Popover position="bottom-start" width={240} trapFocus>
      <Popover.Target>
        <InputBase
          component="button"
          type="button"
          pointer
          rightSection={<IconChevronDown size={16} aria-hidden />}
          rightSectionPointerEvents="none"
          className={classes.field}
        >
          <Text component={Input.Placeholder} inherit truncate display="block">
            Cost, duration
          </Text>
        </InputBase>
      </Popover.Target>
      <Popover.Dropdown aria-label="Cost and duration">
        <Stack gap="sm">
          {bounds.map((bound) => (
            <BoundField
              key={bound.name}
              bound={bound}
              value={filters[bound.name]}
              onChange={(value) => setFilters({ [bound.name]: value?.toString() })}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}

type BoundFieldProps = {
  readonly bound: (typeof bounds)[number];
  readonly value: number | undefined;
  readonly onChange: (value: number | undefined) => void;
};

/** Applies after Enter, or when it is left. */
function BoundField({ bound, value, onChange }: BoundFieldProps) {
  const { label, unit, name: _, text: __, ...affix } = bound;
  const [typed, setTyped] = useTyped<string | number>(value === undefined ? '' : value / unit);
  const apply = () => {
    const next = typed === '' ? undefined : Math.round(Number(typed) * unit);
    if (next !== value) onChange(next);
  };
  return (
    <NumberInput
      label={label}
      min={0}
      max={1e6}
      clampBehavior="strict"
      decimalScale={Math.log10(unit)}
      hideControls
      {...affix}
      value={typed}
      onChange={setTyped}
      onKeyDown={(event) => isEnter(event) && apply()}
      onBlur={apply}
    />
  );
}

type ExactFieldProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
};

/** A field for a whole tag or id. It applies after Enter, or when it is left. */
function ExactField({ label, placeholder, value, onChange }: ExactFieldProps) {
  const [typed, setTyped] = useTyped(value);
  const apply = () => {
    if (typed.trim() === value) return;
    onChange(typed.trim());
    setTyped(value);
  };
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={({ currentTarget: { value: next } }) => setTyped(next)}
      onKeyDown={(event) => isEnter(event) && apply()}
      onBlur={apply}
      className={classes.field}
    />
  );
}

/** The text in a filter's field. A changed filter replaces it. */
function useTyped<Text>(filter: Text) {
  const [state, setState] = useState({ filter, typed: filter });
  const typed = state.filter === filter ? state.typed : filter;
  return [typed, (next: Text) => setState({ filter, typed: next })] as const;
}

const presets = [
  { days: 1, label: 'Today' },
  { days: 7, label: 'Last 7 days' },
  { days: 30, label: 'Last 30 days' },
  { days: 90, label: 'Last 90 days' },
];

/** Filters by UTC days. */
function Days({ filters, setFilters }: Props) {
  const { from = null, to = null } = filters;
  // The address gets a range only when both ends are chosen.
  const today = lastDays(1, useToday()).to;
  const [rangeStart, setRangeStart] = useState<string | null>(null);
  const change = ([first, last]: readonly [string | null, string | null]) => {
    setRangeStart(first !== null && last === null ? first : null);
    if (first === null) setFilters({ from: undefined, to: undefined });
    else if (last !== null) setFilters({ from: first, to: last });
  };
  return (
    <Group gap={4} wrap="nowrap" className={classes.days}>
      <DatePickerInput
        type="range"
        placeholder="All days (UTC)"
        leftSection={<IconCalendar size={16} aria-hidden />}
        valueFormatter={daysText}
        value={rangeStart === null ? [from, to] : [rangeStart, null]}
        onChange={change}
        allowSingleDateInRange
        clearable
        maxDate={today}
        flex={1}
        miw={0}
      />
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" px="xs" aria-label="Date range presets">
            <IconChevronDown size={16} aria-hidden />
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {presets.map(({ days, label }) => (
            <Menu.Item key={days} onClick={() => setFilters(lastDays(days, Date.now()))}>
              {label}
            </Menu.Item>
          ))}
          <Menu.Item onClick={() => setFilters({ from: undefined, to: undefined })}>
            All days
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
    </Group>
  );
}

/** Offers the whole catalogue, and the model in the address if it is not in the catalogue. */
function ModelSelect({
  value,
  onChange,
}: {
  readonly value: string | null;
  readonly onChange: (model: string | null) => void;
}) {
  const catalogue = useApi('GET /accounts/:account/models', {}).data;
  const names = new Map(
    (catalogue ? [...catalogue.chat, ...catalogue.images, ...catalogue.others] : []).map(
      ({ id, name }) => [id, name],
    ),
  );
  if (catalogue) names.set(catalogue.web_search.id, 'Web search');
  if (value !== null && !names.has(value)) names.set(value, value);
  return (
    <Select
      aria-label="Model"
      placeholder="All models"
      data={[...names].map(([id, name]) => ({ value: id, label: name }))}
      value={value}
      onChange={onChange}
      searchable
      clearable
      limit={200}
      nothingFoundMessage="No matching models"
      className={classes.field}
    />
  );
}
