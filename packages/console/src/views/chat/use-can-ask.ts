import { chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'
import { canRecord } from '../../voice/recorder.ts'

/**
 * Whether a question can be asked now: one at a time, spoken or typed. Allowed while the page is still connecting: a
 * question is a separate request, and an Enter that does nothing would look broken.
 */
export function useCanAsk(): boolean {
  const isThere = useStore(gateway, ({ connection: { state } }) => state === 'open' || state === 'connecting')
  const isAnswering = useStore(chat, state => state.stop !== undefined)
  const isTalking = useStore(talk, state => state.phase !== 'idle')
  return isThere && !isAnswering && !isTalking
}

/** Whether hold to talk is offered: the gateway has speech to text, and the browser can record. */
export function useCanTalk(): boolean {
  const hasVoice = useStore(gateway, state => state.model?.voice === true)
  return hasVoice && canRecord()
}
