/** `0.4 ms`, `12 ms`, `1.3 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 0.995) return `${ms.toFixed(ms < 0.095 ? 2 : 1)} ms`
  if (ms < 999.5) return `${ms < 9.95 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`
  if (ms < 59_950) return `${(ms / 1_000).toFixed(ms < 9_995 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 1_440
    ? `${Math.floor(minutes / 60)} h ${minutes % 60} min`
    : `${counted(Math.floor(minutes / 1_440), 'day')} ${Math.floor((minutes % 1_440) / 60)} h`
}

/** `1.2 kB`. */
export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${(bytes / 1_000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}

const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' })
const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const moment = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
})

export function clockText(timeMs: number): string {
  return clock.format(timeMs)
}

/** The time if it was today, else the day and the time. */
export function whenText(timeMs: number, now = Date.now()): string {
  const isToday = new Date(timeMs).toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(timeMs) : `${day.format(timeMs)} ${clock.format(timeMs).slice(0, 5)}`
}

/** Day and time, to the second. */
export function momentText(timeMs: number): string {
  return moment.format(timeMs)
}

export function counted(count: number, singular: string): string {
  return `${count.toLocaleString('en')} ${singular}${count === 1 ? '' : 's'}`
}
