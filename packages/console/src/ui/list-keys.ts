import { useEffect, useRef } from 'react'
import { isTyping } from '../palette.tsx'

interface ListKeys {
  count: number
  /** The place of the current entry; -1 if there is none. */
  current: number
  onMove: (at: number) => void
  onOpen?: (at: number) => void
  onEscape?: () => void
}

/** `j` and `k` move through a list, Enter opens, Escape closes; except while typing. */
export function useListKeys(keys: ListKeys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const { count, current, onMove, onOpen, onEscape } = latest.current
      if (event.key === 'j' && count > 0) onMove(Math.min(count - 1, current + 1))
      else if (event.key === 'k' && count > 0) onMove(Math.max(0, current - 1))
      else if (event.key === 'Escape') onEscape?.()
      else if (event.key === 'Enter' && current >= 0 && event.target === document.body) onOpen?.(current)
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
