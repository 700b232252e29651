import { useEffect, useRef } from 'react'
import { Icon } from '../../components/icon.tsx'

interface Props {
  query: string
  onChange: (query: string) => void
  onEnter: () => void
}

/** The search field; `/` focuses it from anywhere in the view. */
export function ToolSearch({ query, onChange, onEnter }: Props) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: globalThis.KeyboardEvent) => {
      if (event.key !== '/' || isTyping(event.target)) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <div className="search">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        placeholder="Search tools"
        aria-label="Search tools"
        aria-keyshortcuts="/"
        value={query}
        onChange={event => onChange(event.target.value)}
        onKeyDown={event => event.key === 'Enter' && onEnter()}
      />
      <span className="search-key" aria-hidden="true">
        <kbd>/</kbd>
      </span>
    </div>
  )
}

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || /^(input|textarea|select)$/i.test(target.tagName))
  )
}
