/** `0.4 ms`, `12 ms`, `1.3 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1) return `${ms.toFixed(ms < 0.1 ? 2 : 1)} ms`
  if (ms < 1_000) return `${ms < 10 ? Number(ms.toFixed(1)) : Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`
}

/** `12 s`, `5 min`, `3 h 20 min`, `4 days 2 h`: as precise as a long time needs to be. */
export function longDurationText(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return `${hours} h ${minutes % 60} min`
  return `${counted(Math.floor(hours / 24), 'day')} ${hours % 24} h`
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

const day = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const dayAndYear = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** The time if it was today, else the day, with the year if it was not this year. */
export function dayText(timeMs: number, now = Date.now()): string {
  const then = new Date(timeMs)
  const today = new Date(now)
  if (then.toDateString() === today.toDateString()) return clock.format(timeMs).slice(0, 5)
  return (then.getFullYear() === today.getFullYear() ? day : dayAndYear).format(timeMs)
}

/** The time if it was today, else the day and the time. */
export function whenText(timeMs: number, now = Date.now()): string {
  const isToday = new Date(timeMs).toDateString() === new Date(now).toDateString()
  return isToday ? clock.format(timeMs) : `${day.format(timeMs)} ${clock.format(timeMs).slice(0, 5)}`
}

/** Day and time, to the second. */
export function momentText(timeMs: number): string {
  return `${dayAndYear.format(timeMs)}, ${clock.format(timeMs)}`
}

export function counted(count: number, singular: string): string {
  return `${count.toLocaleString('en')} ${singular}${count === 1 ? '' : 's'}`
}
