import { Download, Pencil, RotateCw } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import type { AnswerPart, ChatCall } from 'toolpost/gateway'
import { hrefTo } from '../../router.ts'
import { callWords } from '../../text/call-words.ts'
import { counted, durationText } from '../../text/figures.ts'
import { asCase } from '../../text/snippets.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { CopyButton, saveAs } from '../../ui/code.tsx'
import { IconButton, Notice, Section, Spinner } from '../../ui/controls.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Outcome, ResultView, toolMs } from '../../ui/result-view.tsx'
import { ValueView } from '../../ui/value-view.tsx'
import { type Answer, ask, type Turn, textOfAnswer } from './chat-store.ts'

/** A question and its answer: text and calls in the order they came, and the trace of both as a tree. */
export function TurnView({ turn, number, isBusy }: { turn: Turn; number: number; isBusy: boolean }) {
  const { question, answer } = turn
  return (
    <article className="flex flex-col gap-3" aria-label={`Question ${number + 1}`}>
      <Question question={question} number={number} isBusy={isBusy} />
      {answer.parts.map((part, at) =>
        part.kind === 'text' ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts keep their order
          part.text.trim() && <Markdown key={at} text={part.text} />
        ) : (
          <CallItem key={part.call.id} call={part.call} />
        ),
      )}
      {answer.state === 'streaming' && <Spinner label={answer.note ?? 'Answering'} />}
      {answer.state !== 'streaming' && answer.note && (
        <Notice tone={answer.state === 'failed' ? 'bad' : 'warn'} role="alert">
          {visibleText(answer.note)}
        </Notice>
      )}
      {answer.state !== 'streaming' && <Foot turn={turn} number={number} isBusy={isBusy} />}
    </article>
  )
}

function Question({ question, number, isBusy }: { question: string; number: number; isBusy: boolean }) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing)
    return (
      <textarea
        className="control"
        aria-label="Edited question"
        defaultValue={question}
        // biome-ignore lint/a11y/noAutofocus: it was just asked for
        autoFocus
        onKeyDown={event => {
          if (event.key === 'Escape') setEditing(false)
          if (event.key !== 'Enter' || event.shiftKey) return
          event.preventDefault()
          setEditing(false)
          if (event.currentTarget.value.trim()) void ask(event.currentTarget.value.trim(), number)
        }}
      />
    )
  return (
    <div className="group row self-end">
      {!isBusy && (
        <span className="opacity-0 group-focus-within:opacity-100 group-hover:opacity-100">
          <IconButton icon={Pencil} label="Edit question" onClick={() => setEditing(true)} />
        </span>
      )}
      <p className="rounded-lg bg-accent-soft px-3 py-1.5 break-words whitespace-pre-wrap">
        {visibleText(question)}
      </p>
    </div>
  )
}

function CallItem({ call }: { call: ChatCall }) {
  const { name, args, result } = call
  return (
    <details className="card">
      <summary className="row px-3 py-1.5">
        <span className="min-w-0 flex-1 truncate">
          {callWords(name, args)} <code className="text-muted">{oneLine(name, 60)}</code>
        </span>
        {result && <span className="text-xs text-muted tabular-nums">{durationText(toolMs(result))}</span>}
        <Outcome result={result} />
      </summary>
      <div className="flex flex-col gap-3 border-t border-line p-3">
        <Section title="Arguments">
          <ValueView value={args ?? {}} label="Arguments" />
        </Section>
        {result && <ResultView result={result} />}
        <a className="link self-start" href={hrefTo(['calls'], { tool: name })}>
          Calls of this tool
        </a>
      </div>
    </details>
  )
}

function Foot({ turn, number, isBusy }: { turn: Turn; number: number; isBusy: boolean }) {
  const { answer, question } = turn
  const { model, durationMs } = answer
  const calls = answer.parts.flatMap(part => (part.kind === 'call' && part.call.result ? [part.call] : []))
  const facts = [
    model && oneLine(model, 60),
    durationMs !== undefined && durationText(durationMs),
    tokensText(answer.usage),
  ].filter(Boolean)
  return (
    <details className="text-xs text-muted">
      <summary className="row">
        <span>{facts.join(', ')}</span>
        <span className="link">Trace</span>
        <span className="ml-auto row gap-0">
          <CopyButton text={() => textOfAnswer(answer)} label="Copy the answer" />
          {calls.length > 0 && (
            <IconButton
              icon={Download}
              label="Save as a case for toolpost eval"
              onClick={() => saveAs(new Blob([asCase(question, calls)]), 'case.yaml')}
            />
          )}
          {!isBusy && (
            <IconButton icon={RotateCw} label="Ask again" onClick={() => void ask(question, number)} />
          )}
        </span>
      </summary>
      <Trace answer={answer} />
    </details>
  )
}

function tokensText(usage: { input?: number | undefined; output?: number | undefined } | undefined): string {
  const { input, output } = usage ?? {}
  return [input !== undefined && `${input} tokens in`, output !== undefined && `${output} out`]
    .filter(Boolean)
    .join(', ')
}

interface Round {
  text: string
  calls: ChatCall[]
}

/** A model call ends with text or with calls; what follows calls belongs to the next one. */
function roundsOf(parts: readonly AnswerPart[]): Round[] {
  const rounds: Round[] = [{ text: '', calls: [] }]
  for (const part of parts) {
    const last = rounds.at(-1)
    if (part.kind === 'call') last?.calls.push(part.call)
    else if (last && last.calls.length === 0) last.text += part.text
    else rounds.push({ text: part.text, calls: [] })
  }
  return rounds
}

/** The turn as a tree: model calls with tokens and seconds, their tool calls, and what was repaired. */
function Trace({ answer }: { answer: Answer }) {
  return (
    <ol
      className="mt-2 flex flex-col gap-1 border-l-2 border-line pl-3 text-text"
      aria-label="Trace of the turn"
    >
      {roundsOf(answer.parts).map(({ text, calls }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rounds keep their order
        <li key={at}>
          <Line
            label={`Model call ${at + 1}`}
            hint={modelCallText(answer.modelCalls?.[at], calls.length, text)}
          />
          <ol className="flex flex-col gap-1 border-l-2 border-line pl-3">
            {calls.map(call => (
              <li key={call.id}>
                <ToolCallLines call={call} />
              </li>
            ))}
          </ol>
        </li>
      ))}
    </ol>
  )
}

function Line({ label, hint, children }: { label: string; hint?: string; children?: ReactNode }) {
  return (
    <p className="row min-h-5">
      <span className="font-medium">{label}</span>
      <span className="text-muted">{hint}</span>
      {children}
    </p>
  )
}

type ModelCall = NonNullable<Answer['modelCalls']>[number]

function modelCallText(call: ModelCall | undefined, calls: number, text: string): string {
  const seconds = call ? durationText(call.duration_ms) : ''
  const outcome = calls > 0 ? counted(calls, 'tool call') : text.trim() ? 'answer' : 'nothing'
  return [seconds, tokensText(call), outcome].filter(Boolean).join(', ')
}

function ToolCallLines({ call: { name, result } }: { call: ChatCall }) {
  const waited = result?.waited_ms ?? 0
  return (
    <>
      <Line label={oneLine(name, 80)} hint={result ? durationText(toolMs(result)) : ''}>
        <Outcome result={result} />
      </Line>
      <ol className="pl-3 text-muted">
        {waited >= 1 && <li>waited {durationText(waited)}</li>}
        {result?.repairs?.map(repair => (
          <li key={repair}>repaired: {oneLine(repair)}</li>
        ))}
      </ol>
    </>
  )
}
