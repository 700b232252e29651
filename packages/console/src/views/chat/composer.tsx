import { type KeyboardEvent, type SyntheticEvent, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { chat } from '../../state/chat.ts'
import { speaking } from '../../state/speaking.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'
import { TalkButton } from './talk-button.tsx'
import { TalkStatus } from './talk-status.tsx'
import { useCanAsk, useCanTalk } from './use-can-ask.ts'

export function Composer() {
  const [text, setText] = useState('')
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

/** Stops the answer while one is streaming. */
function SendButton({ disabled }: { disabled: boolean }) {
  const stop = useStore(chat, state => state.stop)
  if (stop)
    return (
      <button type="button" className="button round-button" aria-label="Stop the answer" onClick={stop}>
        <Icon name="stop" />
      </button>
    )
  return (
    <button
      type="submit"
      className="button button-primary round-button"
      aria-label="Send"
      disabled={disabled}
    >
      <Icon name="send" />
    </button>
  )
}
