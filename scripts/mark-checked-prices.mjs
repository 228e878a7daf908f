// Records in catalog/*-models.json which price lists agree with each model. The arguments are
// files with the output of `tollgate models update --json`:
//   node scripts/mark-checked-prices.mjs litellm.json genai-prices.json
// Prices themselves are changed by hand, with a `note` that says why.
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, '..', 'catalog');
const comparisons = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
for (const name of globSync('*-models.json', { cwd: folder })) {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  let lines = text.split('\n');
  for (const { id, checked = [] } of JSON.parse(text).models) {
    const others = checked.filter(
      ({ source }) => !comparisons.some((comparison) => comparison.source === source),
    );
    const agreeing = comparisons
      .filter(({ agree }) => agree.includes(id))
      .map(({ source, date }) => ({ source, date }));
    lines = withChecked(lines, id, [...others, ...agreeing]);
  }
  writeFileSync(path, lines.join('\n'));
}

/** Puts the line after the routes. The file's hand-made layout stays as it is. */
function withChecked(all, id, checked) {
  const start = all.findIndex((line) => line.startsWith(`      "id": ${JSON.stringify(id)},`));
  const routes = all.findIndex(
    (line, index) => index > start && line.startsWith('      "routes":'),
  );
  const end = all.findIndex((line, index) => index > start && line.startsWith('    }'));
  const entries = checked
    .map(({ source, date }) => `{ "source": "${source}", "date": "${date}" }`)
    .join(', ');
  return [
    ...all.slice(0, routes + 1),
    ...(checked.length > 0 ? [`      "checked": [${entries}],`] : []),
    ...all.slice(routes + 1, end).filter((line) => !line.startsWith('      "checked":')),
    ...all.slice(end),
  ];
}
