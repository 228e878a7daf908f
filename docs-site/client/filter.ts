// A field above tables that shows only the rows with its words.
import { element } from './dom.ts';

export function startFilter(tables: readonly HTMLTableElement[]): void {
  const [first] = tables;
  if (!first) return;
  const input = element('input', { id: 'filter', type: 'search', placeholder: 'gpt, thinks …' });
  const state = element('p', { role: 'status' });
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/);
    for (const table of tables) {
      const rows = [...table.tBodies[0]!.rows];
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => text.includes(word));
      }
      table.hidden = rows.every(({ hidden }) => hidden);
    }
    state.textContent = tables.every(({ hidden }) => hidden) ? 'No model has these words.' : '';
  });
  const label = element('label', { for: input.id }, 'Find models');
  first.before(element('div', { class: 'field' }, label, input), state);
}
