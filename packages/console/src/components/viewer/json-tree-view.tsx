import { type KeyboardEvent, useEffect, useMemo, useRef, useState } from 'react'
import { clipped, oneLine, visibleText } from '../../text/visible-text.ts'
import { CopyButton } from '../copy-button.tsx'
import { Icon } from '../icon.tsx'
import {
  firstOpen,
  isOpenable,
  pathText,
  rootOf,
  rowsTo,
  sizeOf,
  type TreeNode,
  visibleRows,
} from './json-tree.ts'
import { TreeSearch } from './tree-search.tsx'
import { ROW_PX, useWindow } from './use-window.ts'

interface Props {
  value: unknown
  label: string
}

/** A collapsible, searchable JSON tree that shows the path of every value. Renders only the visible rows. */
export function JsonTreeView({ value, label }: Props) {
  const root = useMemo(() => rootOf(value), [value])
  const [open, setOpen] = useState(() => firstOpen(root))
  const [selected, setSelected] = useState<TreeNode>()
  const [words, setWords] = useState('')
  const rows = useMemo(() => visibleRows(root, open), [root, open])
  const box = useRef<HTMLDivElement>(null)
  const shown = useWindow(box, rows.length)
  const toggle = (node: TreeNode, isOpen = !open.has(node.id)) => setOpen(toggled(open, node.id, isOpen))
  const reveal = (path: TreeNode['path']) => {
    const way = rowsTo(root, path)
    setOpen(new Set([...open, ...way.slice(0, -1).map(({ id }) => id)]))
    setSelected(way.at(-1))
  }
  useScrolledIntoView(box, selected === undefined ? -1 : rows.findIndex(({ id }) => id === selected.id))
  const active = rows.find(({ id }) => id === selected?.id) ?? rows[0]
  const onKeyDown = (event: KeyboardEvent) => {
    const next = keyTarget(event.key, rows, { active, open, toggle })
    if (next === undefined) return
    event.preventDefault()
    setSelected(next)
  }
  return (
    <div className="tree">
      <TreeSearch value={value} words={words} onWords={setWords} onFound={reveal} />
      <div
        ref={box}
        className="tree-rows"
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={active && rowId(label, active)}
        onKeyDown={onKeyDown}
      >
        <div style={{ height: rows.length * ROW_PX }}>
          <div style={{ transform: `translateY(${shown.from * ROW_PX}px)` }}>
            {rows.slice(shown.from, shown.to).map(node => (
              <Row
                key={node.id}
                id={rowId(label, node)}
                node={node}
                isOpen={open.has(node.id)}
                isSelected={node.id === selected?.id}
                words={words}
                onSelect={() => setSelected(node)}
                onToggle={() => toggle(node)}
              />
            ))}
          </div>
        </div>
      </div>
      {selected && <Selected node={selected} />}
    </div>
  )
}

function rowId(label: string, { id }: TreeNode): string {
  return `${label}-${id}`.replace(/\s/g, '_').slice(0, 300)
}

function toggled(open: ReadonlySet<string>, id: string, isOpen: boolean): ReadonlySet<string> {
  const next = new Set(open)
  if (isOpen) next.add(id)
  else next.delete(id)
  return next
}

interface KeyState {
  active: TreeNode | undefined
  open: ReadonlySet<string>
  toggle: (node: TreeNode, isOpen?: boolean) => void
}

/** The row that a key leads to, by the usual tree keys; opens or closes rows as a side effect. */
function keyTarget(key: string, rows: TreeNode[], { active, open, toggle }: KeyState): TreeNode | undefined {
  if (active === undefined) return undefined
  const at = rows.indexOf(active)
  const isOpen = open.has(active.id)
  if (key === 'ArrowDown') return rows[at + 1] ?? active
  if (key === 'ArrowUp') return rows[at - 1] ?? active
  if (key === 'Home') return rows[0]
  if (key === 'End') return rows.at(-1)
  if (key === 'ArrowLeft' && !isOpen)
    return rows.slice(0, at).findLast(({ depth }) => depth < active.depth) ?? active
  const opens = key === 'ArrowRight' || key === 'Enter' || key === ' '
  if (key !== 'ArrowLeft' && !opens) return undefined
  if (key === 'ArrowRight' && isOpen) return rows[at + 1]
  if (isOpenable(active)) toggle(active)
  return active
}

