import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

/** The end of a list is near if fewer entries than this follow. */
const NEAR_END = 50

interface Props<Entry> {
  label: string
  entries: readonly Entry[]
  keyOf: (entry: Entry) => string
  /** In pixels. */
  heightOf: (entry: Entry) => number
  /** The place of the entry to scroll to; -1 if there is none. */
  current: number
  onNearEnd?: () => void
  className?: string
  children: (entry: Entry) => ReactNode
}

/** Only the entries in view exist, so that a list of any length scrolls smoothly. */
export function VirtualList<Entry>(props: Props<Entry>) {
  const { label, entries, keyOf, heightOf, current, onNearEnd, className = '', children } = props
  const box = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: at => heightOf(entries[at] as Entry),
    getItemKey: at => keyOf(entries[at] as Entry),
    overscan: 15,
  })
  const shown = rows.getVirtualItems()
  const isNearEnd = (shown.at(-1)?.index ?? 0) >= entries.length - NEAR_END
  useEffect(() => {
    if (isNearEnd) onNearEnd?.()
  }, [isNearEnd, onNearEnd])
  useEffect(() => {
    // A hidden list cannot scroll.
    if (current >= 0 && box.current?.clientHeight) rows.scrollToIndex(current, { align: 'auto' })
  }, [current, rows])
  return (
    <section
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
      tabIndex={0}
      className={`min-h-0 flex-1 overflow-y-auto ${className}`}
    >
      <ol className="relative" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ key, index, size, start }) => (
          <li
            key={key}
            aria-setsize={entries.length}
            aria-posinset={index + 1}
            className="absolute inset-x-0 top-0"
            style={{ height: size, transform: `translateY(${start}px)` }}
          >
            {children(entries[index] as Entry)}
          </li>
        ))}
      </ol>
    </section>
  )
}
