import { type KeyboardEvent, type SyntheticEvent, useState } from 'react'
import { Icon } from '../../components/icon.tsx'
import { chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'

export function Composer() {
  const [text, setText] = useState('')
  const stop = useStore(chat, state => state.stop)
  const open = useStore(gateway, state => state.connection.state === 'open')
  const send = (event: SyntheticEvent) => {
    event.preventDefault()
    const question = text.trim()
    if (question === '' || stop || !open) return
    setText('')
    void chat.ask(question)
  }
  const sendOnEnter = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) send(event)
  }
  return (
    <form className="composer" onSubmit={send}>
      <textarea
        aria-label="Message"
        placeholder="Ask for something"
        rows={Math.min(8, text.split('\n').length)}
        value={text}
        onChange={event => setText(event.target.value)}
        onKeyDown={sendOnEnter}
      />
      {stop ? (
        <button type="button" className="button round-button" aria-label="Stop the answer" onClick={stop}>
          <Icon name="stop" />
        </button>
      ) : (
        <button
          type="submit"
          className="button button-primary round-button"
          aria-label="Send"
          disabled={text.trim() === '' || !open}
        >
          <Icon name="send" />
        </button>
      )}
    </form>
  )
}
