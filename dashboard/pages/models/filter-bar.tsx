import { Chip, Group, Select, Switch } from '@mantine/core';
import type { ModelCatalogue } from '../../../src/management/contract/models.ts';
import type { Search } from '../../parts/url-state.ts';
import { vendorName } from '../../parts/model-text.ts';
import { SearchField } from '../../parts/search-field.tsx';
import classes from '../../parts/filter-bar.module.css';
import { abilityNames } from './comparison.ts';
import { abilities, type View } from './model-filters.ts';

type Props = {
  readonly catalogue: ModelCatalogue;
  readonly view: View;
  readonly setView: (patch: Search) => void;
};

const prices = [
  { value: '0.25', label: 'Input up to $0.25' },
  { value: '1', label: 'Input up to $1' },
  { value: '3', label: 'Input up to $3' },
  { value: '10', label: 'Input up to $10' },
];

const orderNames = [
  { value: 'catalogue', label: 'Catalogue order' },
  { value: 'price', label: 'Lowest price' },
  { value: 'price-down', label: 'Highest price' },
  { value: 'context', label: 'Largest context' },
  { value: 'newest', label: 'Newest' },
];

/** Filters of the models. Abilities, price and order apply to language models only. */
export function FilterBar({ catalogue, view, setView }: Props) {
  const isChat = view.tab === 'chat';
  const shown = catalogue[view.tab];
  const vendors = [...new Set(shown.map(({ vendor }) => vendor))].map((vendor) => ({
    value: vendor,
    label: vendorName(vendor),
  }));
  return (
    <Group gap="sm" mb="md" align="center">
      <SearchField
        label="Search models"
        value={view.text}
        onSearch={(q) => setView({ q })}
        style={{ flex: '1 1 220px' }}
        maw={360}
      />
      <Select
        aria-label="Vendor"
        placeholder="All vendors"
        data={vendors.toSorted((one, other) => one.label.localeCompare(other.label))}
        value={view.vendor || null}
        onChange={(vendor) => setView({ vendor: vendor ?? undefined })}
        clearable
        searchable
        className={classes.field}
      />
      {isChat && (
        <>
          <Select
            aria-label="Price"
            placeholder="Any price"
            data={prices}
            value={view.inputMicrosMax === null ? null : String(view.inputMicrosMax / 1_000_000)}
            onChange={(max) => setView({ max: max ?? undefined })}
            clearable
            className={classes.field}
          />
          <Select
            aria-label="Order"
            data={orderNames}
            value={view.order}
            onChange={(order) =>
              setView({ order: order === 'catalogue' ? undefined : (order ?? undefined) })
            }
            allowDeselect={false}
            className={classes.field}
          />
          <Chip.Group
            multiple
            value={[...view.abilities]}
            onChange={(chosen) =>
              setView({
                ability: abilities.filter((ability) => chosen.includes(ability)).join(','),
              })
            }
          >
            <Group gap={6} role="group" aria-label="Abilities">
              {abilities.map((ability) => (
                <Chip key={ability} value={ability} size="xs" variant="outline">
                  {abilityNames[ability]}
                </Chip>
              ))}
            </Group>
          </Chip.Group>
        </>
      )}
      <Switch
        label="Live only"
        checked={view.onlyLive}
        onChange={(event) => setView({ live: event.currentTarget.checked ? 'yes' : undefined })}
      />
    </Group>
  );
}
