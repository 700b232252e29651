import { chat } from '../../state/chat.ts'
import { gateway } from '../../state/gateway.ts'
import { useStore } from '../../state/store.ts'
import { talk } from '../../state/talk.ts'

/** Whether a question can be asked now: one at a time, spoken or written. */
export function useCanAsk(): boolean {
  const isOpen = useStore(gateway, state => state.connection.state === 'open')
  const isAnswering = useStore(chat, state => state.stop !== undefined)
  const isTalking = useStore(talk, state => state.phase !== 'idle')
  return isOpen && !isAnswering && !isTalking
}
