import { type KeyboardEvent, useEffect, useState } from 'react'
import { IconButton } from '../button.tsx'
import { Icon } from '../icon.tsx'
import { type Path, searchTree } from './json-tree.ts'

interface Props {
  value: unknown
  words: string
  onWords: (words: string) => void
  /** Called to reveal a match. */
  onFound: (path: Path) => void
}

/** Finds keys and values, and steps through the matches. */
export function TreeSearch({ value, words, onWords, onFound }: Props) {
  const { found, isDone } = useFound(value, words)
  const [at, setAt] = useState(-1)
  const go = (step: number) => {
    if (found.length === 0) return
    const next = (at + step + found.length) % found.length
    setAt(next)
    onFound(found[next] as Path)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    go(event.shiftKey ? -1 : 1)
  }
  return (
    <div className="tree-search">
      <div className="search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search the JSON"
          placeholder="Search keys and values"
          value={words}
          onChange={event => {
            setAt(-1)
            onWords(event.target.value)
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <span className="muted figure" role="status">
        {words === '' ? '' : countText(at, found.length, isDone)}
      </span>
      {found.length > 0 && (
        <>
          <IconButton icon="up" label="Previous match" onClick={() => go(-1)} />
          <IconButton icon="down" label="Next match" onClick={() => go(1)} />
        </>
      )}
    </div>
  )
}

function countText(at: number, count: number, isDone: boolean): string {
  if (count === 0) return isDone ? 'No match' : 'Searching …'
  const total = `${count.toLocaleString('en')}${isDone && count < 1_000 ? '' : '+'}`
  return at < 0 ? `${total} found` : `${at + 1} of ${total}`
}

/** Searches in slices, so that typing stays responsive on a long value. */
function useFound(value: unknown, words: string): { found: Path[]; isDone: boolean } {
  const [state, setState] = useState<{ found: Path[]; isDone: boolean }>({ found: [], isDone: true })
  useEffect(() => {
    if (words === '') return setState({ found: [], isDone: true })
    const search = searchTree(value, words)
    let timer: ReturnType<typeof setTimeout>
    const goOn = () => {
      const { value: found, done = false } = search.next()
      setState({ found, isDone: done })
      if (!done) timer = setTimeout(goOn)
    }
    timer = setTimeout(goOn, 80)
    return () => clearTimeout(timer)
  }, [value, words])
  return state
}
