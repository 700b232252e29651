import { useQuery } from '@tanstack/react-query'
import { Fragment, useEffect, useState } from 'react'
import type { Approval } from 'toolpost/gateway'
import { useIsOpen } from '../../api/events.ts'
import { type ApprovalDecision, decideApproval, searchCalls } from '../../api/gateway.ts'
import { hrefTo } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { leavesOf } from '../../text/differences.ts'
import { whenText } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { Badge, Button, Facts, ScrollBox, Section, TimeLeft } from '../../ui/controls.tsx'
import { FieldTable } from '../../ui/field-table.tsx'
import { Select } from '../../ui/select.tsx'
import { attempt } from '../../ui/toast.tsx'

/** What a decision covers. */
const SCOPES = {
  once: { choice: 'This call only', allow: 'Allow once', deny: 'Deny', decision: {} },
  session: {
    choice: 'This tool, until Toolpost stops',
    allow: 'Allow this tool',
    deny: 'Deny this tool',
    decision: { remember: 'session' },
  },
  always: {
    choice: 'This tool, always',
    allow: 'Allow this tool',
    deny: 'Deny this tool',
    decision: { remember: 'always' },
  },
  server: {
    choice: 'Every tool of this server, always',
    allow: 'Allow this server',
    deny: 'Deny this server',
    decision: { remember: 'always', scope: 'server' },
  },
} as const

type Scope = keyof typeof SCOPES

/** A waiting call: what will happen, who asks and why, what it does it with, and the decision. */
export function ApprovalCard({ approval }: { approval: Approval }) {
  const { tool, server, args, because, expiresAt } = approval
  const words = callWords(tool, args)
  return (
    <article className="card flex flex-col gap-3 p-4" aria-label={`Approval of ${oneLine(tool, 80)}`}>
      <div className="flex flex-wrap items-baseline gap-x-3">
        <h2 className="text-lg break-words">{words}</h2>
        <span className="text-muted">
          expires in <TimeLeft until={expiresAt} />
        </span>
      </div>
      <Facts
        facts={{
          Tool: <code className="break-all">{visibleText(tool)}</code>,
          Server: server && oneLine(server, 80),
          'Asked by': askedBy(approval),
          Reason: because && oneLine(because, 500),
        }}
      />
      <Arguments approval={approval} />
      <Decide approval={approval} />
    </article>
  )
}

export function askedBy({ caller, origin }: Approval): string {
  return oneLine([caller, origin].filter(Boolean).join(', ') || 'unknown', 120)
}

/** Every argument, whole, beside what it was when the same caller last ran the tool. */
function Arguments({ approval }: { approval: Approval }) {
  const { tool, caller, args } = approval
  const last = useQuery({
    queryKey: ['calls', 'last', tool, caller],
    queryFn: async () =>
      (await searchCalls({ tool, caller: caller || undefined, outcome: 'ok' }, 1)).calls[0] ?? null,
    staleTime: 0,
  }).data
  const leaves = [...leavesOf(args)]
  const before = last ? leavesOf(last.args) : undefined
  if (leaves.length === 1 && leaves[0]?.[0] === '') return <p className="text-muted">No arguments.</p>
  const lastTime = last && (
    <>
      Last time (
      <a className="link" href={hrefTo(['calls', last.serial])}>
        {whenText(last.startedAt)}
      </a>
      )
    </>
  )
  return (
    <Section title="Arguments">
      <ScrollBox label="Arguments" className="max-h-80">
        <FieldTable
          heads={['Name', 'Value', ...(last ? [lastTime] : [])]}
          rows={leaves.map(([path, value]) => ({
            path,
            cells: [
              <Exact key="value" value={value} />,
              ...(before ? [<Before key="before" value={before.get(path)} now={value} />] : []),
            ],
          }))}
        />
      </ScrollBox>
      {last === null && (
        <p className="text-xs text-muted">
          No earlier successful call of this tool by this caller is on record.
        </p>
      )}
    </Section>
  )
}

function Before({ value, now }: { value: unknown; now: unknown }) {
  if (JSON.stringify(value) === JSON.stringify(now)) return <span className="text-muted">same</span>
  return (
    <span className="row flex-wrap text-muted">
      <Badge tone="warn">changed</Badge>
      <Exact value={value} />
    </span>
  )
}

/** A value exactly as it is: text without quotes, with every line break and hidden character visible. */
function Exact({ value }: { value: unknown }) {
  if (value === undefined) return <span className="text-muted">not given</span>
  if (typeof value !== 'string') return <code>{JSON.stringify(value)}</code>
  if (value === '') return <span className="text-muted">empty text</span>
  const lines = visibleText(value).split('\n')
  return (
    <span className="whitespace-pre-wrap">
      {lines.map((line, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines keep their order
        <Fragment key={at}>
          {line}
          {at < lines.length - 1 && (
            <>
              <span className="text-accent" title="line break">
                ⏎
              </span>
              {'\n'}
            </>
          )}
        </Fragment>
      ))}
    </span>
  )
}

/** False for a moment after `place` changes, so that a click meant for something else decides nothing. */
export function useSettled(place: string): boolean {
  const [settled, setSettled] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setSettled(place), 400)
    return () => clearTimeout(timer)
  }, [place])
  return settled === place
}

/** Denies or allows; the answer comes back as an event. */
export function useDecide(approval: Approval): {
  isReady: boolean
  decide: (decision: ApprovalDecision) => void
} {
  const [sent, setSent] = useState('')
  const isSettled = useSettled(approval.id)
  const isReady = useIsOpen() && isSettled && sent !== approval.id
  const decide = (decision: ApprovalDecision) => {
    if (!isReady) return
    setSent(approval.id)
    void attempt(() => decideApproval(approval.id, decision)).then(done => !done && setSent(''))
  }
  return { isReady, decide }
}

function Decide({ approval }: { approval: Approval }) {
  const [scope, setScope] = useState<Scope>('once')
  const { isReady, decide } = useDecide(approval)
  const { allow, deny, decision } = SCOPES[scope]
  const canServer = approval.scopes?.includes('server')
  const scopes = (Object.keys(SCOPES) as Scope[]).filter(one => one !== 'server' || canServer)
  return (
    <div className="flex flex-wrap items-center gap-2">
      <Button aria-disabled={!isReady} onClick={() => decide({ decision: 'deny', ...decision })}>
        {deny}
      </Button>
      <Button
        look="primary"
        aria-disabled={!isReady}
        onClick={() => decide({ decision: 'approve', ...decision })}
      >
        {allow}
      </Button>
      <Select
        label="What the decision covers"
        className="w-60"
        value={scope}
        options={scopes.map(value => ({ value, label: SCOPES[value].choice }))}
        onChange={value => setScope(value as Scope)}
      />
      {scope !== 'once' && (
        <p className="basis-full text-xs text-muted" role="status">
          Covers every call by {askedBy(approval)}, whatever its arguments.
        </p>
      )}
    </div>
  )
}
