import { useEffect, useState } from 'react'

/** The current time, updated every `everyMs`. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

/** Whole seconds until then, counting down. */
export function useSecondsTo(until: number): number {
  return Math.ceil((until - useNow(500)) / 1_000)
}

/** `Next attempt in 3 s`, counting down to `overdue`. */
export function useCountdown(until: number, overdue: string): string {
  const seconds = useSecondsTo(until)
  return seconds > 0 ? `Next attempt in ${seconds} s` : overdue
}
