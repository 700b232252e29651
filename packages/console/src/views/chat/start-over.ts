import { go } from '../../routing/use-route.ts'
import { chat } from '../../state/chat.ts'
import { speaking } from '../../state/speaking.ts'

/** Starts a new conversation; the old one is kept. */
export function startOver(): void {
  speaking.stop()
  chat.startOver()
  go({ view: 'chat' })
}
