import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react'

/** Longer than a double click, shorter than reading. */
const SETTLE_MS = 500

/**
 * Whether something has been in its `place` for a moment: a click meant for what was there before must not decide
 * about this.
 */
export function useSettled(place: string): boolean {
  const [settled, setSettled] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(place), SETTLE_MS)
    return () => clearTimeout(timer)
  }, [place])
  return settled === place
}

/** When a box goes away, returns the focus inside it to where it came from. */
export function useFocusBack<T extends HTMLElement>(): RefObject<T | null> {
  const box = useRef<T>(null)
  useLayoutEffect(() => {
    const element = box.current
    let before: HTMLElement | undefined
    const enter = ({ relatedTarget: from }: FocusEvent) => {
      if (from instanceof HTMLElement && !element?.contains(from)) before = from
    }
    element?.addEventListener('focusin', enter)
    return () => {
      element?.removeEventListener('focusin', enter)
      if (!element?.contains(document.activeElement)) return
      const main = document.querySelector('main')
      queueMicrotask(() => (before?.isConnected ? before : main)?.focus({ preventScroll: true }))
    }
  }, [])
  return box
}
