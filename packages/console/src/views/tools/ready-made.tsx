import { type FormEvent, useState } from 'react'
import type { ToolInfo } from 'toolpost/gateway'
import { Button } from '../../components/button.tsx'
import { Icon } from '../../components/icon.tsx'
import { savedRequests } from '../../state/saved-requests.ts'
import { useStore } from '../../state/store.ts'
import { oneLine } from '../../text/visible-text.ts'
import { argumentsOf, type Draft } from './draft.ts'
import { exampleArguments } from './example-arguments.ts'

interface Props {
  tool: ToolInfo
  draft: Draft
  onUse: (args: unknown) => void
}

/** Arguments that need not be typed: the schema's examples and saved requests. */
export function ReadyMade({ tool, draft, onUse }: Props) {
  const saved = useStore(savedRequests, () => savedRequests.of(tool.name))
  const examples = exampleArguments(tool.schema)
  return (
    <div className="ready-made">
      {examples.map((args, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: examples keep their order
        <button key={at} type="button" className="chip" onClick={() => onUse(args)}>
          <Icon name="example" /> Example{examples.length > 1 ? ` ${at + 1}` : ''}
        </button>
      ))}
      {saved.map(({ name, args }) => (
        <span key={name} className="chip chip-saved">
          <button type="button" onClick={() => onUse(args)} title="Fill in these arguments">
            <Icon name="saved" /> {oneLine(name, 60)}
          </button>
          <button
            type="button"
            aria-label={`Delete ${oneLine(name, 60)}`}
            onClick={() => savedRequests.remove(tool.name, name)}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <SaveButton onSave={name => savedRequests.save(tool.name, { name, args: argumentsOf(draft) })} />
    </div>
  )
}

function SaveButton({ onSave }: { onSave: (name: string) => void }) {
  const [name, setName] = useState<string>()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (name?.trim()) onSave(name)
    setName(undefined)
  }
  if (name === undefined)
    return (
      <Button look="quiet" icon="saved" onClick={() => setName('')}>
        Save
      </Button>
    )
  return (
    <form className="save-form" onSubmit={submit}>
      <input
        // biome-ignore lint/a11y/noAutofocus: after Save, the name is typed next
        autoFocus
        aria-label="Name of the saved request"
        placeholder="Name"
        maxLength={80}
        value={name}
        onChange={event => setName(event.target.value)}
        onKeyDown={event => event.key === 'Escape' && setName(undefined)}
      />
      <Button type="submit">Save</Button>
    </form>
  )
}
