import { useMemo } from 'react'
import { defaultStyles, JsonView } from 'react-json-view-lite'
import { boundedCopy } from '../text/json-text.ts'
import { visibleText } from '../text/visible-text.ts'
import { ScrollBox } from './controls.tsx'

const STYLE = {
  ...defaultStyles,
  container: 'font-mono text-xs break-words',
  basicChildStyle: 'pl-4',
  childFieldsContainer: '',
  label: 'mr-1 text-muted',
  clickableLabel: 'mr-1 cursor-pointer text-muted',
  nullValue: 'text-muted',
  undefinedValue: 'text-muted',
  numberValue: 'text-accent',
  stringValue: 'text-good whitespace-pre-wrap',
  booleanValue: 'text-warn',
  otherValue: 'text-text',
  punctuation: 'text-muted',
  collapseIcon: 'inline-block w-3 -ml-3 cursor-pointer text-muted before:content-["▾"]',
  expandIcon: 'inline-block w-3 -ml-3 cursor-pointer text-muted before:content-["▸"]',
  collapsedContent: 'cursor-pointer text-muted before:content-["…"]',
  stringifyStringValues: true,
}

interface Props {
  value: unknown
  label: string
  className?: string
}

const MAX_CHARACTERS = 50_000
/** How many levels are open at first. */
const OPEN_LEVELS = 3

/** A value as a tree. */
export function Json({ value, label, className = 'max-h-[32rem]' }: Props) {
  const { value: shown, isCut } = useMemo(() => boundedCopy(value, MAX_CHARACTERS, visibleText), [value])
  if (typeof shown !== 'object' || shown === null)
    return <code className="break-words">{JSON.stringify(shown) ?? 'nothing'}</code>
  return (
    <ScrollBox label={label} className={`rounded-md bg-raised p-3 ${className}`}>
      <JsonView data={shown} style={STYLE} shouldExpandNode={level => level < OPEN_LEVELS} />
      {isCut && (
        <p className="mt-2 text-xs text-muted">Too large to show in full; copy or save it instead.</p>
      )}
    </ScrollBox>
  )
}
