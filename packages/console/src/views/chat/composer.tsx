import { type KeyboardEvent, type SyntheticEvent, useState } from 'react'
import { Button } from '../../components/button.tsx'
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
  const className = 'round-button'
  if (stop) return <Button icon="stop" className={className} aria-label="Stop the answer" onClick={stop} />
  const action = { type: 'submit', 'aria-label': 'Send', disabled } as const
  return <Button icon="send" look="primary" className={className} {...action} />
}
