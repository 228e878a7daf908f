// Records in catalog/chat-models.json which price lists agree with each model. The arguments are
// files with the output of `tollgate models update --json`:
//   node scripts/mark-checked-prices.mjs litellm.json genai-prices.json
// Prices themselves are changed by hand, with a `note` that says why.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const path = join(import.meta.dirname, '..', 'catalog', 'chat-models.json');
const comparisons = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const { models } = JSON.parse(readFileSync(path, 'utf8'));

let lines = readFileSync(path, 'utf8').split('\n');
for (const { id, checked = [] } of models) {
  const others = checked.filter(
    ({ source }) => !comparisons.some((comparison) => comparison.source === source),
  );
  const agreeing = comparisons
    .filter(({ agree }) => agree.includes(id))
    .map(({ source, date }) => ({ source, date }));
  lines = withChecked(lines, id, [...others, ...agreeing]);
}
writeFileSync(path, lines.join('\n'));

/** Puts the line after the routes. The file's hand-made layout stays as it is. */
function withChecked(all, id, checked) {
  const start = all.findIndex((line) => line.startsWith(`      "id": ${JSON.stringify(id)},`));
  const routes = all.findIndex(
    (line, index) => index > start && line.startsWith('      "routes":'),
  );
  const end = all[routes + 1].startsWith('      "checked":') ? routes + 2 : routes + 1;
  const entries = checked
    .map(({ source, date }) => `{ "source": "${source}", "date": "${date}" }`)
    .join(', ');
  return [
    ...all.slice(0, routes + 1),
    ...(checked.length > 0 ? [`      "checked": [${entries}],`] : []),
    ...all.slice(end),
  ];
}
