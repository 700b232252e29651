import { useState } from 'react'
import type { AnswerPart, CallRecord, ChatCall } from 'toolpost/gateway'
import { cancelCall } from '../../api/gateway-api.ts'
import { Badge } from '../../components/badge.tsx'
import { Button } from '../../components/button.tsx'
import { Markdown } from '../../components/markdown/markdown.tsx'
import { ProgressBar } from '../../components/progress-bar.tsx'
import { ArgumentsAndResult } from '../../components/result-view.tsx'
import { hrefOf } from '../../routing/route.ts'
import type { Answer } from '../../state/chat-answer.ts'
import { useWaiting } from '../../state/decisions.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { durationText } from '../../text/figures.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { OutcomeBadge } from '../calls/call-table.tsx'
import { callWords } from './call-words.ts'

export function AnswerView({ answer }: { answer: Answer }) {
  const waiting = answer.state === 'streaming' && answer.parts.length === 0
  return (
    <div className="answer">
      <span className="visually-hidden">Answer: </span>
      {answer.parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts are only appended
        <Part key={at} part={part} isStreaming={answer.state === 'streaming'} />
      ))}
      {waiting && (
        <span className="thinking">
          <span className="visually-hidden">Waiting for the answer</span>
        </span>
      )}
      <Note answer={answer} />
    </div>
  )
}

function Part({ part, isStreaming }: { part: AnswerPart; isStreaming: boolean }) {
  if (part.kind === 'call') return <CallView call={part.call} isStreaming={isStreaming} />
  return part.text.trim() === '' ? null : <Markdown className="answer-text" text={part.text} />
}

function Note({ answer }: { answer: Answer }) {
  if (answer.state === 'failed')
    return (
      <p className="notice notice-bad" role="alert">
        {visibleText(answer.note ?? 'No answer.')}
      </p>
    )
  const words = [answer.note, answer.state === 'done' ? factsOf(answer) : undefined].filter(Boolean)
  return words.length === 0 ? null : <p className="answer-note muted">{words.join(' ')}</p>
}

/** `Answered by ollama:qwen3. 1.20 s. 812 tokens read, 45 written.` */
function factsOf({ model, durationMs, usage }: Answer): string {
  const { input, output } = usage ?? {}
  const hasTokens = input !== undefined || output !== undefined
  return [
    model && `Answered by ${oneLine(model, 60)}.`,
    durationMs !== undefined && `${durationText(durationMs)}.`,
    hasTokens && `${input ?? '?'} tokens read, ${output ?? '?'} written.`,
  ]
    .filter(Boolean)
    .join(' ')
}

/** The record of a running chat call, which has its progress and the serial to cancel it by. */
function useRecord({ id, name, result }: ChatCall): CallRecord | undefined {
  return useStore(gateway, ({ calls }) =>
    result ? undefined : calls?.findLast(call => call.id === id && call.tool === name && !call.result),
  )
}

function CallView({ call, isStreaming }: { call: ChatCall; isStreaming: boolean }) {
  const waiting = useWaiting()?.some(({ tool, origin }) => tool === call.name && origin === 'chat') ?? false
  const record = useRecord(call)
  const isRunning = isStreaming && call.result === undefined
  const isHeld = waiting && isRunning
  return (
    <>
      <CallDetails call={call} isHeld={isHeld} />
      {isHeld && (
        <p className="answer-note">
          The call is waiting for approval. <a href={hrefOf({ view: 'approvals' })}>Decide</a>
        </p>
      )}
      {isRunning && record && (
        <div className="chat-call-running">
          <ProgressBar progress={record.progress} label={`Progress of ${call.name}`} />
          <Button look="quiet" icon="stop" onClick={() => void cancelCall(record.serial).catch(() => {})}>
            Cancel call
          </Button>
        </div>
      )}
    </>
  )
}

function CallDetails({ call, isHeld }: { call: ChatCall; isHeld: boolean }) {
  const tool = useStore(gateway, state => state.tools?.find(one => one.name === call.name))
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="chat-call" onToggle={event => setOpen(event.currentTarget.open)}>
      <summary>
        <span className="chat-call-words">{callWords(call, tool)}</span>
        <code className="chat-call-name">{oneLine(call.name, 60)}</code>
        {isHeld ? <Badge tone="warn">waiting</Badge> : <OutcomeBadge result={call.result} />}
        {call.result && <span className="figure muted">{durationText(call.result.execution_time_ms)}</span>}
      </summary>
      <div className="chat-call-body">{isOpen && <ArgumentsAndResult {...call} />}</div>
    </details>
  )
}
