import { type KeyboardEvent, useState } from 'react'
import { Button, IconButton } from '../../components/button.tsx'
import { CopyButton } from '../../components/copy-button.tsx'
import { type ChatTurn, chat } from '../../state/chat.ts'
import { textOfAnswer } from '../../state/chat-answer.ts'
import { visibleText } from '../../text/visible-text.ts'
import { AnswerView } from './answer-view.tsx'
import { useCanAsk } from './use-can-ask.ts'

/** A question, its answer, and their actions. */
export function Turn({ turn, isLast }: { turn: ChatTurn; isLast: boolean }) {
  const [isEdited, setEdited] = useState(false)
  const canAsk = useCanAsk()
  const askInPlace = (question: string) => {
    setEdited(false)
    void chat.ask(question, { turn: turn.number - 1 })
  }
  return (
    <div className={`turn ${isLast ? 'turn-last' : ''}`}>
      {isEdited ? (
        <QuestionEditor question={turn.question} onAsk={askInPlace} onCancel={() => setEdited(false)} />
      ) : (
        <div className="bubble-row">
          <div className="message-actions">
            <CopyButton label="Copy question" text={() => turn.question} />
            {canAsk && <IconButton icon="edit" label="Edit question" onClick={() => setEdited(true)} />}
          </div>
          <p className="bubble">
            <span className="visually-hidden">You: </span>
            {visibleText(turn.question)}
          </p>
        </div>
      )}
      <AnswerView answer={turn.answer} />
      {turn.answer.state !== 'streaming' && (
        <div className="message-actions">
          <CopyButton label="Copy answer" text={() => textOfAnswer(turn.answer)} />
          {canAsk && (
            <Button look="quiet" icon="restart" onClick={() => askInPlace(turn.question)}>
              Ask again
            </Button>
          )}
        </div>
      )}
    </div>
  )
}

interface EditorProps {
  question: string
  onAsk: (question: string) => void
  onCancel: () => void
}

function QuestionEditor({ question, onAsk, onCancel }: EditorProps) {
  const [text, setText] = useState(question)
  const ask = () => text.trim() !== '' && onAsk(text.trim())
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel()
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    ask()
  }
  return (
    <div className="question-editor">
      <textarea
        aria-label="Edited question"
        // biome-ignore lint/a11y/noAutofocus: the person just chose to edit it
        autoFocus
        rows={Math.min(8, text.split('\n').length + 1)}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={onKeyDown}
      />
      <div className="toolbar">
        <Button look="primary" disabled={text.trim() === ''} onClick={ask}>
          Ask
        </Button>
        <Button look="quiet" onClick={onCancel}>
          Cancel
        </Button>
        <span className="muted">Everything after it will be discarded.</span>
      </div>
    </div>
  )
}
