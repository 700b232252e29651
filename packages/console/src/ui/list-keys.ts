import { useEffect, useRef } from 'react'
import { isTyping } from '../palette.tsx'
import { go } from '../router.ts'

interface List {
  /** The entries in their order. */
  ids: readonly string[]
  current: string | undefined
  /** The address of an entry; of the list alone if there is none. */
  hrefOf: (id?: string) => string
}

/** `j` and `k` move through a list, Escape closes its current entry; except while typing. */
export function useListKeys(list: List): void {
  const latest = useRef(list)
  latest.current = list
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey) return
      const { ids, current, hrefOf } = latest.current
      const at = current === undefined ? -1 : ids.indexOf(current)
      const next = event.key === 'j' ? ids[at + 1] : event.key === 'k' ? ids[Math.max(0, at - 1)] : undefined
      if (next !== undefined) go(hrefOf(next))
      else if (event.key === 'Escape' && current !== undefined) go(hrefOf())
    }
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}
