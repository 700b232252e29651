/** `0.4 ms`, `12 ms`, `1.3 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(ms < 0.1 ? 2 : 1)} ms`
  if (ms < 1_000) return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

const clock = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
})

export function clockText(timeMs: number): string {
  return clock.format(timeMs)
}

export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? singular : plural}`
}
