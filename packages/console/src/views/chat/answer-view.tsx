import type { ChatCall } from 'toolpost/gateway'
import { Badge } from '../../components/badge.tsx'
import { LongText } from '../../components/code-block.tsx'
import { ArgumentsAndResult } from '../../components/result-view.tsx'
import { hrefOf } from '../../routing/route.ts'
import type { Answer, AnswerPart } from '../../state/chat-answer.ts'
import { useWaiting } from '../../state/decisions.ts'
import { durationText } from '../../text/figures.ts'
import { shortJson } from '../../text/json-text.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { OutcomeBadge } from '../calls/call-table.tsx'

export function AnswerView({ answer }: { answer: Answer }) {
  const waiting = answer.state === 'streaming' && answer.parts.length === 0
  return (
    <div className="answer">
      <span className="visually-hidden">Answer: </span>
      {answer.parts.map((part, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: parts only ever follow one another
        <Part key={at} part={part} />
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

function Part({ part }: { part: AnswerPart }) {
  if (part.kind === 'call') return <CallView call={part.call} />
  return part.text.trim() === '' ? null : <LongText className="answer-text" text={part.text} />
}

function Note({ answer }: { answer: Answer }) {
  if (answer.state === 'failed')
    return (
      <p className="notice notice-bad" role="alert">
        {visibleText(answer.note ?? 'No answer.')}
      </p>
    )
  const model = answer.model && `Answered by ${oneLine(answer.model, 60)}.`
  const words = [answer.note, answer.state === 'done' ? model : undefined].filter(Boolean)
  return words.length === 0 ? null : <p className="answer-note muted">{words.join(' ')}</p>
}

function CallView({ call }: { call: ChatCall }) {
  const waiting = useWaiting()?.some(({ tool, origin }) => tool === call.name && origin === 'chat') ?? false
  const isHeld = waiting && call.result === undefined
  return (
    <>
      <CallDetails call={call} isHeld={isHeld} />
      {isHeld && (
        <p className="answer-note">
          The call is waiting for approval. <a href={hrefOf({ view: 'approvals' })}>Decide</a>
        </p>
      )}
    </>
  )
}

function CallDetails({ call, isHeld }: { call: ChatCall; isHeld: boolean }) {
  return (
    <details className="chat-call">
      <summary>
        <code>{oneLine(call.name, 60)}</code>
        <span className="chat-call-args">{shortJson(call.args, 80)}</span>
        {isHeld ? <Badge tone="warn">waiting</Badge> : <OutcomeBadge result={call.result} />}
        {call.result && <span className="figure muted">{durationText(call.result.execution_time_ms)}</span>}
      </summary>
      <div className="chat-call-body">
        <ArgumentsAndResult {...call} />
      </div>
    </details>
  )
}
