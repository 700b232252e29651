import { type SyntheticEvent, useId, useState } from 'react'
import { type AddOutcome, addServer } from '../../api/servers-api.ts'
import { Button } from '../../components/button.tsx'
import { TextBlock } from '../../components/code-block.tsx'
import { Segmented } from '../../components/segmented.tsx'
import { go } from '../../routing/use-route.ts'
import { counted } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { type PastedServer, pairsOf, serversInText, wordsOf } from './pasted-servers.ts'

type Kind = 'command' | 'url' | 'json'
const KINDS: { value: Kind; label: string }[] = [
  { value: 'command', label: 'Command' },
  { value: 'url', label: 'URL' },
  { value: 'json', label: 'Pasted JSON' },
]

interface Draft {
  kind: Kind
  name: string
  target: string
  more: string
}

const EMPTY: Draft = { kind: 'command', name: '', target: '', more: '' }

/** A server is tested before it is written to the configuration. */
export function AddServer() {
  const [draft, setDraft] = useState(EMPTY)
  const [outcome, setOutcome] = useState<AddOutcome | 'busy'>()
  const set = (part: Partial<Draft>) => setDraft({ ...draft, ...part })
  const wanted = serversOf(draft)
  const add = async (check: boolean) => {
    if (typeof wanted === 'string') return
    setOutcome('busy')
    const result = await addAll(wanted, check)
    setOutcome(result)
    if (result.kind === 'added') setDraft({ ...EMPTY, kind: draft.kind })
  }
  const submit = (event: SyntheticEvent) => {
    event.preventDefault()
    void add(true)
  }
  const isReady = typeof wanted !== 'string' && wanted.length > 0 && outcome !== 'busy'
  return (
    <form className="card add-server" aria-label="Add a server" onSubmit={submit}>
      <div className="server-head">
        <h2>Add a server</h2>
        <Segmented
          label="How to specify it"
          options={KINDS}
          value={draft.kind}
          onChange={kind => set({ kind })}
        />
      </div>
      <Fields draft={draft} onChange={set} />
      {typeof wanted === 'string' && draft.target.trim() !== '' && <p className="muted">{wanted}</p>}
      <div className="toolbar">
        <Button type="submit" look="primary" disabled={!isReady}>
          {outcome === 'busy' ? 'Testing …' : 'Test and add'}
        </Button>
        <Button look="quiet" onClick={() => go({ view: 'servers' })}>
          Close
        </Button>
      </div>
      {outcome !== undefined && outcome !== 'busy' && (
        <AddResult outcome={outcome} onForce={() => void add(false)} />
      )}
    </form>
  )
}

/** One by one; stops at the first that cannot be added. */
async function addAll(servers: readonly PastedServer[], check: boolean): Promise<AddOutcome> {
  let last: AddOutcome = { kind: 'refused', error: 'Nothing to add.' }
  const tools: string[] = []
  for (const server of servers) {
    last = await addServer({ ...server, check })
    if (last.kind !== 'added') return last
    tools.push(...last.tools)
  }
  return last.kind === 'added' ? { ...last, tools } : last
}

/** The servers that the form describes, or what it still needs. */
function serversOf({ kind, name, target, more }: Draft): PastedServer[] | string {
  const text = target.trim()
  if (text === '') return 'Nothing entered yet.'
  if (kind === 'json') {
    const found = serversInText(text)
    if (typeof found === 'string') return found
    const named = found.map(server => ({ ...server, name: server.name || name.trim() }))
    return named.every(server => server.name !== '') ? named : 'Give it a name.'
  }
  if (name.trim() === '') return 'Give it a name.'
  return [{ name: name.trim(), entry: entryOf(kind, text, pairsOf(more)) }]
}

function entryOf(
  kind: 'command' | 'url',
  text: string,
  pairs: Record<string, string>,
): Record<string, unknown> {
  const hasPairs = Object.keys(pairs).length > 0
  if (kind === 'url') return { url: text, ...(hasPairs && { headers: pairs }) }
  const [command, ...args] = wordsOf(text)
  return { command, ...(args.length > 0 && { args }), ...(hasPairs && { env: pairs }) }
}

const TARGETS: Record<Kind, { label: string; placeholder: string }> = {
  command: { label: 'Command', placeholder: 'npx -y @modelcontextprotocol/server-everything' },
  url: { label: 'URL', placeholder: 'https://mcp.example.com/mcp' },
  json: { label: 'JSON', placeholder: '{ "mcpServers": { "files": { "command": "npx", "args": [ … ] } } }' },
}

function Fields({ draft, onChange }: { draft: Draft; onChange: (part: Partial<Draft>) => void }) {
  const { kind, name, target, more } = draft
  const id = useId()
  const { label, placeholder } = TARGETS[kind]
  const shared = { id: `${id}target`, placeholder, value: target, spellCheck: false }
  const isUrl = kind === 'url'
  return (
    <div className="add-fields">
      <div className="add-field">
        <label htmlFor={`${id}name`}>Name</label>
        <input
          id={`${id}name`}
          value={name}
          placeholder={kind === 'json' ? 'if the JSON has none' : 'files'}
          onChange={event => onChange({ name: event.target.value })}
        />
      </div>
      <div className="add-field add-target">
        <label htmlFor={`${id}target`}>{label}</label>
        {kind === 'json' ? (
          <textarea rows={6} {...shared} onChange={event => onChange({ target: event.target.value })} />
        ) : (
          <input {...shared} onChange={event => onChange({ target: event.target.value })} />
        )}
      </div>
      {kind !== 'json' && (
        <div className="add-field add-more">
          <label htmlFor={`${id}more`}>{isUrl ? 'Headers' : 'Environment'}</label>
          <textarea
            id={`${id}more`}
            rows={2}
            value={more}
            spellCheck={false}
            placeholder={isUrl ? 'Authorization: Bearer ${TOKEN}' : 'API_KEY=${API_KEY}'}
            onChange={event => onChange({ more: event.target.value })}
          />
        </div>
      )}
    </div>
  )
}

function AddResult({ outcome, onForce }: { outcome: AddOutcome; onForce: () => void }) {
  if (outcome.kind === 'added')
    return (
      <p className="notice notice-good" role="status">
        Added, with {counted(outcome.tools.length, 'tool')}
        {outcome.tools.length > 0 && `: ${oneLine(outcome.tools.slice(0, 8).join(', '), 300)}`}. Written to{' '}
        <code>{visibleText(outcome.file)}</code>.
      </p>
    )
  if (outcome.kind === 'refused')
    return (
      <p className="notice notice-bad" role="alert">
        {visibleText(outcome.error)}
      </p>
    )
  return (
    <div className="notice notice-bad" role="alert">
      <p>The test failed, so nothing was written: {visibleText(outcome.error)}</p>
      {outcome.hint !== '' && <p>Check: {oneLine(outcome.hint, 400)}</p>}
      {outcome.stderr.trim() !== '' && <TextBlock text={outcome.stderr} label="stderr of the new server" />}
      <Button onClick={onForce}>Add anyway</Button>
    </div>
  )
}
