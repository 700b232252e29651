import { useMutation, useQuery } from '@tanstack/react-query'
import { type ChangeEvent, useState } from 'react'
import { addServer, foundServers, type NewServer } from '../../api/gateway.ts'
import { ApiError, isRecord } from '../../api/http.ts'
import { counted } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { CodeBlock } from '../../ui/code.tsx'
import { Button, Notice, Section, Spinner } from '../../ui/controls.tsx'
import { pairsOf, serversInText, wordsOf } from './pasted-servers.ts'

type Part = 'target' | 'name' | 'more'

const FIELDS: { part: Part; label: string; placeholder: string; rows?: number }[] = [
  {
    part: 'target',
    label: 'Command, URL, or JSON of another program',
    placeholder: 'npx -y @modelcontextprotocol/server-everything',
    rows: 4,
  },
  { part: 'name', label: 'Name', placeholder: 'files' },
  {
    part: 'more',
    label: 'Environment or headers',
    placeholder: 'API_KEY=${API_KEY}',
    rows: 2,
  },
]

/** A server is tried before it is written to the configuration. */
export function AddServer() {
  const [draft, setDraft] = useState({ target: '', name: '', more: '' })
  const found = useQuery({ queryKey: ['found-servers'], queryFn: foundServers, staleTime: 0 }).data ?? []
  const adding = useMutation({ mutationFn: addAll })
  const wanted = serversOf(draft)
  return (
    <div className="flex flex-col gap-4 p-4">
      {found.length > 0 && (
        <Section title="Found on this machine">
          <ul className="card max-h-48 divide-y divide-line overflow-y-auto">
            {found.map(server => (
              <li key={`${server.program} ${server.name}`} className="row px-3 py-1.5">
                <span className="font-medium">{oneLine(server.name, 60)}</span>
                <span className="min-w-0 flex-1 truncate text-xs text-muted">
                  {oneLine(server.program, 60)}
                </span>
                <Button
                  aria-label={`Add ${oneLine(server.name, 60)}`}
                  onClick={() => adding.mutate({ servers: [server], check: true })}
                >
                  Add
                </Button>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <form
        className="flex flex-col gap-3"
        onSubmit={event => {
          event.preventDefault()
          if (typeof wanted !== 'string') adding.mutate({ servers: wanted, check: true })
        }}
      >
        {FIELDS.map(({ part, label, placeholder, rows }) => {
          const Field = rows === undefined ? 'input' : 'textarea'
          return (
            // biome-ignore lint/a11y/noLabelWithoutControl: the field is inside
            <label key={part} className="flex flex-col gap-1">
              <span className="label">{label}</span>
              <Field
                className="control font-mono text-xs"
                spellCheck={false}
                rows={rows}
                placeholder={placeholder}
                value={draft[part]}
                onChange={({ target }: ChangeEvent<HTMLInputElement & HTMLTextAreaElement>) =>
                  setDraft({ ...draft, [part]: target.value })
                }
              />
            </label>
          )
        })}
        <div className="row">
          <Button type="submit" look="primary" disabled={typeof wanted === 'string' || adding.isPending}>
            Test and add
          </Button>
          {typeof wanted === 'string' && draft.target.trim() !== '' && (
            <span className="text-muted">{wanted}</span>
          )}
        </div>
      </form>
      {adding.isPending && <Spinner label="Testing the server" />}
      {adding.data && (
        <Notice tone="good" role="status">
          {visibleText(adding.data)}
        </Notice>
      )}
      {adding.error && (
        <Failure error={adding.error} onForce={() => adding.mutate({ ...adding.variables, check: false })} />
      )}
    </div>
  )
}

interface Addition {
  servers: readonly NewServer[]
  /** Whether only servers that start are added. */
  check: boolean
}

/** One by one; stops at the first that cannot be added. Returns what was done. */
async function addAll({ servers, check }: Addition): Promise<string> {
  let tools = 0
  let file = ''
  for (const server of servers) {
    const added = await addServer(server, check)
    file = added.file
    tools += added.tools.length
  }
  return `Added, with ${counted(tools, 'tool')}. Written to ${file}.`
}

/** The servers that the form describes, or what it still needs. */
function serversOf({ target, name, more }: Record<Part, string>): NewServer[] | string {
  const text = target.trim()
  if (text === '') return 'Nothing entered yet.'
  // With or without the outer braces.
  const isJson = /^(?:\{|"[^"]*"\s*:)/.test(text)
  const found = isJson ? serversInText(text) : [{ name: '', entry: entryOf(text, pairsOf(more)) }]
  if (typeof found === 'string') return found
  const named = found.map(server => ({ ...server, name: server.name || name.trim() }))
  return named.every(server => server.name !== '') ? named : 'Give it a name.'
}

function entryOf(text: string, pairs: Record<string, string>): NewServer['entry'] {
  const hasPairs = Object.keys(pairs).length > 0
  if (/^https?:\/\//.test(text)) return { url: text, ...(hasPairs && { headers: pairs }) }
  const [command, ...args] = wordsOf(text)
  return { command, args, ...(hasPairs && { env: pairs }) }
}

/** With its stderr and what to check, if the server could not be started. */
function Failure({ error, onForce }: { error: Error; onForce: () => void }) {
  const body = error instanceof ApiError && isRecord(error.body) ? error.body : {}
  const { stderr, hint } = body as { stderr?: string; hint?: string }
  const wasTried = stderr !== undefined
  return (
    <div className="flex flex-col gap-2" role="alert">
      <Notice tone="bad">
        {wasTried && 'The test failed, so nothing was written: '}
        {visibleText(error.message)}
      </Notice>
      {hint && <p>Check: {oneLine(hint, 400)}</p>}
      {stderr?.trim() && <CodeBlock text={stderr} label="stderr of the new server" />}
      {wasTried && (
        <Button className="self-start" onClick={onForce}>
          Add anyway
        </Button>
      )}
    </div>
  )
}
