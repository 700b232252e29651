import { type ReactNode, useEffect, useRef } from 'react'

/** Closer to the end than this, in pixels, counts as being there. */
const AT_END = 50

interface Props {
  label: string
  /** What grows. */
  content: unknown
  className?: string
  children: ReactNode
}

/** A scrolling box that stays at its end while its content grows, unless the person scrolls up. */
export function StayAtEnd({ label, content, className = '', children }: Props) {
  const box = useRef<HTMLElement>(null)
  const isAtEnd = useRef(true)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the content changes
  useEffect(() => {
    if (isAtEnd.current) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [content])
  return (
    <section
      ref={box}
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling box must be focusable
      tabIndex={0}
      className={`overflow-y-auto ${className}`}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isAtEnd.current = scrollHeight - scrollTop - clientHeight < AT_END
      }}
    >
      {children}
    </section>
  )
}
