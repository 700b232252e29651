import { go } from '../../routing/use-route.ts'
import { chat } from '../../state/chat.ts'
import { speaking } from '../../state/speaking.ts'

/** A new conversation; what was said is kept. */
export function startOver(): void {
  speaking.stop()
  chat.startOver()
  go({ view: 'chat' })
}
