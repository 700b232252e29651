const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** An age as spoken: "just now", "12 seconds ago", "3 hours ago". */
export function sayAge(ageMs: number): string {
  if (ageMs < 2 * SECOND) return 'just now'
  if (ageMs < MINUTE) return count(ageMs / SECOND, 'second')
  if (ageMs < HOUR) return count(ageMs / MINUTE, 'minute')
  if (ageMs < DAY) return count(ageMs / HOUR, 'hour')
  return count(ageMs / DAY, 'day')
}

function count(amount: number, unit: string): string {
  const whole = Math.floor(amount)
  return `${whole} ${unit}${whole === 1 ? '' : 's'} ago`
}
