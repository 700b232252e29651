import { type KeyboardEvent, type SyntheticEvent, useEffect, useRef, useState } from 'react'
import { Button } from '../../components/button.tsx'
import { chat } from '../../state/chat.ts'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'
import { drafting } from './drafting.ts'
import { draftOf } from './example-questions.ts'
import { TalkButton } from './talk-button.tsx'
import { TalkStatus } from './talk-status.tsx'
import { useCanAsk, useCanTalk } from './use-can-ask.ts'

export function Composer() {
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  useOfferedDraft(field, setText)
  const canAsk = useCanAsk()
  const canTalk = useCanTalk()
  const send = (event: SyntheticEvent) => {
    event.preventDefault()
    const question = text.trim()
    if (question === '' || !canAsk) return
    setText('')
    speaking.stop()
    talk.clearNotice()
    void chat.ask(question)
  }
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
  }
  return (
    <div className="composer">
      {canTalk && <TalkStatus />}
      <form className="composer-row" onSubmit={send}>
        <textarea
          ref={field}
          aria-label="Message"
          placeholder="Ask for something"
          rows={Math.min(8, text.split('\n').length)}
          value={text}
          onChange={event => setText(event.target.value)}
          onKeyDown={sendOnEnter}
        />
        {canTalk && <TalkButton canAsk={canAsk} />}
        <SendButton disabled={text.trim() === '' || !canAsk} />
      </form>
    </div>
  )
}

/** Puts a suggestion with a blank into the field and selects the blank. */
function useOfferedDraft(
  field: React.RefObject<HTMLTextAreaElement | null>,
  setText: (text: string) => void,
): void {
  const offered = useStore(drafting, sentence => sentence)
  useEffect(() => {
    if (offered === undefined) return
    const { text, from, to } = draftOf(offered)
    drafting.set(undefined)
    setText(text)
    requestAnimationFrame(() => {
      field.current?.focus()
      field.current?.setSelectionRange(from, to)
    })
  }, [offered, field, setText])
}

/** Stops the answer while one is streaming. */
function SendButton({ disabled }: { disabled: boolean }) {
  const stop = useStore(chat, state => state.stop)
  const className = 'round-button'
  if (stop) return <Button icon="stop" className={className} aria-label="Stop the answer" onClick={stop} />
  const action = { type: 'submit', 'aria-label': 'Send', disabled } as const
  return <Button icon="send" look="primary" className={className} {...action} />
}
