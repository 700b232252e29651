import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { addServer, foundServers, type NewServer } from '../../api/gateway.ts'
import { ApiError, isRecord, messageOf } from '../../api/http.ts'
import { counted } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { CodeBlock } from '../../ui/code.tsx'
import { Button, Notice, Section, Spinner } from '../../ui/controls.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { pairsOf, serversInText, wordsOf } from './pasted-servers.ts'

type Kind = 'command' | 'url' | 'json'

interface Draft {
  kind: Kind
  name: string
  target: string
  more: string
}

type Outcome =
  | { state: 'busy' }
  | { state: 'added'; text: string }
  /** With its stderr and what to check, if it could not be started. */
  | { state: 'failed'; error: string; stderr: string; hint: string; canForce: boolean }

/** A server is tried before it is written to the configuration. */
export function AddServer() {
  const [draft, setDraft] = useState<Draft>({ kind: 'command', name: '', target: '', more: '' })
  const [outcome, setOutcome] = useState<Outcome>()
  const found = useQuery({ queryKey: ['found-servers'], queryFn: foundServers, staleTime: 0 }).data ?? []
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const wanted = serversOf(draft)
  const add = async (servers: readonly NewServer[], check: boolean) => {
    setOutcome({ state: 'busy' })
    setOutcome(await addAll(servers, check))
  }
  const fields = (kind: Kind): ReactNode => (
    <form
      className="flex flex-col gap-3"
      onSubmit={event => {
        event.preventDefault()
        if (typeof wanted !== 'string') void add(wanted, true)
      }}
    >
      <Fields kind={kind} draft={draft} onChange={set} />
      <div className="row">
        <Button
          type="submit"
          look="primary"
          disabled={typeof wanted === 'string' || outcome?.state === 'busy'}
        >
          Test and add
        </Button>
        {typeof wanted === 'string' && draft.target.trim() !== '' && (
          <span className="text-muted">{wanted}</span>
        )}
      </div>
    </form>
  )
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
                  onClick={() => void add([{ name: server.name, entry: server.entry }], true)}
                >
                  Add
                </Button>
              </li>
            ))}
          </ul>
        </Section>
      )}
      <Tabs
        label="How to specify it"
        value={draft.kind}
        onChange={kind => setDraft({ ...draft, kind: kind as Kind, target: '' })}
        tabs={[
          { value: 'command', label: 'Command', content: fields('command') },
          { value: 'url', label: 'URL', content: fields('url') },
          { value: 'json', label: 'JSON of another program', content: fields('json') },
        ]}
      />
      {outcome && (
        <Result outcome={outcome} onForce={() => typeof wanted !== 'string' && void add(wanted, false)} />
      )}
    </div>
  )
}

/** One by one; stops at the first that cannot be added. */
async function addAll(servers: readonly NewServer[], check: boolean): Promise<Outcome> {
  const tools: string[] = []
  let file = ''
  try {
    for (const server of servers) {
      const added = await addServer(server, check)
      file = added.file
      tools.push(...(added.tools ?? []))
    }
  } catch (error) {
    const body = error instanceof ApiError && isRecord(error.body) ? error.body : {}
    const text = (name: string) => (typeof body[name] === 'string' ? body[name] : '')
    return {
      state: 'failed',
      error: messageOf(error),
      stderr: text('stderr'),
      hint: text('hint'),
      canForce: 'stderr' in body,
    }
  }
  return { state: 'added', text: `Added, with ${counted(tools.length, 'tool')}. Written to ${file}.` }
}

/** The servers that the form describes, or what it still needs. */
function serversOf({ kind, name, target, more }: Draft): NewServer[] | string {
  const text = target.trim()
  if (text === '') return 'Nothing entered yet.'
  if (kind === 'json') {
    const found = serversInText(text)
    if (typeof found === 'string') return found
    const named = found.map(server => ({ ...server, name: server.name || name.trim() }))
    return named.every(server => server.name !== '') ? named : 'Give it a name.'
  }
  if (name.trim() === '') return 'Give it a name.'
  const pairs = pairsOf(more)
  const hasPairs = Object.keys(pairs).length > 0
  if (kind === 'url')
    return [{ name: name.trim(), entry: { url: text, ...(hasPairs && { headers: pairs }) } }]
  const [command, ...args] = wordsOf(text)
  return [{ name: name.trim(), entry: { command, args, ...(hasPairs && { env: pairs }) } }]
}

const TARGETS: Record<Kind, { label: string; placeholder: string }> = {
  command: { label: 'Command', placeholder: 'npx -y @modelcontextprotocol/server-everything' },
  url: { label: 'URL', placeholder: 'https://mcp.example.com/mcp' },
  json: { label: 'JSON', placeholder: '{ "mcpServers": { "files": { "command": "npx", "args": [ … ] } } }' },
}

interface FieldsProps {
  kind: Kind
  draft: Draft
  onChange: (part: Partial<Draft>) => void
}

function Fields({ kind, draft: { name, target, more }, onChange }: FieldsProps) {
  const { label, placeholder } = TARGETS[kind]
  const field = (title: string, input: ReactNode) => (
    // biome-ignore lint/a11y/noLabelWithoutControl: the field is inside
    <label className="flex flex-col gap-1">
      <span className="label">{title}</span>
      {input}
    </label>
  )
  return (
    <>
      {field(
        'Name',
        <input
          className="control"
          value={name}
          placeholder={kind === 'json' ? 'If the JSON has none' : 'files'}
          onChange={event => onChange({ name: event.target.value })}
        />,
      )}
      {field(
        label,
        kind === 'json' ? (
          <textarea
            className="control font-mono text-xs"
            rows={6}
            spellCheck={false}
            value={target}
            placeholder={placeholder}
            onChange={event => onChange({ target: event.target.value })}
          />
        ) : (
          <input
            className="control font-mono text-xs"
            spellCheck={false}
            value={target}
            placeholder={placeholder}
            onChange={event => onChange({ target: event.target.value })}
          />
        ),
      )}
      {kind !== 'json' &&
        field(
          kind === 'url' ? 'Headers' : 'Environment',
          <textarea
            className="control font-mono text-xs"
            rows={2}
            spellCheck={false}
            value={more}
            placeholder={kind === 'url' ? 'Authorization: Bearer ${TOKEN}' : 'API_KEY=${API_KEY}'}
            onChange={event => onChange({ more: event.target.value })}
          />,
        )}
    </>
  )
}

function Result({ outcome, onForce }: { outcome: Outcome; onForce: () => void }) {
  if (outcome.state === 'busy') return <Spinner label="Testing the server" />
  if (outcome.state === 'added')
    return (
      <Notice tone="good" role="status">
        {visibleText(outcome.text)}
      </Notice>
    )
  return (
    <div className="flex flex-col gap-2" role="alert">
      <Notice tone="bad">
        {outcome.canForce && 'The test failed, so nothing was written: '}
        {visibleText(outcome.error)}
      </Notice>
      {outcome.hint && <p>Check: {oneLine(outcome.hint, 400)}</p>}
      {outcome.stderr.trim() && <CodeBlock text={outcome.stderr} label="stderr of the new server" />}
      {outcome.canForce && (
        <Button className="self-start" onClick={onForce}>
          Add anyway
        </Button>
      )}
    </div>
  )
}