function useScrolledIntoView(box: React.RefObject<HTMLElement | null>, at: number): void {
  useEffect(() => {
    const element = box.current
    if (element === null || at < 0) return
    const top = at * ROW_PX
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + 2 * ROW_PX > element.scrollTop + element.clientHeight)
      element.scrollTop = top - element.clientHeight + 3 * ROW_PX
  }, [box, at])
}

interface RowProps {
  id: string
  node: TreeNode
  isOpen: boolean
  isSelected: boolean
  words: string
  onSelect: () => void
  onToggle: () => void
}

function Row({ id, node, isOpen, isSelected, words, onSelect, onToggle }: RowProps) {
  const canOpen = isOpenable(node)
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys
    <div
      id={id}
      role="treeitem"
      tabIndex={-1}
      className="tree-row"
      style={{ paddingLeft: 6 + Math.min(node.depth, 40) * 16, height: ROW_PX }}
      aria-level={node.depth + 1}
      aria-expanded={canOpen ? isOpen : undefined}
      aria-selected={isSelected}
      onClick={() => {
        onSelect()
        if (canOpen) onToggle()
      }}
    >
      <span className={`tree-arrow ${isOpen ? 'tree-arrow-open' : ''}`}>
        {canOpen && <Icon name="next" />}
      </span>
      <Name node={node} words={words} />
      <Value node={node} words={words} isOpen={isOpen} />
    </div>
  )
}

function Name({ node: { path, range }, words }: { node: TreeNode; words: string }) {
  if (range) return <span className="tree-range">{`${range[0]} … ${range[1] - 1}`}</span>
  const key = path.at(-1)
  if (key === undefined) return <span className="tree-index">$</span>
  return (
    <span className={typeof key === 'number' ? 'tree-index' : 'json-key'}>
      <Marked text={oneLine(String(key), 120)} words={words} />
      <span className="tree-colon">:</span>
    </span>
  )
}

function Value({ node, words, isOpen }: { node: TreeNode; words: string; isOpen: boolean }) {
  const { value, range } = node
  if (range) return null
  if (typeof value === 'object' && value !== null)
    return <span className="tree-size">{isOpen ? brackets(value) : summary(value)}</span>
  if (typeof value === 'string')
    return (
      <span className="json-text tree-value">
        "<Marked text={oneLine(value, 300)} words={words} />"
      </span>
    )
  return (
    <span className="json-value tree-value">
      <Marked text={String(value)} words={words} />
    </span>
  )
}

function brackets(value: object): string {
  return Array.isArray(value) ? `[${sizeOf(value)}]` : ''
}

function summary(value: object): string {
  const size = sizeOf(value)
  if (Array.isArray(value)) return size === 0 ? '[]' : `[${size.toLocaleString('en')}]`
  const names = Object.keys(value).slice(0, 4)
  return size === 0 ? '{}' : `{ ${oneLine(names.join(', '), 80)}${size > 4 ? ', …' : ''} }`
}

function Marked({ text, words }: { text: string; words: string }) {
  const at = words === '' ? -1 : text.toLowerCase().indexOf(words.toLowerCase())
  if (at === -1) return text
  return (
    <>
      {text.slice(0, at)}
      <mark>{text.slice(at, at + words.length)}</mark>
      {text.slice(at + words.length)}
    </>
  )
}

const LONG_VALUE = 80
const MAX_VALUE = 20_000

/** The path of the selected value, and the full value if it is long. */
function Selected({ node }: { node: TreeNode }) {
  const { path, value } = node
  return (
    <div className="tree-selected">
      <div className="toolbar">
        <code className="tree-path">{clipped(pathText(path), 300)}</code>
        <CopyButton label="Copy path" text={() => pathText(path)} />
        <CopyButton
          label="Copy value"
          text={() => (typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
        />
      </div>
      {typeof value === 'string' && value.length > LONG_VALUE && (
        <pre className="tree-long">{visibleText(value.slice(0, MAX_VALUE))}</pre>
      )}
    </div>
  )
}
