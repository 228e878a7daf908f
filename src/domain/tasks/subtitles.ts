// Writes subtitles from the segments of a transcript: SubRip and WebVTT.
type Segment = { readonly start: number; readonly end: number; readonly text: string };

export function writeSrt(segments: readonly Segment[]): string {
  return cuesOf(segments, ',')
    .map((cue, index) => `${index + 1}\n${cue}`)
    .join('');
}

export function writeVtt(segments: readonly Segment[]): string {
  return `WEBVTT\n\n${cuesOf(segments, '.').join('')}`;
}

/** A blank line in a text would end its cue, and an arrow begin another. */
function cuesOf(segments: readonly Segment[], point: ',' | '.'): readonly string[] {
  return segments.flatMap(({ start, end, text }) => {
    const lines = text.split(/[\r\n]+/).filter((line) => line.trim() !== '');
    const said = lines.join('\n').trim().replaceAll('-->', '-- >');
    return said === '' ? [] : [`${time(start, point)} --> ${time(end, point)}\n${said}\n\n`];
  });
}

/** `00:01:02,345` */
function time(seconds: number, point: ',' | '.'): string {
  const ms = Math.max(Math.round(seconds * 1_000), 0);
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const fraction = String(ms % 1_000).padStart(3, '0');
  return `${two(ms / 3_600_000)}:${two((ms / 60_000) % 60)}:${two((ms / 1_000) % 60)}${point}${fraction}`;
}
