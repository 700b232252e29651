import { CircleCheck, type LucideIcon, MessageSquare, Plug, TriangleAlert, Wrench } from 'lucide-react'
import type { ReactNode } from 'react'
import type { CallRecord, ServerStatus } from 'toolpost/gateway'
import { useModel, useNeeds, useServers, useTools } from '../api/queries.ts'
import { go, hrefTo } from '../router.ts'
import { callWords } from '../text/call-words.ts'
import { counted, durationText } from '../text/figures.ts'
import { oneLine } from '../text/visible-text.ts'
import { CopyButton } from '../ui/code.tsx'
import { Button, LinkButton, Pending, Section, ViewHead } from '../ui/controls.tsx'
import { Outcome, toolMs } from '../ui/result-view.tsx'
import { CallRow } from './calls/call-row.tsx'
import { useLatestCalls } from './calls/use-history.ts'
import { ask, openConversation } from './chat/chat-store.ts'
import { suggestionsFor } from './chat/suggestions.ts'
import { ServerState } from './servers/server-state.tsx'

const RECENT = 8
/** Fewer calls than this, and the person is still finding out what this is. */
const FIRST_CALLS = 4

/** Is everything all right, and what needs me? */
export function HomeView() {
  const { data: servers } = useServers()
  const latest = useLatestCalls(RECENT)
  const calls = latest.isError ? [] : latest.data
  if (!servers || !calls) return <Pending label="Loading" />
  return (
    <>
      <ViewHead title="Home" />
      <div className="flex max-w-4xl flex-col gap-6 p-4">
        <Health servers={servers} />
        {calls.length < FIRST_CALLS && <ThingsToTry />}
        {calls.length > 0 && <Recent calls={calls} />}
      </div>
    </>
  )
}

function Health({ servers }: { servers: readonly ServerStatus[] }) {
  const { approvals, questions, broken } = useNeeds()
  const { data: tools } = useTools()
  const { data: model } = useModel()
  const waiting = approvals.length + questions.length
  const isWell = broken.length + waiting === 0
  const Icon = isWell ? CircleCheck : TriangleAlert
  const ready = servers.filter(({ state }) => state === 'ready').length
  const facts = [
    tools && counted(tools.length, 'tool'),
    servers.length > 0 && `${ready} of ${counted(servers.length, 'server')} ready`,
    model && (model.name === 'offline' ? 'chat without a model' : `chat with ${oneLine(model.name, 40)}`),
  ].filter(Boolean)
  return (
    <section className="flex flex-col gap-3" aria-label="State">
      <div className="row items-start gap-3">
        <Icon size={20} className={`mt-0.5 ${isWell ? 'text-good' : 'text-warn'}`} aria-hidden="true" />
        <div>
          <h2 className="text-lg">{isWell ? 'Everything is working' : needsText(waiting, broken.length)}</h2>
          <p className="text-muted">{facts.join(', ')}</p>
        </div>
      </div>
      {!isWell && (
        <ul className="card divide-y divide-line">
          {approvals.map(approval => (
            <Need key={approval.id} href="#/approvals" text={callWords(approval.tool, approval.args)}>
              waits for approval
            </Need>
          ))}
          {questions.map(question => (
            <Need key={question.id} href="#/approvals" text={oneLine(question.message, 120)}>
              waits for an answer
            </Need>
          ))}
          {broken.map(server => (
            <Need
              key={server.name}
              href={hrefTo(['servers', server.name])}
              text={`${oneLine(server.name, 60)}: ${oneLine(server.error ?? '', 160)}`}
            >
              <ServerState server={server} />
            </Need>
          ))}
        </ul>
      )}
    </section>
  )
}

function needsText(waiting: number, broken: number): string {
  const parts = [
    waiting > 0 && `${counted(waiting, 'decision')} to make`,
    broken > 0 && `${counted(broken, 'server')} in trouble`,
  ]
  return parts.filter(Boolean).join(', ')
}

function Need({ href, text, children }: { href: string; text: string; children: ReactNode }) {
  return (
    <li>
      <a href={href} className="row px-3 py-2 hover:bg-raised">
        <span className="min-w-0 flex-1 truncate font-medium">{text}</span>
        <span className="shrink-0 text-muted">{children}</span>
      </a>
    </li>
  )
}

function ThingsToTry() {
  const { data: tools = [] } = useTools()
  const [question] = suggestionsFor(tools)
  const tool =
    tools.find(({ name }) => name === 'list_zwave_devices') ?? tools.find(({ readOnly }) => readOnly)
  const address = `${location.origin}/mcp`
  return (
    <Section title="Three things to try">
      <ul className="card divide-y divide-line">
        {question && (
          <Try icon={MessageSquare} title="Ask for something" text={`“${question}”`}>
            <Button
              onClick={() => {
                void openConversation(undefined)
                void ask(question)
                go('#/chat')
              }}
            >
              Ask
            </Button>
          </Try>
        )}
        {tool && (
          <Try icon={Wrench} title="Run a tool" text={oneLine(`${tool.name}: ${tool.description}`, 110)}>
            <LinkButton href={hrefTo(['tools', tool.name])}>Open</LinkButton>
          </Try>
        )}
        <Try
          icon={Plug}
          title="Connect an assistant"
          text={`Claude, Cursor or any MCP client, at ${address}`}
        >
          <CopyButton text={() => address} label="Copy address" wide />
        </Try>
      </ul>
    </Section>
  )
}

interface TryProps {
  icon: LucideIcon
  title: string
  text: string
  children: ReactNode
}

function Try({ icon: Icon, title, text, children }: TryProps) {
  return (
    <li className="row gap-3 px-3 py-2.5">
      <Icon size={16} className="shrink-0 text-accent" aria-hidden="true" />
      <span className="min-w-0 flex-1">
        <span className="block font-medium">{title}</span>
        <span className="block truncate text-muted">{text}</span>
      </span>
      {children}
    </li>
  )
}

function Recent({ calls }: { calls: readonly CallRecord[] }) {
  const all = (
    <a className="link" href="#/calls">
      History
    </a>
  )
  return (
    <Section title="Latest calls" action={all}>
      <ul className="card divide-y divide-line">
        {calls.map(call => (
          <CallRow key={call.serial} call={call}>
            <span className="text-xs text-muted tabular-nums">
              {call.result && durationText(toolMs(call.result))}
            </span>
            <Outcome result={call.result} />
          </CallRow>
        ))}
      </ul>
    </Section>
  )
}
