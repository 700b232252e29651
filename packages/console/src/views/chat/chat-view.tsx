import { useEffect, useRef } from 'react'
import { Button } from '../../components/button.tsx'
import { type ChatTurn, chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { oneLine, visibleText } from '../../text/visible-text.ts'
import { AnswerView } from './answer-view.tsx'
import { Composer } from './composer.tsx'
import { questionsFor } from './example-questions.ts'
import { SpeechSwitch } from './speech-switch.tsx'
import { useCanAsk } from './use-can-ask.ts'

export function ChatView() {
  const turns = useStore(chat, state => state.turns)
  const end = useRef<HTMLDivElement>(null)
  useFollowing(turns, end)
  return (
    <div className="chat">
      <div className="view-head">
        <h1>Chat</h1>
        <ModelNote />
        <SpeechSwitch />
        {turns.length > 0 && (
          <Button look="quiet" onClick={startOver}>
            New conversation
          </Button>
        )}
      </div>
      <div className="chat-turns" role="log" aria-label="Conversation" aria-busy={isBusy(turns)}>
        {turns.length === 0 && <Beginning />}
        {turns.map(turn => (
          <Turn key={turn.number} turn={turn} />
        ))}
        <div ref={end} className="chat-end" />
      </div>
      <Composer />
    </div>
  )
}

function startOver(): void {
  speaking.stop()
  chat.startOver()
}

function isBusy(turns: ChatTurn[]): boolean {
  return turns.at(-1)?.answer.state === 'streaming'
}

function Turn({ turn }: { turn: ChatTurn }) {
  return (
    <>
      <div className="bubble-row">
        <p className="bubble">
          <span className="visually-hidden">You: </span>
          {visibleText(turn.question)}
        </p>
      </div>
      <AnswerView answer={turn.answer} />
    </>
  )
}

/** Which model answers, and why. */
function ModelNote() {
  const model = useStore(gateway, state => state.model)
  if (model === undefined) return <p className="model-note" />
  return (
    <p className="model-note">
      <strong>{oneLine(model.name, 60)}</strong> <span className="muted">· {oneLine(model.why, 200)}</span>
    </p>
  )
}

function Beginning() {
  const tools = useStore(gateway, state => state.tools)
  const canAsk = useCanAsk()
  const questions = questionsFor(tools ?? [])
  return (
    <div className="chat-beginning">
      <h2>Ask for something</h2>
      <p className="muted">The model calls the tools, and every call is shown in the conversation.</p>
      <div className="chips">
        {questions.map(question => (
          <button
            key={question}
            type="button"
            className="chip"
            disabled={!canAsk}
            onClick={() => void chat.ask(question)}
          >
            {question}
          </button>
        ))}
      </div>
    </div>
  )
}

/** Scrolls along as the conversation grows, unless somebody has scrolled up to read. */
function useFollowing(turns: ChatTurn[], end: React.RefObject<HTMLElement | null>): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the conversation grows
  useEffect(() => {
    const page = document.documentElement
    const below = page.scrollHeight - page.scrollTop - page.clientHeight
    if (below < 300) end.current?.scrollIntoView({ block: 'end' })
  }, [turns, end])
}
